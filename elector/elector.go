package elector

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"

	crand "crypto/rand"

	"github.com/google/uuid"

	"github.com/seed2c765205/elect/events"
	"github.com/seed2c765205/elect/internal/delivery"
)

// Elector is one candidate for one lock. Make it with New and drive it with Run.
// All methods are safe for concurrent use.
type Elector struct {
	config Config
	watch  stopwatch
	hub    *delivery.Hub
	inbox  *inbox

	current atomic.Pointer[term]   // the term that is on, until just before its context is cancelled
	status  atomic.Pointer[Status] // as of the last step of the loop

	stepping sync.Mutex // one Step at a time
	stepper  *stepper   // nil: the driver is not Step

	mu     sync.Mutex
	driven bool          // a driver has started
	byStep bool          // it is Step
	closed bool          // Close was called
	done   chan struct{} // closes when the driver has ended
	err    error         // what the driver returned
}

// New makes an elector. It fails if a rule of Config is broken, and then reports every one of them, each as a
// *ConfigError. It starts no goroutine.
func New(config Config) (*Elector, error) {
	config = config.withDefaults()
	if err := config.validate(); err != nil {
		return nil, err
	}
	if config.Identity == "" {
		config.Identity = defaultIdentity()
	}
	config.Rand = deriveRand(config.Rand)
	e := &Elector{
		config: config,
		watch:  newStopwatch(config.Clock),
		hub:    delivery.NewHub(),
		inbox:  newInbox(),
		done:   make(chan struct{}),
	}
	e.status.Store(&Status{Identity: config.Identity})
	return e, nil
}

// defaultIdentity is unique even where host names are not: nodes booted from one image, Pods in the host's network.
func defaultIdentity() string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "unknown"
	}
	return fmt.Sprintf("%s_%s", host, uuid.NewString())
}

// deriving guards a Rand that several calls of New may share.
var deriving sync.Mutex

func deriveRand(from *rand.Rand) *rand.Rand {
	if from == nil {
		var seed [32]byte
		_, _ = crand.Read(seed[:]) // it never fails
		return rand.New(rand.NewChaCha8(seed))
	}
	deriving.Lock()
	defer deriving.Unlock()
	return rand.New(rand.NewPCG(from.Uint64(), from.Uint64()))
}

// Run is a candidate until ctx ends, and contends again after each loss. When ctx ends or Close is called, it steps
// down in the safe order: the term's context is cancelled, Lost is sent, the lease is renewed while work winds down,
// then released.
//
// It returns nil in these cases; ErrDrainTimeout if work did not end in time; an error that wraps the last failure if
// the backoff policy gave up; ErrRunning if it was called before; ErrClosed if the elector was closed before.
// Nothing that a lock answers ends it.
func (e *Elector) Run(ctx context.Context) error {
	if err := e.claim(); err != nil {
		return err
	}
	ctx = orBackground(ctx)
	finishLog := e.startLog()
	err := newLoop(e, ctx).run(ctx)
	e.release(err)
	finishLog()
	return err
}

// claim makes the caller the driver.
func (e *Elector) claim() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		return ErrClosed
	case e.driven:
		return ErrRunning
	}
	e.driven = true
	e.inbox.setOpen(true)
	return nil
}

// isStepped reports whether the caller's own loop drives the elector, so that waiting for it could wait for ever.
func (e *Elector) isStepped() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.byStep
}

// release ends the driver's claim: the stream of events ends with it.
func (e *Elector) release(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.err = err
	e.hub.End()
	if e.closed {
		e.hub.Cut()
	}
	close(e.done)
}

// Events returns the elector's channel of events: always the same, recording from New on. It closes after the last
// event, when Run has returned. A goroutine serves it once it was asked for; after Run has returned that goroutine
// ends when the channel was read to its end, or on Close.
//
// The elector never waits for a reader. What a late reader may miss, and what not, is said in package events.
func (e *Elector) Events() <-chan events.Event { return e.hub.Events() }

// Subscribe returns a further channel of events. It first gets the current state: the Acquired of the term that is on
// and the LeaderChanged to the present leader, if there are any. It closes when ctx ends, after the last event, or on
// Close. To read the last Lost, pass a context that outlives Run's.
func (e *Elector) Subscribe(ctx context.Context) <-chan events.Event {
	return e.hub.Subscribe(orBackground(ctx))
}

// Term returns the term that is on.
func (e *Elector) Term() (events.Term, bool) {
	if t := e.current.Load(); t != nil && t.Valid() {
		return t, true
	}
	return nil, false
}

// IsLeader compares the trust in the lease with the clock at the time of the call. It is not a fence: by the time the
// caller acts on it, it may be false. A health check must not ask it: a follower is healthy.
func (e *Elector) IsLeader() bool {
	_, ok := e.Term()
	return ok
}

// Status returns where the elector stands, at the time of the call.
func (e *Elector) Status() Status {
	s := *e.status.Load()
	t, ok := e.Term()
	switch {
	case ok && s.State == StateLeading:
		s.Term, s.ValidUntil = t, t.ValidUntil()
	case s.State == StateLeading:
		// The trust has run out, and the loop has yet to wake up.
		s.State, s.Leader = StateDraining, ""
	}
	return s
}

// Resign steps down in the safe order and contends again after Config.CoolDown, or once another holder was seen. It
// returns when the lease is released; nil at once if this candidate does not lead; ErrDrainTimeout if work did not end
// in time; ErrInsideWork if ctx is that of the work that it would wait for. ctx bounds only the waiting: the candidate
// steps down all the same.
//
// In Step mode it only asks: the next calls of Step do it.
func (e *Elector) Resign(ctx context.Context) error {
	ctx = orBackground(ctx)
	if e.isInside(ctx) {
		return ErrInsideWork
	}
	reply := make(chan error, 1)
	if !e.inbox.post(func(m *mail) { m.resigns = append(m.resigns, reply) }) || e.isStepped() {
		return nil
	}
	select {
	case err := <-reply:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close stops the elector for good, in the safe order, and ends all channels of events; of what is unread then, only
// the Lost of a term whose Acquired was read stays. It returns what Run returned; ErrInsideWork if ctx is that of the
// work that it would wait for. ctx bounds only the waiting. It may be called more than once, and before Run.
//
// In Step mode it only asks: the next calls of Step do it, and a Close after the last ends the channels.
func (e *Elector) Close(ctx context.Context) error {
	ctx = orBackground(ctx)
	if e.isInside(ctx) {
		return ErrInsideWork
	}
	if !e.beginClose() {
		e.hub.Cut()
		return nil
	}
	if e.isStepped() && !e.ended() {
		return nil
	}
	select {
	case <-e.done:
		e.hub.Cut()
		return e.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// beginClose asks the driver to stop, and reports whether there is or was one.
func (e *Elector) beginClose() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	e.inbox.post(func(m *mail) { m.stop = true })
	return e.driven
}

// ended reports whether the driver has come to its end.
func (e *Elector) ended() bool {
	select {
	case <-e.done:
		return true
	default:
		return false
	}
}

// isInside reports whether ctx belongs to work of a term of this elector.
func (e *Elector) isInside(ctx context.Context) bool { return ctx.Value(insideKey{e}) != nil }

func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}
