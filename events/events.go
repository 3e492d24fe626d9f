package events

import "time"

// Event is one of Acquired, Renewed, Lost, LeaderChanged and Error. The set is closed: a type switch over the five
// is complete. Events are values and may be kept and shared.
//
// Each kind is a slog.LogValuer and marshals to JSON, which Parse reads back.
//
//sumtype:decl
type Event interface {
	// When is the instant at which it happened, on the elector's wall clock.
	When() time.Time
	// String is one line for people.
	String() string

	event()
}

// Acquired is sent when a term begins: this candidate is the leader from now on.
type Acquired struct {
	Time       time.Time
	Term       Term
	ValidUntil time.Time     // trusted until, as it was when the term began; Term.ValidUntil moves on
	Previous   string        // the last holder that was seen; "" if none was
	Vacant     time.Duration // how long nobody led, as far as this elector saw; 0 if it did not see it begin
	How        How
	Skipped    int // terms (an Acquired and its Lost) that were dropped unread before this one
}

// Renewed is sent when a write has extended the term.
type Renewed struct {
	Time       time.Time
	Term       Term
	ValidUntil time.Time     // trusted until, on the wall clock
	RoundTrip  time.Duration // from the send of the write to its answer
	Skipped    int           // earlier renewals of this term that were dropped unread
}

// Lost is sent when a term has ended. The term's context is already cancelled.
type Lost struct {
	Time       time.Time // the end of trust, if that ended it
	Term       Term
	ValidUntil time.Time // until when the lease was held, as it was known when the term ended
	Reason     Reason
	Holder     string // the new holder, if it is known
	Err        error  // what ended the term, or the last failure before it; may be nil
}

// LeaderChanged is sent when another leader, or none, is seen: also between two other candidates, after an Acquired of
// this one, and with To empty after a release or a confirmed expiry.
type LeaderChanged struct {
	Time        time.Time
	From, To    string    // "" is nobody
	Since       time.Time // when To acquired, as its record says; for people
	Transitions int64     // the record's count of changes of hands; for people
}

// Error is sent when something went wrong that did not end the election. It is for people and policies: the elector
// has already decided what to do.
type Error struct {
	Time        time.Time
	Op          Op
	Class       Class
	Err         error         // errors.Is and errors.As see through it
	Retryable   bool          // the elector tries again
	RetryAt     time.Time     // when; zero if it does not
	Consecutive int           // failures in a row, this one included
	Remaining   time.Duration // while leading: how much trust is left
	Skipped     int           // earlier errors of the same operation and class that were dropped unread
}

// When implements Event.
func (e Acquired) When() time.Time { return e.Time }

// When implements Event.
func (e Renewed) When() time.Time { return e.Time }

// When implements Event.
func (e Lost) When() time.Time { return e.Time }

// When implements Event.
func (e LeaderChanged) When() time.Time { return e.Time }

// When implements Event.
func (e Error) When() time.Time { return e.Time }

func (Acquired) event()      {}
func (Renewed) event()       {}
func (Lost) event()          {}
func (LeaderChanged) event() {}
func (Error) event()         {}
