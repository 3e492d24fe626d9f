package events

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Parse reads an event from the JSON that it marshals to. It marshals to the same bytes again.
//
// The event's Term only tells what was true when the event was written: it is never valid, its context is cancelled
// with ErrDetached, Hold holds nothing and Go does not start its function. An error is one with the same text.
//
// A field that is missing or null is read as zero, except kind; unknown fields are ignored. An error names the field,
// its value and what it should be.
func Parse(data []byte) (Event, error) {
	f := fields{}
	if err := json.Unmarshal(data, &f.raw); err != nil {
		return nil, fmt.Errorf("events: not a JSON object: %w", err)
	}
	e := f.event(field[string](&f, "kind", "a text"))
	if f.err != nil {
		return nil, f.err
	}
	return e, nil
}

func (f *fields) event(kind string) Event {
	switch kind {
	case kindAcquired:
		return f.acquired()
	case kindRenewed:
		return f.renewed()
	case kindLost:
		return f.lost()
	case kindLeaderChanged:
		return f.leaderChanged()
	case kindError:
		return f.error()
	}
	f.fail("kind", fmt.Sprintf("%q", kind), "one of acquired, renewed, lost, leaderChanged, error")
	return nil
}

func (f *fields) acquired() Event {
	term, validUntil := f.term()
	return Acquired{
		Time:       f.time("time"),
		Term:       term,
		ValidUntil: validUntil,
		Previous:   f.text("previous"),
		Vacant:     f.duration("vacant"),
		How:        field[How](f, "how", howNames.rule()),
		Skipped:    f.count("skipped"),
	}
}

func (f *fields) renewed() Event {
	term, validUntil := f.term()
	if t := f.time("validUntil"); !t.IsZero() {
		validUntil = t
	}
	return Renewed{
		Time:       f.time("time"),
		Term:       term,
		ValidUntil: validUntil,
		RoundTrip:  f.duration("roundTrip"),
		Skipped:    f.count("skipped"),
	}
}

func (f *fields) lost() Event {
	term, validUntil := f.term()
	return Lost{
		Time:       f.time("time"),
		Term:       term,
		ValidUntil: validUntil,
		Reason:     field[Reason](f, "reason", reasonNames.rule()),
		Holder:     f.text("holder"),
		Err:        f.failure("error"),
	}
}

func (f *fields) leaderChanged() Event {
	return LeaderChanged{
		Time:        f.time("time"),
		From:        f.text("from"),
		To:          f.text("to"),
		Since:       f.time("since"),
		Transitions: f.number("transitions"),
	}
}

func (f *fields) error() Event {
	return Error{
		Time:        f.time("time"),
		Op:          field[Op](f, "op", opNames.rule()),
		Class:       field[Class](f, "class", classNames.rule()),
		Err:         f.failure("error"),
		Retryable:   field[bool](f, "retryable", "true or false"),
		RetryAt:     f.time("retryAt"),
		Consecutive: f.count("consecutive"),
		Remaining:   f.duration("remaining"),
		Skipped:     f.count("skipped"),
	}
}

// term returns nil if there is none.
func (f *fields) term() (Term, time.Time) {
	raw := field[map[string]json.RawMessage](f, "term", "an object")
	if raw == nil {
		return nil, time.Time{}
	}
	t := fields{raw: raw, path: "term."}
	d := detached{
		identity:   t.text("identity"),
		number:     t.number("number"),
		token:      field[uint64](&t, "token", "a whole number from 0 to 2^64-1"),
		validUntil: t.time("validUntil"),
	}
	if f.err == nil {
		f.err = t.err
	}
	return d, d.validUntil
}

func (f *fields) text(name string) string { return field[string](f, name, "a text") }

func (f *fields) number(name string) int64 { return field[int64](f, name, "a whole number") }

func (f *fields) count(name string) int { return field[int](f, name, "a whole number") }

func (f *fields) failure(name string) error {
	if s := f.text(name); s != "" {
		return errors.New(s)
	}
	return nil
}

func (f *fields) time(name string) time.Time {
	return time.Time(field[wireTime](f, name, "an RFC 3339 time in the years 0 to 9999"))
}

func (f *fields) duration(name string) time.Duration {
	return time.Duration(field[wireDuration](f, name, `a duration such as "1.5s"`))
}
