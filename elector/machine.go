package elector

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/seed2c765205/elect/events"
)

// machine is the election as a value: it has no goroutine, lock, logger or clock and does no I/O. Every input carries
// the present instant and first applies the passage of time; every answer is a list of actions, valid until the next
// input, and next is the deadline of the next tick.
//
// Its rules stand in one file each: machine.go for inputs and time, following.go, leading.go and draining.go for the
// states, view.go for the judgement of others, writes.go for what is this candidate's own, attempt.go for lock calls
// and their outcomes, failure.go for what follows a failure.
type machine struct {
	rules  rules
	marks  marks
	pace   pacer // of failed calls
	work   pacer // of failed work
	now    instant
	out    []action
	state  State
	ask    ask
	call   call
	calls  int    // the number of the last call
	hung   []call // abandoned: their time is over, but they have not answered
	due    due
	view   view
	writes writes
	term   tenure
	bid    bid
	drain  drain
	fails  failures
	leader string
	// notBefore keeps the candidate from contending: it stepped down, or its work failed.
	notBefore time.Duration
	stopErr   error // why the machine stops, if it was not told to
}

// rules are the parts of Config that the machine needs.
type rules struct {
	identity   string
	lease      time.Duration
	deadline   time.Duration
	period     time.Duration
	retry      time.Duration
	drain      time.Duration
	coolDown   time.Duration
	patience   patience
	reclaim    bool
	resolution time.Duration
}

// ask is what the owner of the machine wants of it.
type ask int

const (
	askContend ask = iota
	askResign
	askStop
)

// tenure is the present term, or the last one.
type tenure struct {
	trust       instant // the send of the last write that bought trust
	acquired    time.Time
	transitions int64
	ended       time.Duration // when the last term ended
}

const never = time.Duration(math.MaxInt64)

func newMachine(r rules, p pacer) *machine {
	return &machine{
		rules: r, pace: p, work: p, marks: newMarks(), writes: newWrites(), view: view{patience: r.patience},
		out: make([]action, 0, 16), hung: make([]call, 0, maxHung),
	}
}

// start is the first input.
func (m *machine) start(now instant) []action {
	m.now, m.out = now, m.out[:0]
	m.state = StateFollowing
	m.schedule(opRead, now.mono)
	return m.plan()
}

// tick only lets time pass.
func (m *machine) tick(now instant) []action {
	m.begin(now)
	return m.plan()
}

func (m *machine) readAnswer(now instant, id int, s Snapshot, err error) []action {
	m.begin(now)
	if c, ok := m.answered(id); ok {
		m.afterRead(c, s, err)
	}
	return m.plan()
}

func (m *machine) writeAnswer(now instant, id int, s Snapshot, err error) []action {
	m.begin(now)
	switch c, ok := m.answered(id); {
	case ok:
		m.afterWrite(c, s, err)
	case c.id != 0:
		m.lateWrite(c, s, err)
	}
	return m.plan()
}

// stop asks to step down if leading, to give back what is held, and to end.
func (m *machine) stop(now instant) []action {
	m.begin(now)
	m.ask = askStop
	switch {
	case m.state == StateLeading:
		m.endTerm(events.ReasonStopped, "", nil, now.wall)
	case m.state == StateFollowing && m.call.op == opRead:
		// Nobody needs its answer any more. A write is waited for: cancelling it would not keep it from being stored.
		m.do(action{kind: doCancel, call: m.call.id, err: context.Canceled})
	}
	return m.plan()
}

// resign asks to step down and to contend again later. It does nothing to a follower.
func (m *machine) resign(now instant) []action {
	m.begin(now)
	switch m.state {
	case StateLeading:
		m.ask = max(m.ask, askResign)
		m.endTerm(events.ReasonResigned, "", nil, now.wall)
	case StateAcquiring:
		m.ask = max(m.ask, askResign)
	case StateFollowing, StateDraining, StateStopped:
	}
	return m.plan()
}

// workEnded tells that the work of the present term ended it.
func (m *machine) workEnded(now instant, reason events.Reason, err error) []action {
	m.begin(now)
	if m.state == StateLeading {
		m.endTerm(reason, "", err, now.wall)
	}
	return m.plan()
}

// lapse tells that somebody saw the trust of the present term run out, if only for a moment: the wall hand jumped.
func (m *machine) lapse(now instant) []action {
	m.begin(now)
	if m.state == StateLeading {
		m.expire()
	}
	return m.plan()
}

// holds tells whether work of the term that ended is still out.
func (m *machine) holds(now instant, out bool) []action {
	m.begin(now)
	if m.state == StateDraining {
		m.wind(out)
	}
	return m.plan()
}

// begin applies the passage of time, which comes before anything else that an input says.
func (m *machine) begin(now instant) {
	m.now, m.out = now, m.out[:0]
	if m.state == StateLeading && m.trustLeft() <= 0 {
		m.expire()
	}
	if m.call.id != 0 && now.mono >= m.call.until {
		m.abandon()
	}
	if m.state == StateDraining {
		m.passDrain()
	}
}

// plan launches what is due.
func (m *machine) plan() []action {
	if m.call.id == 0 {
		m.settle()
	}
	untold := m.state == StateDraining && !m.drain.told // the driver is about to say whether work is out
	if m.call.id == 0 && m.due.op != 0 && m.due.at <= m.now.mono && !untold {
		m.launch()
	}
	return m.out
}

// settle moves on from a state that only waited for the call in flight.
func (m *machine) settle() {
	if m.state == StateFollowing && m.ask != askContend {
		m.giveBack()
	}
	if m.state == StateDraining {
		m.settleDrain()
	}
}

// next is the moment of the next tick.
func (m *machine) next() time.Duration {
	at := never
	if m.call.id != 0 {
		at = m.call.until
	} else if m.due.op != 0 {
		at = m.due.at
	}
	switch m.state {
	case StateLeading:
		// A jump of the wall hand arms no timer: the leader looks at it once a retry period.
		at = min(at, plus(m.now.mono, m.trustLeft()), plus(m.now.mono, m.rules.retry))
	case StateDraining:
		at = min(at, m.drainDeadline())
	case StateFollowing, StateAcquiring, StateStopped:
	}
	return at
}

func (m *machine) do(a action) { m.out = append(m.out, a) }

func (m *machine) schedule(o op, at time.Duration) { m.due = due{op: o, at: at} }

// enter is the only place that assigns the state.
func (m *machine) enter(s State) {
	if !m.state.mayBecome(s) {
		err := fmt.Errorf("elector: impossible step from %v to %v", m.state, s)
		m.do(action{kind: doError, class: events.ClassInternal, err: err, at: m.now.wall})
		if m.state == StateLeading {
			m.do(action{kind: doEnd, reason: events.ReasonStopped, err: err, at: m.now.wall})
		}
	}
	m.state = s
}

// trustLeft is how long the term is trusted from now on, counted from the send of the write that bought the trust.
func (m *machine) trustLeft() time.Duration { return m.rules.deadline - m.term.trust.elapsed(m.now) }

func (m *machine) trusts(sent instant) bool { return sent.elapsed(m.now) < m.rules.deadline }

// lead notes who leads, as far as is known, and tells of a change.
func (m *machine) lead(who string, since time.Time, transitions int64) {
	if m.leader == who {
		return
	}
	m.do(action{kind: doLeader, from: m.leader, to: who, at: since, number: transitions})
	m.leader = who
}
