package electortest

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/events"
)

// A Lock is one candidate's way to a lock, on which faults can be put. Make it with NewLock. Give each candidate a
// Lock of its own over one shared lock, so that one of them can be cut off while the others go on.
//
// All methods are safe for concurrent use. A fault holds for the calls that begin after it was put, until Heal; a call
// that has begun goes its way, unless said otherwise. Cut, BlackHole and Hang replace one another; each of them comes
// before Refuse, and Refuse before Delay and LoseAnswers, which add up.
type Lock struct {
	inner elector.Lock
	clock clock.Clock

	mu     sync.Mutex
	faults faults
	healed chan struct{} // closes with the next Heal
	reads  int
	writes int
	onCall func(events.Op)
}

var (
	_ elector.Lock         = (*Lock)(nil)
	_ elector.TimeResolver = (*Lock)(nil)
	_ elector.Validator    = (*Lock)(nil)
)

type faults struct {
	way           way
	readErr       error
	writeErr      error
	before, after time.Duration
	lose          int // how many answers to writes are still to be lost
}

// way is what becomes of a call on its way to the inner lock.
type way int

const (
	open way = iota
	cut
	blackHole
	hang
)

// NewLock makes a faultless way to inner. The clock measures the times of Delay; nil means the real one.
func NewLock(inner elector.Lock, c clock.WithDelayedExecution) *Lock {
	l := &Lock{inner: inner, clock: c, healed: make(chan struct{})}
	if c == nil {
		l.clock = clock.RealClock{}
	}
	return l
}

// Cut lets calls fail at once, as if connections were refused: with an *elector.CallError of class Unavailable and
// with NotApplied. They do not reach the inner lock.
func (l *Lock) Cut() { l.set(func(f *faults) { f.way = cut }) }

// BlackHole lets calls get no answer, as if the network dropped all packets: they do not reach the inner lock, and fail
// when their context ends. The error wraps the context's cause; of a write it leaves open whether it was applied.
func (l *Lock) BlackHole() { l.set(func(f *faults) { f.way = blackHole }) }

// Hang lets calls hang, whatever becomes of their context. With Heal they fail, without having reached the inner lock.
// A test that hangs calls must heal the lock, or their goroutines stay behind.
func (l *Lock) Hang() { l.set(func(f *faults) { f.way = hang }) }

// Refuse lets calls be answered with err, such as an *elector.CallError of class Forbidden. They do not reach the
// inner lock. A nil err ends this fault.
func (l *Lock) Refuse(err error) { l.set(func(f *faults) { f.readErr, f.writeErr = err, err }) }

// RefuseReads is Refuse for reads only.
func (l *Lock) RefuseReads(err error) { l.set(func(f *faults) { f.readErr = err }) }

// RefuseWrites is Refuse for writes only.
func (l *Lock) RefuseWrites(err error) { l.set(func(f *faults) { f.writeErr = err }) }

// Delay lets calls take time: before they reach the inner lock, and after it until the answer is there. A call whose
// context ends fails then, and its error does not tell in which of the two times that was. In the first, the inner lock
// was not reached; in the second, a write is applied. Zero or less is no delay.
func (l *Lock) Delay(before, after time.Duration) {
	l.set(func(f *faults) { f.before, f.after = before, after })
}

// LoseAnswers lets the next n writes reach the inner lock but fail all the same: with an error that wraps
// io.ErrUnexpectedEOF and leaves open whether the write was applied.
func (l *Lock) LoseAnswers(n int) { l.set(func(f *faults) { f.lose = n }) }

// Heal ends all faults. Calls that hang fail now; calls in a black hole still wait for their context.
func (l *Lock) Heal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = faults{}
	close(l.healed)
	l.healed = make(chan struct{})
}

// Damage stores a text that is no record, and returns the new state. It needs an inner lock with a method
// Corrupt(text string) elector.Snapshot, as the lock in memory has, and panics if there is none.
func (l *Lock) Damage(text string) elector.Snapshot {
	c, ok := l.inner.(interface {
		Corrupt(text string) elector.Snapshot
	})
	if !ok {
		panic(fmt.Sprintf("electortest: Lock.Damage: the inner lock is a %T, which has no method Corrupt", l.inner))
	}
	return c.Corrupt(text)
}

// Reads returns how many reads have reached the inner lock.
func (l *Lock) Reads() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reads
}

// Writes returns how many writes have reached the inner lock.
func (l *Lock) Writes() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.writes
}

// OnCall lets f be called just before a call reaches the inner lock, on the call's goroutine, with OpRead or OpWrite.
// f may use the lock, but what faults it puts holds for later calls only. It replaces an earlier f; nil calls nothing.
func (l *Lock) OnCall(f func(op events.Op)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.onCall = f
}

func (l *Lock) set(change func(*faults)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(&l.faults)
}
