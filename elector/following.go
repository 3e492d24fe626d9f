package elector

import (
	"errors"
	"time"

	"github.com/seed2c765205/elect/events"
)

// bid is what a write that would begin a term knew when it was sent.
type bid struct {
	how         events.How
	previous    string
	transitions int64
	since       time.Duration // when the lock became free
	seen        bool          // that was seen
}

// follow judges a state that was read while somebody else may lead, and schedules what comes next.
func (m *machine) follow(s Snapshot) {
	if w, open, ok := m.findOwn(s); ok {
		m.foundOwn(w, open, s)
		return
	}
	m.writes.settle(s.Version)
	m.reportTwin(s)
	m.view.look(m.now.mono, s)
	m.reclaim()
	m.noteLeader()
	if m.view.free == 0 {
		m.succeed()
	}
	m.wait()
}

// findOwn reports whether the stored record is one that this elector wrote to hold the lock.
func (m *machine) findOwn(s Snapshot) (w sent, open, ok bool) {
	if s.empty() || s.Damage != nil || s.Record.Holder != m.rules.identity {
		return sent{}, false, false
	}
	return m.writes.find(s.Record)
}

// foundOwn: a write of unknown fate is stored, or the record of an earlier term of this elector. The former begins a
// term if it was meant to and if trust is left; else the record is free to this candidate at once, by a new write. An
// open write that was meant to begin a term was sent after the last one ended, since each confirmed write closes those
// before it.
func (m *machine) foundOwn(w sent, open bool, s Snapshot) {
	if open {
		m.writes.confirm(w)
	}
	if open && w.acquire && m.ask == askContend && m.trusts(w.at) {
		m.succeed()
		m.beginTerm(s, w)
		return
	}
	m.followOwn(s)
}

// followOwn: the stored record is this candidate's, but no term goes with it.
func (m *machine) followOwn(s Snapshot) {
	m.view.own(m.now.mono, s)
	m.view.vacate(m.term.ended, events.HowReclaimed)
	m.wait()
}

// reclaim takes a record of a former run as free, where the configuration promises that nobody shares the identity.
func (m *machine) reclaim() {
	if m.rules.reclaim && m.view.free == 0 && m.view.holder() == m.rules.identity {
		m.view.vacate(m.now.mono, events.HowReclaimed)
	}
}

// errTwin is wrapped by the report of another elector with this identity.
var errTwin = errors.New("elector: another elector uses the same identity")

// reportTwin: a record that names this candidate, that it did not write, and that changes while it waits, has an
// author who lives.
func (m *machine) reportTwin(s Snapshot) {
	me := m.rules.identity
	if s.Record.Holder == me && m.view.holder() == me && m.view.live.ok && s.Stamp != m.view.snap.Stamp {
		m.twin()
	}
}

func (m *machine) twin() {
	m.do(action{
		kind: doError, op: events.OpRead, class: events.ClassDuplicate, err: errTwin, consecutive: 1,
		at: m.now.wall, retryAt: m.now.wall.Add(m.rules.retry), remaining: m.remaining(),
	})
}

// noteLeader follows who leads. While a vanished or unreadable record is waited out, its holder counts as the leader.
func (m *machine) noteLeader() {
	r := &m.view.snap.Record
	switch {
	case m.view.free != 0:
		m.lead("", time.Time{}, r.Transitions)
	case m.view.holder() != "":
		if r.Holder != m.rules.identity {
			m.notBefore = 0 // another holder was seen
		}
		m.lead(r.Holder, r.AcquireTime, r.Transitions)
	case m.leader == m.rules.identity:
		m.lead("", time.Time{}, r.Transitions)
	}
}

// wait schedules the next look at a lock that is held, or the write that takes a free one.
func (m *machine) wait() {
	now := m.now.mono
	look := plus(now, m.pace.spread(m.rules.retry))
	switch {
	case m.view.free == 0:
		m.schedule(opRead, min(look, m.view.until))
	case m.notBefore > now:
		m.schedule(opRead, min(look, m.notBefore))
	default:
		m.schedule(opTake, plus(now, m.stagger()))
		m.prepareBid()
	}
}

const maxStagger = 40 * time.Millisecond

// stagger keeps many followers from writing at once. A lock that nobody was seen to hold has no crowd before it, and
// a record of one's own has no other taker.
func (m *machine) stagger() time.Duration {
	switch m.view.free {
	case events.HowFree, events.HowReclaimed:
		return 0
	case events.HowExpired, events.HowReleased, events.HowRepaired:
	}
	return m.pace.upTo(maxStagger)
}

func (m *machine) prepareBid() {
	v := &m.view
	transitions := v.snap.Record.Transitions
	if !v.snap.empty() && v.snap.Record.Holder != m.rules.identity {
		transitions++
	}
	m.bid = bid{how: v.free, previous: v.previous, transitions: transitions, since: v.vacantSince, seen: v.vacant}
}

// bidAnswered handles the answer to a write that would begin a term.
func (m *machine) bidAnswered(c call, o outcome, s Snapshot, err error) {
	if o == applied {
		m.writes.confirm(c.write)
		m.won(c.write, s)
		return
	}
	m.enter(StateFollowing)
	switch {
	case m.ask != askContend: // settle gives back what may be stored
	case o == refused:
		m.readAgain(c.op, err)
	case o == rejected:
		m.retry(c.op, opTake, err)
	default:
		m.retry(c.op, opRead, err)
	}
}

// won: the write that would begin a term is stored. It does so only if nobody asked to stop meanwhile, and if trust is
// left.
func (m *machine) won(w sent, s Snapshot) {
	switch {
	case m.ask != askContend:
		m.view.own(m.now.mono, s)
		m.enter(StateFollowing)
	case m.trusts(w.at):
		m.beginTerm(s, w)
	default:
		m.enter(StateFollowing)
		m.followOwn(s)
	}
}

func (m *machine) beginTerm(s Snapshot, w sent) {
	m.enter(StateLeading)
	m.notBefore = 0
	m.term.trust, m.term.acquired, m.term.transitions = w.at, w.record.AcquireTime, w.record.Transitions
	a := action{
		kind: doBegin, sent: w.at, token: s.Revision, number: w.record.Transitions,
		how: m.bid.how, from: m.bid.previous,
	}
	if m.bid.seen {
		a.vacant = m.now.mono - m.bid.since
	}
	m.do(a)
	m.view.own(m.now.mono, s)
	m.lead(m.rules.identity, w.record.AcquireTime, w.record.Transitions)
	m.schedule(opRenew, plus(w.at.mono, m.rules.period))
}

// giveBack leaves the election: what may be stored in this candidate's name is looked for and released first.
func (m *machine) giveBack() {
	m.due = due{}
	if m.mayHold() {
		m.enter(StateDraining)
		m.drain = drain{since: m.now.mono, told: true, release: true}
		if m.ask == askResign {
			m.drain.reason = events.ReasonResigned
		}
		return
	}
	m.leave()
}

// mayHold reports whether a record of this candidate may be stored that others would still wait for.
func (m *machine) mayHold() bool {
	return m.leaseEnd() > m.now.mono && (len(m.writes.open) > 0 || m.view.snap.Record.Holder == m.rules.identity)
}

// leaseEnd is when everything that this candidate has written to hold the lock has run out by itself.
func (m *machine) leaseEnd() time.Duration {
	var end time.Duration
	if m.writes.known && m.writes.confirmed.record.Holder != "" {
		end = plus(m.writes.confirmed.at.mono, m.rules.lease)
	}
	for i := range m.writes.open {
		end = max(end, plus(m.writes.open[i].at.mono, m.rules.lease))
	}
	return end
}
