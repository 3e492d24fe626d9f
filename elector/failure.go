package elector

import (
	"errors"
	"fmt"
	"time"

	"github.com/seed2c765205/elect/events"
)

// failures is the present run of them.
type failures struct {
	n   int
	op  op
	err error
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
		// Half of the trust that is left, so that an outage which ends before the trust does is ridden out.
		limit, longest = min(m.rules.retry, max(m.trustLeft()/2, minPause)), m.trustLeft()
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
