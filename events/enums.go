package events

import "fmt"

// How tells why the lock was free to be acquired. The zero value is unknown.
type How int

const (
	HowFree      How = iota + 1 // nothing was stored, or a record that named no holder was found at first sight
	HowExpired                  // another holder's record had not changed for the duration written in it
	HowReleased                 // the holder let go: its record was seen to become free
	HowRepaired                 // the record was unreadable for a whole lease duration, and was replaced
	HowReclaimed                // the record named this candidate: an earlier term of its own, or a former run under Config.Reclaim
)

// Reason tells why a term ended. The zero value is unknown.
type Reason int

const (
	ReasonExpired    Reason = iota + 1 // the trust in the lease ran out before a renewal succeeded
	ReasonTaken                        // another holder was read from the lock
	ReasonCleared                      // somebody emptied the holder: a request to let go
	ReasonDeleted                      // the lock's object is gone and could not be made again
	ReasonStopped                      // Run's context ended, or Close was called
	ReasonResigned                     // Resign was called, or the work returned ErrResign
	ReasonWorkFailed                   // the work returned an error, panicked or called Goexit
)

// Op is the operation on the lock that an Error speaks of. The zero value is unknown.
type Op int

const (
	OpRead    Op = iota + 1 // reading the record
	OpWrite                 // acquiring or renewing
	OpWatch                 // following changes
	OpRelease               // giving the lock back
	OpWork                  // the work of a term, which the elector waits for
)

// Class sorts errors by what a person would do about them. The zero value is unknown.
type Class int

const (
	ClassDecode       Class = iota + 1 // an answer or a record that cannot be read
	ClassConflict                      // somebody else wrote first
	ClassNotFound                      // the object, its namespace or its API does not exist
	ClassForbidden                     // authenticated, but not allowed
	ClassUnauthorized                  // not authenticated
	ClassInvalid                       // the server calls the request malformed
	ClassThrottled                     // the server asks for fewer requests
	ClassTimeout                       // no answer in time
	ClassUnavailable                   // the server or the way to it fails
	ClassCanceled                      // the call was cancelled by its caller
	ClassDuplicate                     // another elector uses this identity
	ClassDraining                      // the elector waits for the work of a term that is over
	ClassInternal                      // a fault in this library
)

var (
	howNames    = names[How]{"unknown", "free", "expired", "released", "repaired", "reclaimed"}
	reasonNames = names[Reason]{"unknown", "expired", "taken", "cleared", "deleted", "stopped", "resigned", "work failed"}
	opNames     = names[Op]{"unknown", "read", "write", "watch", "release", "work"}
	classNames  = names[Class]{
		"unknown", "decode", "conflict", "not found", "forbidden", "unauthorized", "invalid", "throttled",
		"timeout", "unavailable", "canceled", "duplicate", "draining", "internal",
	}
)

func (h How) String() string    { return howNames.of(h) }
func (r Reason) String() string { return reasonNames.of(r) }
func (o Op) String() string     { return opNames.of(o) }
func (c Class) String() string  { return classNames.of(c) }

// names are the words of an enumeration, by value.
type names[E ~int] []string

func (n names[E]) of(e E) string {
	if e < 0 || int(e) >= len(n) {
		return fmt.Sprintf("unknown(%d)", int(e))
	}
	return n[e]
}
