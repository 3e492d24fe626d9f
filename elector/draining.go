package elector

import (
	"errors"
	"fmt"
	"time"

	"github.com/seed2c765205/elect/events"
)

// drain is the end of a term: its work winds down while the lease is kept, then the lease is given back.
type drain struct {
	reason    events.Reason // 0: no term, only a write of unknown fate to give back
	err       error         // what ended the term
	since     time.Duration
	told      bool          // the driver has told whether work is out
	out       bool          // work is out
	keep      bool          // renewing goes on while work is out
	release   bool          // the lease is given back afterwards
	late      bool          // DrainTimeout has passed
	said      bool          // that it waits for its work
	releasing bool          // the work is done, the lease is being given back
	until     time.Duration // when releasing is given up
}

// newDrain: after Taken nothing is written. After an end of trust the candidate goes on renewing its own record, which
// keeps others away from its work and revives nothing.
func newDrain(reason events.Reason, err error, since time.Duration) drain {
	d := drain{reason: reason, err: err, since: since, keep: true}
	switch reason {
	case events.ReasonTaken:
		d.keep = false
	case events.ReasonStopped, events.ReasonResigned, events.ReasonWorkFailed, events.ReasonCleared:
		d.release = true
	case events.ReasonExpired, events.ReasonDeleted:
	}
	return d
}

// ErrDrainTimeout: the work of a term went on after its end for longer than Config.DrainTimeout. The lease was not
// released and runs out by itself.
var ErrDrainTimeout = errors.New("elector: the work did not end within the drain timeout; the lease was not released")

var (
	errWaitsForWork = errors.New("elector: the work of a term that is over still runs; waiting for it")
	errLostInDrain  = errors.New("elector: the lease was lost while work was still winding down")
	errNotReleased  = errors.New("elector: the lease could not be released in time; it runs out by itself")
)

// wind takes the driver's word on whether work is still out.
func (m *machine) wind(out bool) {
	d := &m.drain
	first := !d.told
	d.told, d.out = true, out
	if !out {
		return
	}
	m.passDrain()
	if !first || d.late {
		return
	}
	if d.keep && m.call.id == 0 && m.due.op == 0 {
		m.schedule(opRead, m.now.mono)
	}
}

func (m *machine) drainFault(o events.Op, class events.Class, err error) {
	m.do(action{kind: doError, op: o, class: class, err: err, consecutive: 1, at: m.now.wall})
}

// drainDeadline is the next moment at which draining changes by itself.
func (m *machine) drainDeadline() time.Duration {
	d := &m.drain
	switch {
	case d.releasing:
		return d.until
	case !d.told || !d.out || d.late:
		return never
	}
	return min(m.lateAt(), m.sayAt())
}

// lateAt is when work is waited for no longer.
func (m *machine) lateAt() time.Duration { return plus(m.drain.since, max(m.rules.drain, 0)) }

// sayAt is when it is told that work is waited for, where the candidate could contend again if it were not. Work that
// ends as soon as its context does is no news.
func (m *machine) sayAt() time.Duration {
	d := &m.drain
	if d.said || d.release || m.ask != askContend {
		return never
	}
	return plus(d.since, m.rules.retry)
}

// passDrain applies the passage of time.
func (m *machine) passDrain() {
	d := &m.drain
	if at := m.drainDeadline(); at == never || m.now.mono < at {
		return
	}
	if d.releasing {
		m.drainFault(events.OpRelease, events.ClassTimeout, fmt.Errorf("%w (%w)", errNotReleased, m.lastFailure()))
		d.keep, d.release, d.releasing = false, false, false
		m.due = due{}
		return
	}
	if m.now.mono >= m.sayAt() {
		d.said = true
		m.drainFault(events.OpWork, events.ClassDraining, errWaitsForWork)
	}
	if m.now.mono < m.lateAt() {
		return
	}
	if d.release || !d.said {
		m.drainFault(events.OpWork, events.ClassDraining, fmt.Errorf("%w (%w)", errWaitsForWork, ErrDrainTimeout))
	}
	d.late, d.keep, d.release = true, false, false
	m.due = due{}
}

func (m *machine) lastFailure() error {
	if m.fails.err == nil {
		return errors.New("no answer")
	}
	return m.fails.err
}

// settleDrain moves on when no call is in flight: from the work to the release, and from there out.
func (m *machine) settleDrain() {
	d := &m.drain
	switch {
	case !d.told || d.releasing:
	case d.out:
		if d.late && m.ask == askStop {
			m.leave()
		}
	case m.mustRelease():
		d.releasing = true
		d.until = min(plus(m.now.mono, m.rules.deadline), max(m.leaseEnd(), m.now.mono+minAttempt))
		m.schedule(opRead, m.now.mono)
	default:
		m.leave()
	}
}

// mustRelease: the lease is given back after a voluntary end, and whenever the candidate leaves for good.
func (m *machine) mustRelease() bool {
	d := &m.drain
	return d.release || (m.ask == askStop && d.keep && m.mayHold())
}

// drainAgainst judges a state that was read while the term winds down.
func (m *machine) drainAgainst(s Snapshot) {
	w, open, own := m.findOwn(s)
	if own && open {
		m.writes.confirm(w)
	}
	if !own {
		m.writes.settle(s.Version)
	}
	switch {
	case m.drain.releasing:
		m.releaseAgainst(s, own)
	case !m.drain.keep:
		// the read was under way when renewing ended
	case own && open:
		m.extend(s, w)
	case own:
		m.view.own(m.now.mono, s)
		m.schedule(opRenew, m.now.mono)
	case m.vacated(s):
		m.view.snap = s
		m.schedule(opRenew, m.now.mono)
	default:
		m.drainFault(events.OpWrite, events.ClassConflict, errLostInDrain)
		m.drain.keep, m.drain.release = false, false
		m.followAfterLoss(s)
	}
}

// vacated reports whether nobody can have taken the lock since this candidate's last write: the record is gone,
// unreadable, or emptied with its renewTime untouched.
func (m *machine) vacated(s Snapshot) bool { return s.empty() || s.Damage != nil || m.cleared(s) }

// cleared reports whether somebody else has emptied the holder of this candidate's record.
func (m *machine) cleared(s Snapshot) bool {
	return !s.empty() && s.Damage == nil && s.Record.Holder == "" &&
		s.Record.RenewTime.Equal(m.writes.confirmed.record.RenewTime)
}

// releaseAgainst writes the released form over a record that is this candidate's in that same snapshot, or that was
// emptied by hand, so that others see a real release. Anything else is not for it to touch.
func (m *machine) releaseAgainst(s Snapshot, own bool) {
	switch {
	case own:
		m.view.own(m.now.mono, s)
		m.schedule(opRelease, m.now.mono)
	case m.drain.reason == events.ReasonCleared && m.cleared(s):
		m.view.snap = s
		m.schedule(opRelease, m.now.mono)
	default:
		m.followAfterLoss(s)
		m.leave()
	}
}

// released: the released form is stored.
func (m *machine) released(s Snapshot) {
	m.view.own(m.now.mono, s)
	m.view.vacate(m.now.mono, events.HowReleased)
	m.view.previous = m.rules.identity
	m.lead("", time.Time{}, s.Record.Transitions)
	m.leave()
}

// leave ends draining, or following when nothing is held.
func (m *machine) leave() {
	d := m.drain
	m.drain, m.due = drain{}, due{}
	if m.ask == askStop {
		m.enter(StateStopped)
		m.do(action{kind: doStop, err: m.stopError(d)})
		return
	}
	if m.state != StateFollowing {
		m.enter(StateFollowing)
	}
	m.ask = askContend
	m.holdBack(d)
	m.schedule(opRead, m.now.mono)
}

func (m *machine) stopError(d drain) error {
	if d.late {
		return errors.Join(ErrDrainTimeout, m.stopErr)
	}
	return m.stopErr
}

// holdBack keeps a candidate that stepped down, or whose work failed, from taking the lock right back.
func (m *machine) holdBack(d drain) {
	switch d.reason {
	case events.ReasonResigned, events.ReasonCleared:
		m.notBefore = plus(m.now.mono, m.rules.coolDown)
	case events.ReasonWorkFailed:
		if m.term.ended-m.term.began > m.rules.lease {
			m.work.reset() // it worked for a while
		}
		m.notBefore = plus(m.now.mono, m.workPause(d.err))
		return
	case events.ReasonExpired, events.ReasonTaken, events.ReasonDeleted, events.ReasonStopped:
	}
	m.work.reset()
}

// workPause gives others time to take the lock from a candidate whose work fails: each that polls looks at least once in
// two retry periods.
func (m *machine) workPause(err error) time.Duration {
	pause, stop := m.work.next()
	if stop {
		m.stopErr = fmt.Errorf("elector: the backoff policy gave up after the work failed: %w", err)
		m.ask = askStop
	}
	return min(max(pause, 2*m.rules.retry), m.rules.lease)
}

// idle: the term is over and nothing more is to be written for it.
func (d *drain) idle() bool { return !d.keep && !d.releasing }
