package elector

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"time"

	"github.com/seed2c765205/elect/events"
)

// term implements events.Term. The loop begins, extends and ends it; anybody reads it.
type term struct {
	elector  *Elector
	number   int64
	token    uint64
	ctx      context.Context
	cancel   context.CancelCauseFunc
	deadline time.Duration

	mu     sync.Mutex
	trust  instant // the send of the last write that bought trust
	lapsed bool    // somebody has seen the trust run out: it never comes back
	over   bool    // the term has ended: no hold can be taken any more
	holds  int
}

var _ events.Term = (*term)(nil)

// insideKey marks the context of a term, so that a call from inside its work can be told.
type insideKey struct{ *Elector }

func newTerm(e *Elector, base context.Context, a *action) *term {
	t := &term{elector: e, number: a.number, token: a.token, trust: a.sent, deadline: e.config.RenewDeadline}
	t.ctx, t.cancel = context.WithCancelCause(context.WithValue(base, insideKey{e}, t))
	return t
}

func (t *term) Context() context.Context { return t.ctx }
func (t *term) Identity() string         { return t.elector.config.Identity }
func (t *term) Number() int64            { return t.number }
func (t *term) Token() uint64            { return t.token }

func (t *term) ValidUntil() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.trust.wall.Add(t.deadline)
}

func (t *term) Valid() bool {
	now := t.elector.watch.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over || t.lapsed {
		return false
	}
	if t.trust.elapsed(now) < t.deadline {
		return true
	}
	// If the wall clock jumps back before the loop looks, the loop would find the term as good as ever.
	t.lapsed = true
	t.elector.inbox.post(func(m *mail) { m.lapsed = t })
	return false
}

func (t *term) Hold() (done func()) {
	if !t.take() {
		return func() {}
	}
	return sync.OnceFunc(t.drop)
}

var errGoexit = errors.New("elector: the work called runtime.Goexit")

func (t *term) Go(work func(context.Context) error) {
	if !t.take() {
		return
	}
	go func() {
		defer t.drop()
		err := errGoexit
		defer func() {
			if v := recover(); v != nil {
				err = &PanicError{Value: v, Stack: debug.Stack()}
			}
			t.workReturned(err)
		}()
		err = work(t.ctx)
	}()
}

// workReturned ends the term if its work failed while it was on.
func (t *term) workReturned(err error) {
	switch {
	case err == nil:
	case errors.Is(err, ErrResign):
		t.elector.inbox.post(func(m *mail) { m.ended = append(m.ended, workEnd{t, events.ReasonResigned, nil}) })
	default:
		t.elector.inbox.post(func(m *mail) { m.ended = append(m.ended, workEnd{t, events.ReasonWorkFailed, err}) })
	}
}

// take takes a hold. It and end exclude each other, so that none is taken once the lease may be released.
func (t *term) take() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return false
	}
	t.holds++
	return true
}

func (t *term) drop() {
	t.mu.Lock()
	t.holds--
	last := t.over && t.holds == 0
	t.mu.Unlock()
	if last {
		t.elector.inbox.post(func(m *mail) { m.wound = true })
	}
}

func (t *term) extend(sent instant) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.trust = sent
}

// end makes the term invalid, then cancels its context, and reports whether work is still out.
func (t *term) end(cause error) (out bool) {
	t.mu.Lock()
	t.over = true
	out = t.holds > 0
	t.mu.Unlock()
	t.cancel(cause)
	return out
}

func (t *term) isOver() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.over
}

// working reports whether work of the term is out.
func (t *term) working() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.holds > 0
}
