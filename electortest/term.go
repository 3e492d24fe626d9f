package electortest

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"time"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/events"
)

// A Term is an events.Term without an elector, for tests of code that takes one. Make it with NewTerm: it is on from
// then until End, or until its work fails.
//
// All methods are safe for concurrent use.
type Term struct {
	identity string
	token    uint64
	ctx      context.Context
	cancel   context.CancelCauseFunc
	drained  chan struct{}

	mu         sync.Mutex
	validUntil time.Time
	lapsed     bool
	over       bool // no hold can be taken any more
	cancelled  bool // the context is
	holds      int
}

var _ events.Term = (*Term)(nil)

// NewTerm begins a term. Its Number is the token, its ValidUntil the zero time until Extend is called. It has no clock.
func NewTerm(identity string, token uint64) *Term {
	t := &Term{identity: identity, token: token, drained: make(chan struct{})}
	t.ctx, t.cancel = context.WithCancelCause(context.Background())
	return t
}

// Context is cancelled by End, and when work fails. Its cause is then what End was given, or an *elector.LostError.
func (t *Term) Context() context.Context { return t.ctx }

// Identity is what NewTerm was given.
func (t *Term) Identity() string { return t.identity }

// Number is the token.
func (t *Term) Number() int64 { return int64(t.token) }

// Token is what NewTerm was given.
func (t *Term) Token() uint64 { return t.token }

// ValidUntil is what Extend was given last; the zero time before.
func (t *Term) ValidUntil() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.validUntil
}

// Valid is true until Lapse or the end of the term. It is not compared with any clock.
func (t *Term) Valid() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.lapsed && !t.over
}

// Hold takes a hold, which Held counts, until done is called. After the term has ended it takes none.
func (t *Term) Hold() (done func()) {
	if !t.take() {
		return func() {}
	}
	return sync.OnceFunc(t.drop)
}

// Go runs work on a goroutine of its own and holds until it returns. If work fails while the term is on, the term
// ends with an *elector.LostError: of reason Resigned for elector.ErrResign, and WorkFailed for any other error, for
// a panic (an *elector.PanicError) and for runtime.Goexit. After the term has ended, work is not started.
func (t *Term) Go(work func(context.Context) error) {
	if !t.take() {
		return
	}
	go func() {
		defer t.drop()
		err := errGoexit
		defer func() {
			if v := recover(); v != nil {
				err = &elector.PanicError{Value: v, Stack: debug.Stack()}
			}
			t.workReturned(err)
		}()
		err = work(t.ctx)
	}()
}

var errGoexit = errors.New("electortest: the work called runtime.Goexit")

func (t *Term) workReturned(err error) {
	switch {
	case err == nil:
	case errors.Is(err, elector.ErrResign):
		t.End(&elector.LostError{Reason: events.ReasonResigned})
	default:
		t.End(&elector.LostError{Reason: events.ReasonWorkFailed, Err: err})
	}
}

// Extend sets ValidUntil, as a renewal does.
func (t *Term) Extend(validUntil time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.validUntil = validUntil
}

// Lapse makes the term invalid but does not end it: what a jump of the wall clock does, before the elector wakes up.
func (t *Term) Lapse() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lapsed = true
}

// End ends the term: it is no longer valid, and then its context is cancelled with the cause. A nil cause stands for
// an *elector.LostError of reason Stopped. Only the first end counts. End does not wait for holds.
func (t *Term) End(cause error) {
	if cause == nil {
		cause = &elector.LostError{Reason: events.ReasonStopped}
	}
	if !t.finish() {
		return
	}
	t.cancel(cause)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cancelled = true
	t.settle()
}

// finish makes the term invalid and reports whether it was not before.
func (t *Term) finish() (first bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	first = !t.over
	t.over = true
	return first
}

// settle tells that the term is drained, if it is. The lock is held.
func (t *Term) settle() {
	if t.cancelled && t.holds == 0 {
		close(t.drained)
	}
}

// Held returns how many holds are out, from Hold and from Go.
func (t *Term) Held() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.holds
}

// Drained closes when the term has ended and no hold is out any more: when an elector would release the lease.
func (t *Term) Drained() <-chan struct{} { return t.drained }

func (t *Term) take() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return false
	}
	t.holds++
	return true
}

func (t *Term) drop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.holds--
	t.settle()
}
