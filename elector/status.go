package elector

import (
	"fmt"
	"time"

	"github.com/seed2c765205/elect/events"
)

// Status is where an elector stands, at the time of the call.
type Status struct {
	State    State
	Identity string
	Term     events.Term // the term that is on; nil if none is
	// Leader is who leads, as far as is known: "" if nobody does. Since and Transitions are what the record says.
	Leader      string
	Since       time.Time
	Transitions int64
	ValidUntil  time.Time // of the term that is on; zero if none is

	Waiting      Wait      // what the elector waits for
	WaitingUntil time.Time // and until when at most, on the wall clock; zero: it cannot tell

	LastError   error        // of the present run of failures, or the last one before; nil if there was none
	LastClass   events.Class // its class
	Consecutive int          // how many calls have failed in a row; 0: the last one succeeded
}

// Wait is what an elector waits for. The zero value is unknown.
type Wait int

const (
	WaitAnswer   Wait = iota + 1 // a lock call to answer
	WaitExpiry                   // a record that somebody holds to expire or to change
	WaitRenewal                  // the time of the next renewal
	WaitRetry                    // the next attempt after a failure
	WaitCoolDown                 // the end of the cool-down after it stepped down
	WaitTurn                     // a short random delay before it takes a free lock
	WaitWork                     // the work of a term that is over
)

var waitNames = [...]string{
	"unknown", "an answer", "the lease of another to expire", "the next renewal", "the next attempt",
	"the end of the cool-down", "its turn to write", "its own work to end",
}

func (w Wait) String() string {
	if w < 0 || int(w) >= len(waitNames) {
		return fmt.Sprintf("unknown(%d)", int(w))
	}
	return waitNames[w]
}

// waiting tells what the machine waits for, and until when.
func (m *machine) waiting() (Wait, time.Duration) {
	switch {
	case m.state == StateDraining && m.drain.out:
		return WaitWork, m.workUntil()
	case m.state == StateFollowing && m.view.looked && m.view.free == 0 && m.fails.n == 0:
		return WaitExpiry, m.view.until
	case m.call.id != 0:
		return WaitAnswer, m.call.until
	case m.fails.n > 0:
		return WaitRetry, m.due.at
	case m.state == StateLeading:
		return WaitRenewal, m.due.at
	case m.state == StateFollowing && m.notBefore > m.now.mono:
		return WaitCoolDown, m.notBefore
	case m.due.op == opTake:
		return WaitTurn, m.due.at
	}
	return 0, never
}

func (m *machine) workUntil() time.Duration {
	if m.drain.late {
		return never
	}
	return m.lateAt()
}
