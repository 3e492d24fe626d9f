package events

import (
	"context"
	"time"
)

// A Term is one time of leading, from an Acquired to its Lost. The elector implements it; for tests of code that
// takes a Term, electortest.NewTerm makes one. Methods may be added to it.
//
// All methods are safe for concurrent use and never block.
type Term interface {
	// Context is cancelled, with a cause, when the term ends: before its Lost can be read.
	// Work that needs the leadership must run under it.
	Context() context.Context
	// Identity is the candidate's.
	Identity() string
	// Number is the lock's count of changes of hands (leaseTransitions). It is for people: it starts again when the
	// lock's object is deleted.
	Number() int64
	// Token grows strictly over all terms of one lock, for stores that refuse what an older term sends (a fencing
	// token). It is fixed for the term; 0 means that the lock has no order.
	Token() uint64
	// ValidUntil is the instant until which the lease is trusted, on the wall clock. It moves with each renewal.
	ValidUntil() time.Time
	// Valid compares ValidUntil with the clock now. Once false it stays false.
	Valid() bool
	// Hold keeps the lease from being released until done is called, or until Config.DrainTimeout has passed since
	// the term ended. done may be called more than once. After the term ended, Hold holds nothing.
	Hold() (done func())
	// Go runs work on a goroutine of its own, with the term's context, and holds until it returns. After the term
	// ended, work is not started. A nil error only drops the hold. An error, a panic or a runtime.Goexit while the
	// term lasts ends it, with ReasonWorkFailed.
	Go(work func(context.Context) error)
}
