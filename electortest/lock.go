package electortest

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/events"
)

// A Lock stands between one candidate and a lock that it shares with others, and lets calls fail. What is set takes
// effect for calls that begin afterwards; Heal also ends calls that hang. All methods are safe for concurrent use.
type Lock struct {
	inner elector.Lock
	clock clock.WithDelayedExecution

	mu            sync.Mutex
	fault         func(context.Context) error // instead of reaching the inner lock; nil: no fault
	writesRefused error
	readsRefused  error
	before, after time.Duration
	lose          int
	healed        chan struct{} // closes with Heal
	reads, writes int
	onCall        func(events.Op)
}

// NewLock makes a Lock in front of inner. Give each candidate its own. Delays are counted on the clock.
func NewLock(inner elector.Lock, c clock.WithDelayedExecution) *Lock {
	return &Lock{inner: inner, clock: c, healed: make(chan struct{})}
}

// Faults that do not tell where they come from.
var (
	errCut  = errors.New("electortest: connection refused")
	errLost = errors.New("electortest: the answer was lost")
	errHung = errors.New("electortest: the call hung until the lock was healed")
)

// Cut lets calls fail at once without reaching the lock, as when a connection is refused.
func (l *Lock) Cut() {
	l.setFault(func(context.Context) error {
		return &elector.CallError{Class: events.ClassUnavailable, NotApplied: true, Err: errCut}
	})
}

// BlackHole lets calls return only when their context ends, without reaching the lock.
func (l *Lock) BlackHole() {
	l.setFault(func(ctx context.Context) error {
		<-ctx.Done()
		return context.Cause(ctx)
	})
}

// Hang lets calls return only after Heal, whatever becomes of their context, without reaching the lock.
func (l *Lock) Hang() {
	l.mu.Lock()
	healed := l.healed
	l.mu.Unlock()
	l.setFault(func(context.Context) error {
		<-healed
		return errHung
	})
}

// Refuse answers calls with err, without reaching the lock.
func (l *Lock) Refuse(err error) { l.setFault(func(context.Context) error { return err }) }

// RefuseReads answers reads with err, without reaching the lock.
func (l *Lock) RefuseReads(err error) { l.set(func() { l.readsRefused = err }) }

// RefuseWrites answers writes with err, without reaching the lock.
func (l *Lock) RefuseWrites(err error) { l.set(func() { l.writesRefused = err }) }

// Delay lets a call take the given times before it reaches the lock and before its answer comes back. If its context
// ends in the former it has not reached the lock; in the latter it has, and its answer is lost.
func (l *Lock) Delay(before, after time.Duration) {
	l.set(func() { l.before, l.after = before, after })
}

// LoseAnswers lets the next n writes be stored but answered with an error, as when a connection breaks.
func (l *Lock) LoseAnswers(n int) { l.set(func() { l.lose = n }) }

// Damage replaces the stored record by text, for all candidates. It reports false if the inner lock cannot do that; a
// memory.Lock can.
func (l *Lock) Damage(text string) bool {
	c, ok := l.inner.(interface {
		Corrupt(text string) elector.Snapshot
	})
	if ok {
		c.Corrupt(text)
	}
	return ok
}

// Heal ends all faults.
func (l *Lock) Heal() {
	l.set(func() {
		l.fault, l.readsRefused, l.writesRefused = nil, nil, nil
		l.before, l.after, l.lose = 0, 0, 0
		close(l.healed)
		l.healed = make(chan struct{})
	})
}

// OnCall sets a function that is called with OpRead or OpWrite when a call has reached the inner lock; nil: none.
func (l *Lock) OnCall(f func(events.Op)) { l.set(func() { l.onCall = f }) }

// Reads returns how many reads have reached the inner lock.
func (l *Lock) Reads() int { return l.count(&l.reads) }

// Writes returns how many writes have reached the inner lock.
func (l *Lock) Writes() int { return l.count(&l.writes) }

// Read implements elector.Lock.
func (l *Lock) Read(ctx context.Context) (elector.Snapshot, error) {
	return l.call(ctx, events.OpRead, func() (elector.Snapshot, error) { return l.inner.Read(ctx) })
}

// Write implements elector.Lock.
func (l *Lock) Write(ctx context.Context, prev elector.Snapshot, next elector.Record) (elector.Snapshot, error) {
	return l.call(ctx, events.OpWrite, func() (elector.Snapshot, error) { return l.inner.Write(ctx, prev, next) })
}

func (l *Lock) String() string { return l.inner.String() }

// TimeResolution is the inner lock's.
func (l *Lock) TimeResolution() time.Duration {
	if r, ok := l.inner.(elector.TimeResolver); ok {
		return r.TimeResolution()
	}
	return 0
}

// Validate is the inner lock's.
func (l *Lock) Validate() error {
	if v, ok := l.inner.(elector.Validator); ok {
		return v.Validate()
	}
	return nil
}

// plan is what happens to one call.
type plan struct {
	fault         func(context.Context) error
	before, after time.Duration
	lose          bool
}

func (l *Lock) call(ctx context.Context, op events.Op, reach func() (elector.Snapshot, error)) (elector.Snapshot, error) {
	p := l.planFor(op)
	if p.fault != nil {
		return elector.Snapshot{}, p.fault(ctx)
	}
	if err := l.wait(ctx, p.before); err != nil {
		return elector.Snapshot{}, err
	}
	s, err := l.reach(op, reach)
	if late := l.wait(ctx, p.after); late != nil {
		return elector.Snapshot{}, late
	}
	if p.lose && err == nil {
		return elector.Snapshot{}, errors.Join(errLost, io.EOF)
	}
	return s, err
}

func (l *Lock) planFor(op events.Op) plan {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := plan{fault: l.fault, before: l.before, after: l.after}
	refused := l.readsRefused
	if op == events.OpWrite {
		refused = l.writesRefused
		if p.lose = l.lose > 0; p.lose {
			l.lose--
		}
	}
	if p.fault == nil && refused != nil {
		p.fault = func(context.Context) error { return refused }
	}
	return p
}

func (l *Lock) reach(op events.Op, reach func() (elector.Snapshot, error)) (elector.Snapshot, error) {
	l.mu.Lock()
	if op == events.OpWrite {
		l.writes++
	} else {
		l.reads++
	}
	told := l.onCall
	l.mu.Unlock()
	if told != nil {
		told(op)
	}
	return reach()
}

// wait lets d pass, and returns why if ctx ends before.
func (l *Lock) wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := l.clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (l *Lock) setFault(f func(context.Context) error) { l.set(func() { l.fault = f }) }

func (l *Lock) set(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
}

func (l *Lock) count(n *int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return *n
}
