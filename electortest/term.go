package electortest

import (
	"context"
	"sync"
	"time"

	"github.com/seed2c765205/elect/events"
)

// A Term is a leadership for tests of code that takes an events.Term. It lasts until End. All methods are safe for
// concurrent use.
type Term struct {
	identity string
	token    uint64
	until    time.Time
	ctx      context.Context
	cancel   context.CancelCauseFunc

	mu     sync.Mutex
	over   bool
	held   int
	failed error
}

var _ events.Term = (*Term)(nil)

// NewTerm makes a term that is on. Its ValidUntil is for show; no clock ends it.
func NewTerm(identity string, token uint64, validUntil time.Time) *Term {
	t := &Term{identity: identity, token: token, until: validUntil}
	t.ctx, t.cancel = context.WithCancelCause(context.Background())
	return t
}

// End ends the term: it turns invalid, then its context is cancelled with the cause.
func (t *Term) End(cause error) {
	t.mu.Lock()
	t.over = true
	t.mu.Unlock()
	t.cancel(cause)
}

// Held is how many holds are out: taken with Hold and not done, or work that has not returned.
func (t *Term) Held() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.held
}

// Failed is the first error that work returned while the term was on.
func (t *Term) Failed() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed
}

// Context implements events.Term.
func (t *Term) Context() context.Context { return t.ctx }

// Identity implements events.Term.
func (t *Term) Identity() string { return t.identity }

// Number implements events.Term: it is the token.
func (t *Term) Number() int64 { return int64(t.token) }

// Token implements events.Term.
func (t *Term) Token() uint64 { return t.token }

// ValidUntil implements events.Term.
func (t *Term) ValidUntil() time.Time { return t.until }

// Valid implements events.Term: it is true until End.
func (t *Term) Valid() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.over
}

// Hold implements events.Term.
func (t *Term) Hold() (done func()) {
	if !t.take() {
		return func() {}
	}
	return sync.OnceFunc(t.drop)
}

// Go implements events.Term, but lets panics through: a test wants to see them. Work that fails ends the term, with
// its error as the cause.
func (t *Term) Go(work func(context.Context) error) {
	if !t.take() {
		return
	}
	go func() {
		defer t.drop()
		if err := work(t.ctx); err != nil {
			t.fail(err)
		}
	}()
}

func (t *Term) take() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return false
	}
	t.held++
	return true
}

func (t *Term) drop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held--
}

func (t *Term) fail(err error) {
	t.mu.Lock()
	ended := t.over
	if !ended {
		t.failed = err
	}
	t.mu.Unlock()
	if !ended {
		t.End(err)
	}
}
