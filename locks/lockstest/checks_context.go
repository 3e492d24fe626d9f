package lockstest

import (
	"context"
	"errors"
	"time"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/events"
)

// The checks of this file are about contexts: C5.

var errCause = errors.New("a cause of the test's own")

// endings are the ways in which a context ends, with the class of the error that tells of it. An elector cancels its
// attempts with the cause DeadlineExceeded, by a clock that may not be the system's.
var endings = []struct {
	name  string
	cause error
	class events.Class
}{
	{"cancelled", nil, events.ClassCanceled},
	{"cancelled with a cause", errCause, events.ClassCanceled},
	{"out of time", context.DeadlineExceeded, events.ClassTimeout},
}

func endedContext(t tb, b Backend) {
	for _, e := range endings {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(e.cause)
		_, err := b.Lock.Write(ctx, elector.Snapshot{}, record(1))
		ended(t, e.name+", a create", ctx, err, e.class)
	}
	missing(t, b.Lock)
	first := mustCreate(t, b.Lock)
	for _, e := range endings {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(e.cause)
		_, err := b.Lock.Read(ctx)
		ended(t, e.name+", a read", ctx, err, e.class)
		_, err = b.Lock.Write(ctx, first, record(2))
		ended(t, e.name+", an update", ctx, err, e.class)
	}
	unchanged(t, b.Lock, first)
}

// ended checks the error of a call whose context ended: it is the context's, and of its class if it says one.
func ended(t tb, what string, ctx context.Context, err error, class events.Class) {
	t.Helper()
	if !errors.Is(err, ctx.Err()) && !errors.Is(err, context.Cause(ctx)) {
		t.Errorf("%s: got %v, want %v or %v", what, err, ctx.Err(), context.Cause(ctx))
	}
	var call *elector.CallError
	if errors.As(err, &call) && call.Class != class {
		t.Errorf("%s: got class %v, want %v", what, call.Class, class)
	}
}

func hungCall(t tb, b Backend) {
	first := mustCreate(t, b.Lock)
	arrived, resume := b.Hang()
	defer resume()
	calls := map[string]func(context.Context) error{
		"a read": func(ctx context.Context) error { _, err := b.Lock.Read(ctx); return err },
		"a create": func(ctx context.Context) error {
			_, err := b.Lock.Write(ctx, elector.Snapshot{}, record(1))
			return err
		},
		"a write": func(ctx context.Context) error { _, err := b.Lock.Write(ctx, first, record(2)); return err },
	}
	for _, e := range endings {
		for name, call := range calls {
			cutShort(t, e.name+", "+name, call, arrived, e.cause, e.class)
		}
	}
}

// cutShort makes a call, ends its context once the call hangs, and waits for it to return.
func cutShort(t tb, what string, call func(context.Context) error, arrived <-chan struct{}, cause error, class events.Class) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	done := make(chan error, 1)
	go func() { done <- call(ctx) }()
	// Real time, so that a lock which never returns fails its check: the suite also runs on stores outside any bubble,
	// whose calls no fake clock could wait for.
	select {
	case <-arrived:
	case err := <-done:
		t.Fatalf("%s: returned %v without having hung", what, err)
	case <-time.After(patience):
		t.Fatalf("%s: never reached the store", what)
	}
	cancel(cause)
	select {
	case err := <-done:
		ended(t, what, ctx, err, class)
	case <-time.After(patience):
		t.Fatalf("%s: did not return when its context ended", what)
	}
}
