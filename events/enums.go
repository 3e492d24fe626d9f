package events

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

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

// MarshalText gives the word that String gives; "unknown" for a value that is none of the constants. It never fails.
func (h How) MarshalText() ([]byte, error) { return howNames.text(h), nil }

// MarshalText writes the word that String shows.
func (r Reason) MarshalText() ([]byte, error) { return reasonNames.text(r), nil }

// MarshalText writes the word that String shows.
func (o Op) MarshalText() ([]byte, error) { return opNames.text(o), nil }

// MarshalText writes the word that String shows.
func (c Class) MarshalText() ([]byte, error) { return classNames.text(c), nil }

// UnmarshalText reads a word that MarshalText gives. Any other is an error, and changes nothing.
func (h *How) UnmarshalText(word []byte) error { return howNames.parse(h, "How", word) }

// UnmarshalText reads the word that MarshalText writes.
func (r *Reason) UnmarshalText(word []byte) error { return reasonNames.parse(r, "Reason", word) }

// UnmarshalText reads the word that MarshalText writes.
func (o *Op) UnmarshalText(word []byte) error { return opNames.parse(o, "Op", word) }

// UnmarshalText reads the word that MarshalText writes.
func (c *Class) UnmarshalText(word []byte) error { return classNames.parse(c, "Class", word) }

// names are the words of an enumeration, by value.
type names[E ~int] []string

func (n names[E]) has(e E) bool { return e >= 0 && int(e) < len(n) }

func (n names[E]) of(e E) string {
	if !n.has(e) {
		return fmt.Sprintf("unknown(%d)", int(e))
	}
	return n[e]
}

func (n names[E]) text(e E) []byte {
	if !n.has(e) {
		e = 0
	}
	return []byte(n[e])
}

func (n names[E]) parse(e *E, name string, word []byte) error {
	i := slices.Index(n, string(word))
	if i < 0 {
		return fmt.Errorf("events: %s is %s: want %s", name, clip(strconv.Quote(string(word))), n.rule())
	}
	*e = E(i)
	return nil
}

func (n names[E]) rule() string { return "one of " + strings.Join(n, ", ") }
