package elector

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/seed2c765205/elect/events"
)

// machine is the election as a value: it has no goroutine, lock, logger or clock and does no I/O. Every input carries
// the present instant and first applies the passage of time; every answer is a list of actions, valid until the next
// input, and next is the deadline of the next tick.
//
// Its rules stand in one file each: following.go, leading.go and draining.go for the states, view.go for the judgement
// of others, writes.go for what is this candidate's own, machine.go for time and calls.
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

// tenure is the present term, or the last one.
type tenure struct {
	trust       instant // the send of the last write that bought trust
	acquired    time.Time
	transitions int64
	ended       time.Duration // when the last term ended
}

// failures is the present run of them.
type failures struct {
	n   int
	op  op
	err error
}

const (
	maxHung    = 4
	minAttempt = 50 * time.Millisecond
	maxStagger = 40 * time.Millisecond
	never      = time.Duration(math.MaxInt64)
)

func newMachine(r rules, p pacer) *machine {
	return &machine{
		rules: r, pace: p, work: p, marks: newMarks(), writes: newWrites(),
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

// reportDamage tells once of a record that cannot be read.
func (m *machine) reportDamage(s Snapshot) {
	if s.Damage == nil || (m.view.snap.Damage != nil && m.view.snap.Stamp == s.Stamp) {
		return
	}
	m.do(action{
		kind: doError, op: events.OpRead, class: events.ClassDecode, err: s.Damage, consecutive: 1,
		at: m.now.wall, retryAt: m.now.wall.Add(m.rules.retry), remaining: m.remaining(),
	})
}

// retry schedules then after a failure of tried.
func (m *machine) retry(tried, then op, err error) {
	m.schedule(then, plus(m.now.mono, m.pause(tried, err)))
}

// readAgain follows a conflict: somebody else wrote, so read at once, but do not spin if that goes on.
func (m *machine) readAgain(tried op, err error) {
	if !errors.Is(m.fails.err, ErrConflict) {
		m.fails = failures{n: m.fails.n + 1, op: tried, err: err}
		m.schedule(opRead, m.now.mono)
		if m.state != StateFollowing {
			m.fault(tried, err, 0)
		}
		return
	}
	m.retry(tried, opRead, err)
}

// pause counts a failure and returns how long to wait before the next attempt.
func (m *machine) pause(tried op, err error) time.Duration {
	d, stop := m.pace.next()
	limit, longest := m.rules.lease, m.rules.lease
	switch m.state {
	case StateLeading:
		limit, longest = m.rules.retry, m.trustLeft()
	case StateDraining:
		limit = m.rules.retry
	case StateFollowing, StateAcquiring, StateStopped:
		if stop {
			m.giveUp(tried, err)
			return 0
		}
	}
	if stop {
		d = limit
	}
	d = max(min(d, limit), min(retryAfter(err), longest))
	m.fail(tried, err, d)
	return d
}

// giveUp stops the machine: the policy said so.
func (m *machine) giveUp(tried op, err error) {
	m.stopErr = fmt.Errorf("elector: the backoff policy gave up after a failed %v: %w", tried.public(), err)
	m.ask = askStop
	m.fails = failures{n: m.fails.n + 1, op: tried, err: err}
	m.do(action{
		kind: doError, op: tried.public(), class: classOf(err), err: err, consecutive: m.fails.n, at: m.now.wall,
	})
}

func (m *machine) fail(tried op, err error, again time.Duration) {
	m.fails = failures{n: m.fails.n + 1, op: tried, err: err}
	m.fault(tried, err, again)
}

// fault tells of a failure that is tried again.
func (m *machine) fault(tried op, err error, again time.Duration) {
	class := classOf(err)
	if errors.Is(err, errHung) {
		class = events.ClassTimeout
	}
	m.do(action{
		kind: doError, op: tried.public(), class: class, err: err, consecutive: m.fails.n,
		at: m.now.wall, retryAt: m.now.wall.Add(again), remaining: m.remaining(),
	})
}

// succeed ends a run of failures.
func (m *machine) succeed() {
	m.fails = failures{}
	m.pace.reset()
}

// remaining is the trust that is left, 0 if no term is on.
func (m *machine) remaining() time.Duration {
	if m.state != StateLeading {
		return 0
	}
	return m.trustLeft()
}

// lead notes who leads, as far as is known, and tells of a change.
func (m *machine) lead(who string, since time.Time, transitions int64) {
	if m.leader == who {
		return
	}
	m.do(action{kind: doLeader, from: m.leader, to: who, at: since, number: transitions})
	m.leader = who
}
