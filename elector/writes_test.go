package elector

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/seed2c765205/elect"
	"github.com/seed2c765205/elect/events"
)

func TestARefusedWriteIsReadAgainAtOnceButDoesNotSpin(t *testing.T) {
	r := leading(t)
	r.tickAt(5 * time.Second)
	r.drain()
	r.fails(ErrConflict)
	r.want("error(write conflict) read")
	edited := r.own()
	edited.LeaseDuration = time.Hour // an administrator's edit
	r.read(r.snap(edited), nil)
	r.want("write(me)")
	r.fails(ErrConflict)
	r.want("error(write conflict)")
	if d := r.m.due.at - r.now.mono; r.m.due.op != opRead || d < 800*time.Millisecond || d > 1200*time.Millisecond {
		t.Errorf("after a second conflict in a row, call %v is due in %v; want a read after the policy's second ±20 %%", r.m.due.op, d)
	}
}

func TestARejectedWriteBacksOffWithoutARead(t *testing.T) {
	r := leading(t)
	r.tickAt(5 * time.Second)
	r.fails(errRejected)
	r.drain()
	r.tickTo(opRenew)
	r.want("write(me)")
}

func TestAWriteOfUnknownOutcomeIsReadAndAdoptedFromItsSend(t *testing.T) {
	r := leading(t)
	r.tickAt(5 * time.Second)
	written := r.lastWrite()
	r.wait(time.Second)
	r.fails(errUnknown)
	r.tickTo(opRead)
	r.drain()
	r.read(r.snap(written), nil)
	r.want("extend")
	if got := r.m.term.trust.mono; got != 5*time.Second {
		t.Errorf("trust counts from %v, want from the send at 5s", got)
	}
}

func TestALostAnswerToAnAcquisitionBeginsTheTermFromItsSend(t *testing.T) {
	r := follower(t)
	r.read(Snapshot{}, ErrNotFound)
	written := r.lastWrite()
	r.wait(2 * time.Second)
	r.fails(errUnknown)
	r.tickTo(opRead)
	r.drain()
	r.read(r.snap(written), nil)
	r.want("begin(free) leader(me)")
	if got := r.m.term.trust.mono; got != 0 {
		t.Errorf("trust counts from %v, want from the send at 0", got)
	}
}

// A create that hangs through a whole term, and is stored after the object was deleted, is older than that term.
func TestAnAcquisitionFromBeforeTheLastTermBeginsNone(t *testing.T) {
	r := follower(t)
	r.read(Snapshot{}, ErrNotFound)
	hung := r.lastWrite()
	r.tickNext() // its time is over
	r.tickTo(opRead)
	r.read(Snapshot{}, ErrNotFound)
	r.applied()
	r.wantState(StateLeading)
	r.take(r.m.workEnded(r.now, events.ReasonWorkFailed, errUnknown))
	r.take(r.m.holds(r.now, false))
	r.read(Snapshot{}, ErrNotFound) // deleted
	r.drain()
	r.tickTo(opRead)
	r.read(r.snap(hung), nil)
	r.wantState(StateFollowing)
	if r.m.view.free != 0 {
		t.Errorf("it counts as %v, want held like a stranger's", r.m.view.free)
	}
}

func TestOfSeveralUnresolvedWritesTheStoredOneIsFound(t *testing.T) {
	r := leading(t)
	r.tickAt(4 * time.Second)
	var sentAt []time.Duration
	var written []Record
	for len(written) < 3 && r.m.state == StateLeading {
		switch r.m.call.op {
		case opRenew:
			sentAt, written = append(sentAt, r.now.mono), append(written, r.lastWrite())
			r.fails(errUnknown)
		case opRead:
			r.read(r.snap(r.m.writes.confirmed.record), nil) // none of them is stored yet
		default:
			r.tickNext()
		}
	}
	r.tickTo(opRead)
	r.drain()
	r.m.writes.open = nil // what a read settled is gone; put the case back that all three may be stored
	for i := range written {
		r.m.writes.add(sent{record: written[i], prev: "1", at: instant{mono: sentAt[i], wall: epoch.Add(sentAt[i])}})
	}
	r.read(r.snap(written[1]), nil)
	r.want("extend")
	if got := r.m.term.trust.mono; got != sentAt[1] {
		t.Errorf("trust counts from %v, want from the send of the stored write at %v", got, sentAt[1])
	}
}

func TestOfIdenticalUnresolvedWritesTheEarliestCounts(t *testing.T) {
	w := newWrites()
	rec := Record{Holder: "me", RenewTime: epoch}
	w.add(sent{record: rec, at: instant{mono: 1}})
	w.add(sent{record: rec, at: instant{mono: 2}})
	if s, open, ok := w.find(rec); !ok || !open || s.at.mono != 1 {
		t.Errorf("found %+v (open %v, ok %v), want the write sent at 1", s, open, ok)
	}
}

func TestWithoutAMarkARefusedWriteIsNotAdopted(t *testing.T) {
	rec := Record{Holder: "me", RenewTime: epoch, Mark: "m"}
	stored := rec
	stored.Mark = "" // a lock that cannot keep it
	for refused, want := range map[bool]bool{true: false, false: true} {
		w := newWrites()
		w.add(sent{record: rec})
		if refused {
			w.refuse("m")
		}
		if _, _, ok := w.find(stored); ok != want {
			t.Errorf("refused %v: adopted %v, want %v", refused, ok, want)
		}
	}
}

func TestMineIsHolderTimesAndMark(t *testing.T) {
	rec := Record{Holder: "me", AcquireTime: epoch, RenewTime: epoch.Add(time.Second), Mark: "m", LeaseDuration: time.Second}
	for name, c := range map[string]struct {
		edit func(*Record)
		want bool
	}{
		"as written":        {func(*Record) {}, true},
		"duration edited":   {func(r *Record) { r.LeaseDuration = time.Hour }, true},
		"transitions reset": {func(r *Record) { r.Transitions = 9 }, true},
		"holder":            {func(r *Record) { r.Holder = "other" }, false},
		"acquireTime":       {func(r *Record) { r.AcquireTime = epoch.Add(1) }, false},
		"renewTime":         {func(r *Record) { r.RenewTime = epoch }, false},
		"mark":              {func(r *Record) { r.Mark = "n" }, false},
	} {
		w := newWrites()
		w.confirm(sent{record: rec})
		stored := rec
		c.edit(&stored)
		if _, _, ok := w.find(stored); ok != c.want {
			t.Errorf("%s: mine %v, want %v", name, ok, c.want)
		}
	}
}

func TestALeaderGoesOnOverAnEditAndWritesItsOwnValues(t *testing.T) {
	r := leading(t)
	r.tickAt(5 * time.Second)
	r.fails(ErrConflict)
	edited := r.own()
	edited.LeaseDuration = time.Hour
	s := r.snap(edited)
	r.read(s, nil)
	w := r.writes[len(r.writes)-1]
	if w.snap.Version != s.Version || w.record.LeaseDuration != 15*time.Second {
		t.Errorf("it wrote %+v over version %q, want its own values over %q", w.record, w.snap.Version, s.Version)
	}
	r.wantState(StateLeading)
}

func TestAFormerRunIsWaitedOutLikeAStranger(t *testing.T) {
	r := follower(t)
	former := r.snap(Record{Holder: "me", LeaseDuration: 15 * time.Second, RenewTime: epoch.Add(-time.Hour)})
	if got := r.freeAfter(former); got != 15*time.Second {
		t.Errorf("it is free after %v, want 15s", got)
	}
	if n := countIn(r.drain(), "duplicate"); n != 0 {
		t.Errorf("a record that does not change was reported as a twin %d times", n)
	}
}

func TestReclaimTakesAFormerRunAtOnce(t *testing.T) {
	r := follower(t, func(c *Config) { c.Reclaim = true })
	r.read(r.snap(Record{Holder: "me", LeaseDuration: 15 * time.Second, RenewTime: epoch}), nil)
	r.applied()
	r.want("write(me) begin(reclaimed) leader(me)")
}

func TestATwinIsReportedWhenItsRecordChanges(t *testing.T) {
	r := follower(t)
	twin := func() Snapshot {
		return r.snap(Record{Holder: "me", LeaseDuration: 15 * time.Second, RenewTime: r.now.wall, Mark: "twin"})
	}
	r.read(twin(), nil)
	r.want("leader(me)")
	r.tickTo(opRead)
	r.drain()
	r.read(twin(), nil)
	r.want("error(read duplicate)")
	r.wantState(StateFollowing)
}

func TestATwinThatReplacesTheRecordEndsTheTermAsTaken(t *testing.T) {
	r := leading(t)
	r.tickAt(5 * time.Second)
	r.fails(ErrConflict)
	twin := r.own()
	twin.RenewTime, twin.Mark = twin.RenewTime.Add(time.Second), "twin"
	r.read(r.snap(twin), nil)
	r.want("write(me) error(write conflict) read error(read duplicate) end(taken)")
}

func TestALateAnswerIsEvidenceOnly(t *testing.T) {
	r := leading(t)
	r.tickAt(5 * time.Second)
	written := r.lastWrite()
	r.tickNext() // a look at the wall hand, or the end of the attempt
	for r.m.call.id != 0 {
		r.tickNext()
	}
	r.drain()
	s := r.snap(written)
	r.late(s, nil)
	r.want("read")
	if got := r.m.term.trust.mono; got != 0 {
		t.Errorf("trust counts from %v after the late answer alone, want from 0 as before", got)
	}
	r.read(s, nil)
	r.want("extend")
	if got := r.m.term.trust.mono; got != 5*time.Second {
		t.Errorf("trust counts from %v, want from the send at 5s", got)
	}
}

func TestUnresolvedWritesStayBounded(t *testing.T) {
	w := newWrites()
	for i := range 1000 {
		w.add(sent{at: instant{mono: time.Duration(i)}})
	}
	if len(w.open) != maxOpen || w.open[0].at.mono != 1000-maxOpen {
		t.Errorf("%d are kept from %v on, want the last %d", len(w.open), w.open[0].at.mono, maxOpen)
	}
}

func TestTheBackoffIsCappedByTheRetryPeriodWhileLeadingAndByTheLeaseOtherwise(t *testing.T) {
	hour := func(r *rig) { r.m.pace.policy = elect.Constant(time.Hour) }
	r := leading(t)
	hour(r)
	r.tickAt(5 * time.Second)
	r.fails(errRejected)
	if got := r.m.due.at - r.now.mono; got != 2*time.Second {
		t.Errorf("the leader tries again in %v, want the retry period", got)
	}
	r = follower(t)
	hour(r)
	r.read(Snapshot{}, errUnknown)
	if got := r.m.due.at; got != 15*time.Second {
		t.Errorf("the follower tries again in %v, want the lease duration", got)
	}
}

func TestALeaderTriesAgainWhileTrustLasts(t *testing.T) {
	r := leading(t)
	r.m.pace.policy = elect.Constant(time.Hour)
	r.tickAt(5 * time.Second)
	var tries int
	for r.m.state == StateLeading {
		if r.m.call.id != 0 {
			tries++
			r.fails(errRejected)
		}
		r.tickNext()
	}
	if tries < 8 {
		t.Errorf("it tried %d times in its last 5 s, want once more in each half of what is left", tries)
	}
}

func TestAPolicyThatGivesUpStopsAFollowerButNotALeader(t *testing.T) {
	stop := func(r *rig) {
		r.m.pace.policy = func() backoff.BackOff { return &backoff.StopBackOff{} }
	}
	r := leading(t)
	stop(r)
	r.tickAt(5 * time.Second)
	r.fails(errRejected)
	if got := r.m.due.at - r.now.mono; r.m.state != StateLeading || got != 2*time.Second {
		t.Errorf("the leader is %v and tries again in %v, want leading and the cap", r.m.state, got)
	}
	r = follower(t)
	stop(r)
	r.read(Snapshot{}, errUnknown)
	r.wantState(StateStopped)
	if err := r.m.stopErr; !errors.Is(err, errUnknown) {
		t.Errorf("it stops with %v, want the last failure wrapped", err)
	}
}

func TestAPolicyThatAnswersZeroDoesNotSpin(t *testing.T) {
	r := follower(t)
	r.m.pace.policy = func() backoff.BackOff { return &backoff.ZeroBackOff{} }
	r.read(Snapshot{}, errUnknown)
	if got := r.m.due.at; got != minPause {
		t.Errorf("it tries again in %v, want %v", got, minPause)
	}
}

func TestJitterIsNotFedBack(t *testing.T) {
	r := newRig(t)
	r.m.pace.policy = elect.Exponential(time.Second, 100*time.Hour)
	for i := range 10 {
		d, _ := r.m.pace.next()
		base := time.Second << i
		if d < base*8/10 || d > base*12/10 {
			t.Errorf("pause %d is %v, want %v ±20 %%", i, d, base)
		}
	}
}

func TestOutcomesAndClasses(t *testing.T) {
	decode := &DecodeError{Source: "lease", Err: errUnknown}
	for _, c := range []struct {
		err     error
		outcome outcome
		class   events.Class
	}{
		{ErrConflict, refused, events.ClassConflict},
		{errRejected, rejected, events.ClassForbidden},
		{&CallError{Class: events.ClassTimeout, Err: errUnknown}, unknown, events.ClassTimeout},
		{decode, unknown, events.ClassDecode},
		{&CallError{Err: decode}, unknown, events.ClassDecode},
		{ErrNotFound, unknown, events.ClassNotFound},
		{context.DeadlineExceeded, unknown, events.ClassTimeout},
		{context.Canceled, unknown, events.ClassCanceled},
		{&PanicError{Value: "x"}, unknown, events.ClassInternal},
		{errUnknown, unknown, events.ClassUnavailable},
	} {
		if o, _ := outcomeOf("1", Snapshot{}, c.err); o != c.outcome {
			t.Errorf("%v: outcome %v, want %v", c.err, o, c.outcome)
		}
		if got := classOf(c.err); got != c.class {
			t.Errorf("%v: class %v, want %v", c.err, got, c.class)
		}
	}
}
