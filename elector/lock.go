package elector

import (
	"context"
	"errors"
	"time"

	"github.com/seed2c765205/elect/events"
)

// A Lock stores one Record and changes it by compare-and-swap. It decides nothing and reads no clock.
// Methods are safe for concurrent use. The full contract, C1 to C11, is in docs/DESIGN.md; locks/lockstest.Exercise
// checks it for any implementation.
type Lock interface {
	// Read returns what is stored now: a linearizable read. ErrNotFound only if the record's object certainly does not
	// exist; a missing namespace or API is another error, of class NotFound.
	// An object that is genuine but holds an unreadable record is a Snapshot with Damage, not an error.
	Read(ctx context.Context) (Snapshot, error)
	// Write replaces exactly the state that prev names, or creates if prev holds no Version, and returns what is
	// stored now, with another Version than prev's. ErrConflict if prev is stale, never ErrNotFound.
	// Any error that is neither ErrConflict nor a CallError with NotApplied leaves it open whether the write happened.
	Write(ctx context.Context, prev Snapshot, next Record) (Snapshot, error)
	// String names the lock for people, such as "lease shop/leader".
	String() string
}

// TimeResolver is implemented by a Lock that stores times more coarsely than to the microsecond. Times in the records
// that the elector writes are multiples of the resolution, so that they are read back as they were written.
type TimeResolver interface {
	TimeResolution() time.Duration
}

// Record is what a lock stores: who holds it, and for how long it asks others to wait.
type Record struct {
	Holder        string        // "" is nobody
	LeaseDuration time.Duration // whole seconds on most wires; zero or less: the record did not say
	AcquireTime   time.Time     // for people; zero: the record did not say
	RenewTime     time.Time     // for people, and to tell one write from another; zero: the record did not say
	Transitions   int64         // how often the holder changed; for people
	Mark          string        // the writer's, to know its own write again; "" where a lock cannot keep it
}

// Snapshot is one state of a lock, as it was read or written. It is immutable: the elector judges it and writes over
// exactly this state.
type Snapshot struct {
	Record   Record
	Version  string       // for compare-and-swap: names object and state, never recurs; "": nothing is stored
	Stamp    string       // equal if and only if the stored record is byte for byte the same
	Revision uint64       // orders states, also across delete and re-create; 0: no order
	Damage   *DecodeError // the object is genuine, the record in it unreadable
	Object   any          // the lock's own; handed back to Write, never read or compared
}

// empty reports whether no record is stored: neither the object, nor the place for the record in it.
func (s *Snapshot) empty() bool { return s.Version == "" || (s.Stamp == "" && s.Damage == nil) }

// Outcomes of a lock call that a Lock must tell apart. They may be wrapped.
var (
	// ErrNotFound: the lock's object certainly does not exist, so that it may be created.
	ErrNotFound = errors.New("elector: the lock does not exist")
	// ErrConflict: the state that was to be replaced is no longer the stored one; nothing was changed.
	ErrConflict = errors.New("elector: the lock was changed by another writer")
)

// CallError is how a Lock says what it knows about a failed call. Any other error of a Write is an unknown outcome.
type CallError struct {
	Class      events.Class
	RetryAfter time.Duration // what the server asked for; 0: nothing
	NotApplied bool          // the write certainly did not happen, and nobody else wrote
	Err        error
}

func (e *CallError) Error() string { return e.Err.Error() }

func (e *CallError) Unwrap() error { return e.Err }
