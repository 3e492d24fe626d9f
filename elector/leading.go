package elector

import (
	"time"

	"github.com/seed2c765205/elect/events"
)

// extend: a renewal is stored, while the term is on or winds down.
func (m *machine) extend(s Snapshot, w sent) {
	m.term.trust = w.at
	m.view.own(m.now.mono, s)
	m.do(action{kind: doExtend, sent: w.at, roundTrip: m.now.mono - w.at.mono})
	m.schedule(opRenew, max(plus(w.at.mono, m.rules.period), m.now.mono))
}

// leadAgainst holds the term against a state that was read: after a conflict, or a write of unknown fate.
func (m *machine) leadAgainst(s Snapshot) {
	if w, open, ok := m.findOwn(s); ok {
		m.stillOwn(w, open, s)
		return
	}
	m.writes.settle(s.Version)
	switch {
	case s.empty() || s.Damage != nil:
		// Nobody took it: make it again, while trust lasts.
		m.view.snap = s
		m.schedule(opRenew, m.now.mono)
	case s.Record.Holder == "":
		m.endTerm(events.ReasonCleared, "", nil, m.now.wall)
	case s.Record.Holder == m.rules.identity:
		m.twin()
		m.endTerm(events.ReasonTaken, s.Record.Holder, errTwin, m.now.wall)
		m.followAfterLoss(s)
	default:
		m.endTerm(events.ReasonTaken, s.Record.Holder, nil, m.now.wall)
		m.followAfterLoss(s)
	}
}

// stillOwn: the stored record is this term's, by a write whose answer was lost if it was open.
func (m *machine) stillOwn(w sent, open bool, s Snapshot) {
	if !open {
		m.view.own(m.now.mono, s)
		m.schedule(opRenew, m.now.mono)
		return
	}
	m.writes.confirm(w)
	m.succeed()
	m.extend(s, w)
	if s.Record.LeaseDuration != m.rules.lease {
		m.schedule(opRenew, m.now.mono) // somebody edited it
	}
}

// followAfterLoss takes in the record that ended the term.
func (m *machine) followAfterLoss(s Snapshot) {
	m.view.look(m.now.mono, s)
	m.noteLeader()
}

// expire ends the term because trust ran out.
func (m *machine) expire() {
	reason := events.ReasonExpired
	if m.view.snap.empty() {
		reason = events.ReasonDeleted
	}
	at := m.term.trust.wall.Add(m.rules.deadline)
	m.endTerm(reason, "", m.fails.err, at)
	m.lead("", time.Time{}, m.term.transitions)
}

// endTerm is the only way out of leading.
func (m *machine) endTerm(reason events.Reason, holder string, err error, at time.Time) {
	m.enter(StateDraining)
	m.term.ended = m.now.mono
	m.do(action{kind: doEnd, reason: reason, to: holder, err: err, at: at})
	m.drain = newDrain(reason, err, m.now.mono)
	if !m.drain.keep || reason == events.ReasonCleared {
		m.due = due{}
	}
}
