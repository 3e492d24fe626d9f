package lockerr_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/events"
	"github.com/seed2c765205/elect/locks/internal/lockerr"
)

func TestAContextsErrorNamesItsClassAndAllItsCauses(t *testing.T) {
	errMine := errors.New("mine")
	for _, c := range []struct {
		name  string
		cause error
		class events.Class
	}{
		{"cancelled", nil, events.ClassCanceled},
		{"cancelled with a cause", errMine, events.ClassCanceled},
		{"cancelled by an injected clock", context.DeadlineExceeded, events.ClassTimeout},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(context.Background())
			cancel(c.cause)
			var err error = lockerr.Context(ctx, "read x", true, io.EOF)
			var call *elector.CallError
			if !errors.As(err, &call) || call.Class != c.class || !call.NotApplied {
				t.Errorf("got %#v, want class %v, not applied", err, c.class)
			}
			for _, want := range []error{context.Canceled, context.Cause(ctx), io.EOF} {
				if !errors.Is(err, want) {
					t.Errorf("errors.Is(%q, %q) is false", err, want)
				}
			}
			if got, want := err.Error(), "read x: EOF"; got != want {
				t.Errorf("text is %q, want %q", got, want)
			}
		})
	}
}

func TestPrintableIsShortAndHarmless(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"text", "<h1>Bad</h1>", "<h1>Bad</h1>"},
		{"control characters", "a\x00\x1b[31m\n", "a..[31m."},
		{"bytes that are no text", "k8s\xff\xfe", "k8s.."},
		{"long", strings.Repeat("x", 1000), strings.Repeat("x", 512)},
		{"long, cut between characters", strings.Repeat("x", 511) + "ää", strings.Repeat("x", 511)},
	} {
		if got := lockerr.Printable(c.text); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
