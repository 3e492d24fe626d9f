package events

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// String is, for example:
//
//	acquired by "a": expired, token 42, vacant 3s, after "b", skipped 2
func (e Acquired) String() string {
	s := fmt.Sprintf("acquired by %s: %s, token %d, vacant %s", by(e.Term), e.How, token(e.Term), e.Vacant)
	if e.Previous != "" {
		s += ", after " + strconv.Quote(e.Previous)
	}
	return s + skipped(e.Skipped)
}

// String is, for example:
//
//	renewed by "a": token 42, valid until 2026-03-01T12:00:10Z, round trip 3ms, skipped 2
func (e Renewed) String() string {
	return fmt.Sprintf("renewed by %s: token %d, valid until %s, round trip %s%s",
		by(e.Term), token(e.Term), stamp(e.ValidUntil), e.RoundTrip, skipped(e.Skipped))
}

// String is, for example:
//
//	lost by "a": taken, token 42, to "b": the error
func (e Lost) String() string {
	s := fmt.Sprintf("lost by %s: %s, token %d", by(e.Term), e.Reason, token(e.Term))
	if e.Holder != "" {
		s += ", to " + strconv.Quote(e.Holder)
	}
	if e.Err != nil {
		s += ": " + oneLine(e.Err.Error())
	}
	return s
}

// String is, for example:
//
//	leader changed from nobody to "b"
func (e LeaderChanged) String() string {
	return "leader changed from " + somebody(e.From) + " to " + somebody(e.To)
}

// String is, for example:
//
//	error on write: timeout, 2 in a row, 4s of trust left, again at 2026-03-01T12:00:02Z, skipped 1: the error
func (e Error) String() string {
	s := fmt.Sprintf("error on %s: %s, %d in a row", e.Op, e.Class, e.Consecutive)
	if e.Remaining != 0 {
		s += fmt.Sprintf(", %s of trust left", e.Remaining)
	}
	if !e.Retryable {
		s += ", final"
	} else if !e.RetryAt.IsZero() {
		s += ", again at " + stamp(e.RetryAt)
	}
	s += skipped(e.Skipped)
	if e.Err != nil {
		s += ": " + oneLine(e.Err.Error())
	}
	return s
}

func by(t Term) string {
	if t == nil {
		return "nobody"
	}
	return strconv.Quote(t.Identity())
}

func token(t Term) uint64 {
	if t == nil {
		return 0
	}
	return t.Token()
}

func somebody(holder string) string {
	if holder == "" {
		return "nobody"
	}
	return strconv.Quote(holder)
}

func skipped(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", skipped %d", n)
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// oneLine quotes a text that would not print as one line.
func oneLine(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}
