package elector

import "fmt"

// State is where an elector stands. The zero value is unknown: nothing has driven it yet.
type State int

const (
	StateFollowing State = iota + 1 // somebody else may lead
	StateAcquiring                  // a write that would begin a term is in flight
	StateLeading                    // a term is on
	StateDraining                   // the term is over: its work winds down, then the lease is given back
	StateStopped                    // for good
)

var stateNames = [...]string{"unknown", "following", "acquiring", "leading", "draining", "stopped"}

func (s State) String() string {
	if s < 0 || int(s) >= len(stateNames) {
		return fmt.Sprintf("unknown(%d)", int(s))
	}
	return stateNames[s]
}

// mayBecome holds the edges of the machine; docs/DESIGN.md draws them.
func (s State) mayBecome(to State) bool {
	switch s {
	case StateFollowing:
		// To leading without acquiring: a write of unknown fate turned out to be stored.
		// To draining: such a write must be given back before a stop.
		return to == StateAcquiring || to == StateLeading || to == StateDraining || to == StateStopped
	case StateAcquiring:
		return to == StateFollowing || to == StateLeading || to == StateDraining
	case StateLeading:
		return to == StateDraining
	case StateDraining:
		return to == StateFollowing || to == StateStopped
	case StateStopped:
	}
	return false
}
