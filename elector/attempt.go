package elector

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed2c765205/elect/events"
)

// call is a lock call in flight.
type call struct {
	id    int // 0: none
	op    op
	sent  instant
	until time.Duration // when it is abandoned
	write sent          // of a write: what was sent
}

type op int

const (
	opRead    op = iota + 1
	opTake       // the write that begins a term
	opRenew      // the write that extends one
	opRelease    // the write that gives the lock back
)

func (o op) public() events.Op {
	switch o {
	case opRead:
		return events.OpRead
	case opTake, opRenew:
		return events.OpWrite
	case opRelease:
		return events.OpRelease
	}
	return 0
}

// due is the next call and its moment.
type due struct {
	op op
	at time.Duration
}

const (
	maxHung    = 4
	minAttempt = 50 * time.Millisecond
)

// launch starts the call that is due. Too many calls that never answered stop it.
func (m *machine) launch() {
	if len(m.hung) >= maxHung {
		m.due.at = plus(m.now.mono, m.rules.retry)
		m.fail(m.due.op, errHung, m.rules.retry)
		return
	}
	o := m.due.op
	m.due = due{}
	m.calls++
	m.call = call{id: m.calls, op: o, sent: m.now, until: plus(m.now.mono, m.attempt())}
	if o == opRead {
		m.do(action{kind: doRead, call: m.call.id})
		return
	}
	if o == opTake {
		m.enter(StateAcquiring)
	}
	m.send(o)
}

var errHung = fmt.Errorf("elector: %d lock calls do not answer and ignore their contexts", maxHung)

// attempt bounds one call, so that several slow ones fit into the trust that is left.
func (m *machine) attempt() time.Duration {
	budget := m.rules.deadline
	if m.state == StateLeading {
		budget = m.trustLeft()
	}
	return max(budget/3, minAttempt)
}

func (m *machine) send(o op) {
	prev := m.view.snap
	r := m.record(o)
	m.call.write = sent{record: r, prev: prev.Version, at: m.now, acquire: o == opTake}
	m.writes.add(m.call.write)
	m.do(action{kind: doWrite, call: m.call.id, snap: prev, record: r})
}

// record is what the given write stores.
func (m *machine) record(o op) Record {
	t := m.renewTime()
	switch o {
	case opTake:
		return Record{
			Holder: m.rules.identity, LeaseDuration: m.rules.lease, AcquireTime: t, RenewTime: t,
			Transitions: m.bid.transitions, Mark: m.marks.next(),
		}
	case opRelease:
		// The one released form that every other reader survives.
		return Record{
			LeaseDuration: time.Second, AcquireTime: t, RenewTime: t,
			Transitions: m.term.transitions, Mark: m.marks.next(),
		}
	case opRenew, opRead:
	}
	return Record{
		Holder: m.rules.identity, LeaseDuration: m.rules.lease, AcquireTime: m.term.acquired, RenewTime: t,
		Transitions: m.term.transitions, Mark: m.marks.next(),
	}
}

// renewTime is the wall time, moved on if need be so that the write changes what is stored.
func (m *machine) renewTime() time.Time {
	t := m.now.wall.UTC().Truncate(m.rules.resolution)
	for _, before := range [...]time.Time{m.view.snap.Record.RenewTime, m.writes.confirmed.record.RenewTime} {
		// A year of five digits can be stored nowhere; going back from it is a change too.
		if after := before.UTC().Add(m.rules.resolution); !before.IsZero() && t.Before(after) && after.Year() <= 9999 {
			t = after.Truncate(m.rules.resolution)
		}
	}
	return t
}

// abandon gives up the call in flight: its time is over. Its write counts as of unknown outcome.
func (m *machine) abandon() {
	c := m.call
	m.call = call{}
	m.hung = append(m.hung, c)
	m.do(action{kind: doCancel, call: c.id, err: context.DeadlineExceeded})
	err := fmt.Errorf("no answer within %v: %w", c.until-c.sent.mono, context.DeadlineExceeded)
	if c.op == opRead {
		m.afterRead(c, Snapshot{}, err)
	} else {
		m.afterWrite(c, Snapshot{}, err)
	}
}

// answered takes the call out of flight. It reports false for a late answer of an abandoned call.
func (m *machine) answered(id int) (call, bool) {
	if id == m.call.id {
		c := m.call
		m.call = call{}
		return c, true
	}
	for i, c := range m.hung {
		if c.id == id {
			m.hung = append(m.hung[:i], m.hung[i+1:]...)
			return c, false
		}
	}
	return call{}, false
}

// lateWrite takes the late answer of an abandoned write as evidence only.
func (m *machine) lateWrite(c call, s Snapshot, err error) {
	switch o, _ := outcomeOf(c.write.prev, s, err); o {
	case applied:
		if m.due.op == opRead {
			m.due.at = m.now.mono
		}
	case refused:
		m.writes.refuse(c.write.record.Mark)
	case rejected:
		m.writes.drop(c.write.record.Mark)
	case unknown:
	}
}

func (m *machine) afterRead(c call, s Snapshot, err error) {
	switch {
	case m.leaving():
		return // settle sees to the rest
	case err == nil:
	case errors.Is(err, ErrNotFound):
		s = Snapshot{}
	default:
		m.retry(c.op, opRead, err)
		return
	}
	if m.fails.op == opRead {
		m.succeed()
	}
	m.reportDamage(s)
	switch m.state {
	case StateFollowing:
		m.follow(s)
	case StateLeading:
		m.leadAgainst(s)
	case StateDraining:
		m.drainAgainst(s)
	case StateAcquiring, StateStopped:
	}
}

func (m *machine) afterWrite(c call, s Snapshot, err error) {
	o, err := outcomeOf(c.write.prev, s, err)
	switch o {
	case refused:
		m.writes.refuse(c.write.record.Mark)
	case rejected:
		m.writes.drop(c.write.record.Mark)
	case applied:
		m.succeed()
	case unknown:
	}
	if m.state == StateAcquiring {
		m.bidAnswered(c, o, s, err)
		return
	}
	switch {
	case o == applied:
		m.stored(c, s)
	case m.leaving():
	case o == refused:
		m.readAgain(c.op, err)
	case o == rejected:
		m.retry(c.op, c.op, err)
	default:
		m.retry(c.op, opRead, err)
	}
}

// leaving: nothing more is to be read or written but what settle asks for.
func (m *machine) leaving() bool {
	return (m.state == StateFollowing && m.ask != askContend) || (m.state == StateDraining && m.drain.idle())
}

// stored handles a write that changed the store, other than one that begins a term.
func (m *machine) stored(c call, s Snapshot) {
	m.writes.confirm(c.write)
	switch {
	case c.op == opRelease:
		m.released(s)
	case m.state == StateDraining && m.drain.idle():
		m.view.own(m.now.mono, s)
	default:
		m.extend(s, c.write)
	}
}
