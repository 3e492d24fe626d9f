// Package lockerr has what the errors of all locks share.
package lockerr

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/events"
)

// Context returns the error of a call whose context has ended. err is what the call itself failed with, and may be nil.
//
// The class is told by the context's cause: an attempt that is bounded by an injected clock is cancelled with the cause
// context.DeadlineExceeded, and is a Timeout like one with a real deadline. errors.Is sees the context's own error, its
// cause and err, because client-go loses the first when a context was cancelled with a cause.
func Context(ctx context.Context, what string, notApplied bool, err error) *elector.CallError {
	return &elector.CallError{
		Class:      class(ctx),
		NotApplied: notApplied,
		Err:        &ended{what: what, errs: reasons(ctx, err)},
	}
}

func class(ctx context.Context) events.Class {
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return events.ClassTimeout
	}
	return events.ClassCanceled
}

// reasons lists what ended the call, the most telling first, and nothing twice.
func reasons(ctx context.Context, err error) []error {
	var errs []error
	for _, e := range []error{err, context.Cause(ctx), ctx.Err()} {
		if e != nil && !errors.Is(errors.Join(errs...), e) {
			errs = append(errs, e)
		}
	}
	return errs
}

type ended struct {
	what string
	errs []error
}

func (e *ended) Error() string { return fmt.Sprintf("%s: %v", e.what, e.errs[0]) }

func (e *ended) Unwrap() []error { return e.errs }

// BodyLimit is how much of an unreadable text is kept, in bytes.
const BodyLimit = 512

// Printable returns the beginning of a text, at most BodyLimit bytes, with a dot for what cannot be printed.
func Printable(text string) string {
	var b strings.Builder
	for _, r := range text {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			r = '.'
		}
		if b.Len()+utf8.RuneLen(r) > BodyLimit {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}
