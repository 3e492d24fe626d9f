package electortest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/events"
)

// Read reads from the inner lock, subject to the faults.
func (l *Lock) Read(ctx context.Context) (elector.Snapshot, error) {
	return l.call(ctx, events.OpRead, func() (elector.Snapshot, error) { return l.inner.Read(ctx) })
}

// Write writes to the inner lock, subject to the faults.
func (l *Lock) Write(ctx context.Context, prev elector.Snapshot, next elector.Record) (elector.Snapshot, error) {
	return l.call(ctx, events.OpWrite, func() (elector.Snapshot, error) { return l.inner.Write(ctx, prev, next) })
}

// String names the inner lock.
func (l *Lock) String() string { return l.inner.String() }

// TimeResolution is the inner lock's; 0 if it does not tell.
func (l *Lock) TimeResolution() time.Duration {
	if r, ok := l.inner.(elector.TimeResolver); ok {
		return r.TimeResolution()
	}
	return 0
}

// Validate is the inner lock's; nil if it has none.
func (l *Lock) Validate() error {
	if v, ok := l.inner.(elector.Validator); ok {
		return v.Validate()
	}
	return nil
}

// A plan is what will become of one call, settled when it begins.
type plan struct {
	what   string
	faults faults
	err    error // with which it is refused
	lose   bool
	healed <-chan struct{}
}

func (l *Lock) plan(op events.Op) plan {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := plan{what: fmt.Sprintf("%s %s", op, l.inner), faults: l.faults, err: l.faults.readErr, healed: l.healed}
	if op != events.OpWrite {
		return p
	}
	p.err = l.faults.writeErr
	if p.err == nil && l.faults.lose > 0 {
		p.lose = true
		l.faults.lose--
	}
	return p
}

func (l *Lock) call(ctx context.Context, op events.Op, inner func() (elector.Snapshot, error)) (elector.Snapshot, error) {
	p := l.plan(op)
	if err := l.travel(ctx, p); err != nil {
		return elector.Snapshot{}, err
	}
	l.arrive(op)
	s, err := inner()
	if lost := l.travelBack(ctx, p); lost != nil {
		return elector.Snapshot{}, lost
	}
	return s, err
}

var (
	errRefused = errors.New("connection refused")
	errHung    = errors.New("the call hung")
)

// travel returns nil when the call reaches the inner lock.
func (l *Lock) travel(ctx context.Context, p plan) error {
	switch p.faults.way {
	case cut:
		return unavailable(p.what, errRefused)
	case blackHole:
		<-ctx.Done()
		return ended(ctx, p.what)
	case hang:
		<-p.healed
		return unavailable(p.what, errHung)
	case open:
	}
	if p.err != nil {
		return p.err
	}
	return l.pause(ctx, p.faults.before, p.what)
}

// travelBack returns nil when the answer reaches the caller.
func (l *Lock) travelBack(ctx context.Context, p plan) error {
	if err := l.pause(ctx, p.faults.after, p.what); err != nil {
		return err
	}
	if p.lose {
		return fmt.Errorf("%s: the answer was lost: %w", p.what, io.ErrUnexpectedEOF)
	}
	return nil
}

func (l *Lock) arrive(op events.Op) {
	l.mu.Lock()
	f := l.onCall
	if op == events.OpWrite {
		l.writes++
	} else {
		l.reads++
	}
	l.mu.Unlock()
	if f != nil {
		f(op)
	}
}

func (l *Lock) pause(ctx context.Context, d time.Duration, what string) error {
	if d <= 0 {
		return nil
	}
	t := l.clock.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C():
		return nil
	case <-ctx.Done():
		return ended(ctx, what)
	}
}

func unavailable(what string, err error) error {
	return &elector.CallError{Class: events.ClassUnavailable, NotApplied: true, Err: fmt.Errorf("%s: %w", what, err)}
}

// ended is the error of a call whose context has ended. errors.Is sees the cause and the context's own error.
func ended(ctx context.Context, what string) error {
	class, cause := events.ClassCanceled, context.Cause(ctx)
	if errors.Is(cause, context.DeadlineExceeded) {
		class = events.ClassTimeout
	}
	err := fmt.Errorf("%s: %w", what, cause)
	if !errors.Is(cause, ctx.Err()) {
		err = fmt.Errorf("%w (%w)", err, ctx.Err())
	}
	return &elector.CallError{Class: class, Err: err}
}
