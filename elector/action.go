package elector

import (
	"time"

	"github.com/seed2c765205/elect/events"
)

// An action is what the machine asks its driver to do. Which fields count depends on the kind.
type action struct {
	kind actionKind
	call int // the attempt's number

	snap   Snapshot // doWrite: what is replaced
	record Record   // doWrite: by what

	sent      instant // doBegin, doExtend: the send of the write that bought the trust
	roundTrip time.Duration
	token     uint64
	number    int64
	how       events.How
	vacant    time.Duration
	reason    events.Reason

	at       time.Time // doEnd: the instant of the event; doLeader: since when the leader holds
	from, to string    // doBegin: previous holder; doEnd: new holder; doLeader: both

	op          events.Op
	class       events.Class
	err         error
	retryAt     time.Time
	consecutive int
	remaining   time.Duration
}

type actionKind int

const (
	doRead   actionKind = iota + 1 // start a read
	doWrite                        // start a write
	doCancel                       // cancel the call's context: its time is over
	doBegin                        // a term begins
	doExtend                       // the term is trusted for longer; quiet while it drains
	doEnd                          // the term is over: cancel its context, tell, and report its holds
	doLeader                       // another leader is seen
	doError                        // something failed
	doStop                         // the machine has come to its end
)
