package elector

import (
	"context"
	"errors"
	"time"

	"k8s.io/utils/clock"

	"github.com/seed2c765205/elect/events"
)

// Step drives the elector from a loop of the caller's, instead of Run. It lets time pass, makes at most one lock call,
// lets time pass again, and returns when it wants to be called next, on the wall clock; earlier and later calls do no
// harm, but a term whose renewal comes too late ends. The zero time means that there is nothing more to do: after ctx
// has ended or Close was called, further calls wind the term down, release the lease, and come to that end. So does an
// elector that Run drives, at once. Calls of Step exclude each other.
//
// Step starts no goroutine. The lock call runs on the caller's: its context ends, by the injected clock, when a third of
// the trust that is left has passed, and a lock that ignores that blocks the caller. The term's context ends on time
// all the same, by the clock's AfterFunc; its Lost is queued by the next Step.
//
// Events are handed to the channel of Events during Step, as long as its buffer of 256 has room. For that, call Events
// after the first Step; if it was called before, a goroutine serves it. The Logger is called during Step.
func (e *Elector) Step(ctx context.Context) (next time.Time) {
	ctx = orBackground(ctx)
	e.stepping.Lock()
	defer e.stepping.Unlock()
	if e.stepper == nil && !e.beginSteps(ctx) {
		return time.Time{}
	}
	return e.stepper.step(ctx)
}

func (e *Elector) beginSteps(ctx context.Context) bool {
	if e.claim() != nil {
		return false
	}
	e.mu.Lock()
	e.byStep = true
	e.mu.Unlock()
	e.hub.ByHand()
	e.stepper = newStepper(e, ctx)
	return true
}

// stepper drives the machine on the caller's goroutine, for Step.
type stepper struct {
	driver
	begun    bool
	stopping bool
	due      *action     // the call that the machine counts as in flight; nil: none
	unsent   *action     // a call whose time was over before it was made
	alarm    clock.Timer // ends the term's context when trust runs out
}

func newStepper(e *Elector, ctx context.Context) *stepper {
	s := &stepper{}
	s.driver = newDriver(e, ctx, s)
	s.log = e.logLine()
	return s
}

func (s *stepper) step(ctx context.Context) (next time.Time) {
	if s.stopped {
		return time.Time{}
	}
	defer s.elector.hub.Flush()
	defer func() {
		if v := recover(); v != nil {
			s.err = s.fall(v)
			s.stopped = true
			s.finish()
			next = time.Time{}
		}
	}()
	s.passTime(ctx)
	s.makeCall()
	s.watchTrust()
	if s.stopped {
		s.finish()
		return time.Time{}
	}
	return s.next()
}

// passTime applies what has happened since the last step.
func (s *stepper) passTime(ctx context.Context) {
	if !s.begun {
		s.begun = true
		s.apply(s.m.start(s.now()))
	}
	s.read(s.elector.inbox.take())
	if ctx.Err() != nil && !s.stopping {
		s.stopping = true
		s.apply(s.m.stop(s.now()))
	} else {
		s.apply(s.m.tick(s.now()))
	}
	s.settleUnsent()
}

// call notes what the machine wants to be called.
func (s *stepper) call(a *action) {
	due := *a // the machine uses its list again
	s.due = &due
}

// cancelCall drops a call that was not made in time. One that is being made is cancelled by its own timer.
func (s *stepper) cancelCall(id int, _ error) {
	if s.due != nil && s.due.call == id {
		s.due, s.unsent = nil, s.due
	}
}

var errUnsent = &CallError{Class: events.ClassTimeout, NotApplied: true, Err: errors.New("elector: Step came too late for the call")}

// settleUnsent tells the machine that an abandoned call was never made.
func (s *stepper) settleUnsent() {
	if a := s.unsent; a != nil {
		s.unsent = nil
		s.answer(a, Snapshot{}, errUnsent)
	}
}

func (s *stepper) answer(a *action, snap Snapshot, err error) {
	if a.kind == doWrite {
		s.apply(s.m.writeAnswer(s.now(), a.call, snap, err))
	} else {
		s.apply(s.m.readAnswer(s.now(), a.call, snap, err))
	}
}

// makeCall makes the one lock call of this step, bounded on the injected clock.
func (s *stepper) makeCall() {
	a := s.due
	if a == nil || s.stopped {
		return
	}
	s.due = nil
	ctx, cancel := context.WithCancelCause(s.base)
	defer cancel(nil)
	left := max(s.m.call.until-s.now().mono, 0)
	timer := s.elector.config.Clock.AfterFunc(left, func() { cancel(context.DeadlineExceeded) })
	snap, err := callLock(ctx, s.elector.config.Lock, a)
	timer.Stop()
	s.answer(a, snap, err)
	s.settleUnsent()
}

// watchTrust sets the alarm for the end of trust. If it has rung already, just as the term was extended, the term ends.
func (s *stepper) watchTrust() {
	if s.alarm != nil {
		s.alarm.Stop()
		s.alarm = nil
	}
	if s.m.state != StateLeading {
		return
	}
	t := s.term
	if t.isOver() {
		s.apply(s.m.lapse(s.now()))
		return
	}
	left := s.m.trustLeft()
	s.alarm = s.elector.config.Clock.AfterFunc(left, func() { t.end(&LostError{Reason: events.ReasonExpired}) })
}

// next is when to call again: at once if a call waits, and soon if work is out, whose end only a step notices.
func (s *stepper) next() time.Time {
	at := s.m.next()
	switch {
	case s.due != nil:
		at = s.m.now.mono
	case s.m.state == StateDraining:
		at = min(at, plus(s.m.now.mono, s.m.rules.retry))
	}
	return s.m.now.wall.Add(at - s.m.now.mono)
}

func (s *stepper) finish() {
	s.hangUp()
	s.elector.release(s.err)
}
