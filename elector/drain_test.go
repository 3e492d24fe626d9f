package elector

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/seed2c765205/elect/events"
)

func TestAStopReleasesAfterTheWorkAndKeepsTheLeaseUntilThen(t *testing.T) {
	r := leading(t)
	r.tickAt(time.Second)
	r.take(r.m.stop(r.now))
	r.take(r.m.holds(r.now, true))
	r.want("end(stopped)")
	for r.now.mono < 25*time.Second { // longer than the lease
		r.tickNext()
		if r.m.call.op == opRenew {
			r.applied()
		}
	}
	r.want("write(me) extend write(me) extend write(me) extend write(me) extend write(me) extend")
	r.take(r.m.holds(r.now, false))
	r.want("read")
	r.read(r.m.view.snap, nil)
	released := r.lastWrite()
	if released.Holder != "" || released.LeaseDuration != time.Second || !released.AcquireTime.Equal(released.RenewTime) ||
		released.RenewTime.IsZero() {
		t.Errorf("the released form is %+v", released)
	}
	r.applied()
	r.want("write(nobody) leader() stop(<nil>)")
	r.wantState(StateStopped)
}

func TestAStopWaitsForTheWriteInFlightAndGivesBackWhatItStored(t *testing.T) {
	r := follower(t)
	r.read(Snapshot{}, ErrNotFound)
	r.take(r.m.stop(r.now))
	r.want("write(me)")
	r.wantState(StateAcquiring)
	r.applied()
	r.want("read") // and no term begins after a stop was asked for
	r.read(r.m.view.snap, nil)
	r.applied()
	r.want("write(nobody) stop(<nil>)")
}

func TestAStopReadsAfterAWriteOfUnknownOutcome(t *testing.T) {
	for name, c := range map[string]struct {
		stored func(r *rig, written Record) (Snapshot, error)
		want   string
	}{
		"stored":     {func(r *rig, w Record) (Snapshot, error) { return r.snap(w), nil }, "read write(nobody)"},
		"not stored": {func(*rig, Record) (Snapshot, error) { return Snapshot{}, ErrNotFound }, "read stop(<nil>)"},
		"another's":  {func(r *rig, _ Record) (Snapshot, error) { return r.foreign(), nil }, "read leader(other) stop(<nil>)"},
	} {
		t.Run(name, func(t *testing.T) {
			r := follower(t)
			r.read(Snapshot{}, ErrNotFound)
			written := r.lastWrite()
			r.take(r.m.stop(r.now))
			r.drain()
			r.fails(errUnknown)
			r.read(c.stored(r, written))
			r.want(c.want)
		})
	}
}

func TestAStopCancelsAReadThatNobodyNeeds(t *testing.T) {
	r := follower(t)
	r.take(r.m.stop(r.now))
	r.want("cancel")
	if got := r.cancels[0]; !errors.Is(got, context.Canceled) {
		t.Errorf("the read is cancelled because %v, want context.Canceled", got)
	}
	r.read(Snapshot{}, context.Canceled)
	r.want("stop(<nil>)")
}

func TestReleaseTouchesOnlyItsOwnRecord(t *testing.T) {
	r := newRig(t)
	reachReleasing(r)
	r.drain()
	r.read(r.foreign(), nil)
	r.want("leader(other) read") // no write
}

func TestReleaseRetriesConflictsAndLostAnswers(t *testing.T) {
	r := newRig(t)
	reachReleasing(r)
	own := r.own()
	r.read(r.snap(own), nil)
	r.drain()
	r.fails(ErrConflict) // a renewal that was given up is stored at last
	r.want("error(release conflict) read")
	s := r.snap(own)
	r.read(s, nil)
	if w := r.writes[len(r.writes)-1]; w.snap.Version != s.Version {
		t.Errorf("the release replaces version %q, want the one that was judged, %q", w.snap.Version, s.Version)
	}
	r.drain()
	released := r.lastWrite()
	r.fails(errUnknown)
	r.tickTo(opRead)
	r.drain()
	r.read(r.snap(released), nil) // it was stored
	r.want("leader() read")
	r.wantState(StateFollowing)
}

func TestReleaseIsGivenUpWhenTheLeaseRunsOutByItself(t *testing.T) {
	r := newRig(t)
	reachReleasing(r)
	for r.m.state == StateDraining {
		if r.m.call.id != 0 {
			r.read(Snapshot{}, errUnknown)
		}
		r.tickNext()
	}
	if r.now.mono != 10*time.Second {
		t.Errorf("it was given up at %v, want a renew deadline after it began", r.now.mono)
	}
	if n := countIn(r.drain(), "error(release timeout)"); n != 1 {
		t.Errorf("that was told %d times, want once", n)
	}
}

func TestAfterTheDrainTimeoutTheLeaseIsNotReleased(t *testing.T) {
	r := leading(t)
	r.take(r.m.stop(r.now))
	r.take(r.m.holds(r.now, true))
	r.drain()
	for r.m.state == StateDraining {
		r.tickNext()
		if r.m.call.op == opRenew {
			r.applied()
		}
	}
	if r.now.mono != 30*time.Second {
		t.Errorf("it stopped at %v, want 30s", r.now.mono)
	}
	if n := countIn(r.drain(), "write(nobody)"); n != 0 {
		t.Error("it released a lease whose work still runs")
	}
}

func TestANegativeDrainTimeoutWaitsForNothing(t *testing.T) {
	r := leading(t, func(c *Config) { c.DrainTimeout = -1 })
	r.take(r.m.stop(r.now))
	r.take(r.m.holds(r.now, true))
	r.wantState(StateStopped)
	if n := countIn(r.drain(), "write"); n != 0 {
		t.Error("it wrote although work is out")
	}
	r = leading(t, func(c *Config) { c.DrainTimeout = -1 })
	r.take(r.m.stop(r.now))
	r.take(r.m.holds(r.now, false))
	r.want("end(stopped) read")
}

func TestAnExpiredTermRenewsItsRecordWhileWorkIsOutAndRevivesNothing(t *testing.T) {
	r := leading(t)
	r.wait(10 * time.Second)
	r.take(r.m.tick(r.now))
	r.take(r.m.holds(r.now, true))
	r.want("end(expired) leader() write(me)")
	r.applied()
	r.tickTo(opRenew)
	r.applied()
	r.want("extend error(work draining) write(me) extend")
	r.wantState(StateDraining)
	r.take(r.m.holds(r.now, false))
	r.want("read")
	r.read(r.m.view.snap, nil)
	r.applied()
	r.want("write(me) begin(reclaimed) leader(me)") // a term of its own, by a new write
}

func TestATakenTermWritesNothingAndWaitsForItsWork(t *testing.T) {
	r := leading(t)
	r.tickAt(5 * time.Second)
	r.fails(ErrConflict)
	r.read(r.foreign(), nil)
	r.take(r.m.holds(r.now, true))
	r.drain()
	for range 20 {
		r.tickNext()
		if r.m.next() == never {
			break
		}
	}
	if did := r.drain(); countIn(did, "write") != 0 {
		t.Errorf("it did %q, want no write", did)
	}
	r.take(r.m.holds(r.now, false))
	r.want("read")
	r.wantState(StateFollowing)
}

func TestALeaseLostWhileDrainingIsOneErrorAndEndsTheRenewing(t *testing.T) {
	r := leading(t)
	r.take(r.m.resign(r.now))
	r.take(r.m.holds(r.now, true))
	r.tickTo(opRenew)
	r.fails(ErrConflict)
	r.drain()
	r.read(r.foreign(), nil)
	r.want("error(write conflict) leader(other)")
	r.take(r.m.tick(instant{mono: r.now.mono + time.Second, wall: r.now.wall.Add(time.Second)}))
	r.want("")
	r.take(r.m.holds(r.now, false))
	r.want("read") // as a follower: there is nothing to release
	r.wantState(StateFollowing)
}

func TestAResignedCandidateCoolsDown(t *testing.T) {
	resigned := func(t *testing.T) *rig {
		r := newRig(t)
		reachReleasing(r)
		r.read(r.m.view.snap, nil)
		r.applied()
		r.drain()
		return r
	}
	t.Run("for CoolDown", func(t *testing.T) {
		r := resigned(t)
		free := r.m.view.snap
		begin := r.now.mono
		for r.m.state == StateFollowing {
			if r.m.call.op == opRead {
				r.read(free, nil)
			}
			r.tickNext()
		}
		if d := r.now.mono - begin; d < 15*time.Second || d > 15*time.Second+maxStagger {
			t.Errorf("it contends after %v, want 15s", d)
		}
	})
	t.Run("until it has seen another holder", func(t *testing.T) {
		r := resigned(t)
		r.read(r.foreign(), nil)
		r.tickTo(opRead)
		begin := r.now.mono
		r.read(r.free(), nil)
		r.tickTo(opTake)
		if d := r.now.mono - begin; d >= maxStagger {
			t.Errorf("it contends after %v, want at once", d)
		}
	})
}

func TestFailedWorkIsReleasedAndHeldBack(t *testing.T) {
	r := leading(t)
	r.take(r.m.workEnded(r.now, events.ReasonWorkFailed, errUnknown))
	r.take(r.m.holds(r.now, false))
	r.read(r.m.view.snap, nil)
	r.applied()
	r.want("end(work failed) read write(nobody) leader() read")
	if got := r.m.notBefore - r.now.mono; got != 4*time.Second {
		t.Errorf("it contends again in %v, want the longer of the policy's pause and two retry periods", got)
	}
}

func TestAPolicyThatGivesUpAfterFailedWorkStops(t *testing.T) {
	r := leading(t)
	r.m.work.policy = func() backoff.BackOff { return &backoff.StopBackOff{} }
	r.take(r.m.workEnded(r.now, events.ReasonWorkFailed, errUnknown))
	r.take(r.m.holds(r.now, false))
	r.read(r.m.view.snap, nil)
	r.applied()
	if r.m.call.id != 0 {
		r.read(Snapshot{}, context.Canceled)
	}
	r.wantState(StateStopped)
	if !errors.Is(r.m.stopErr, errUnknown) {
		t.Errorf("it stops with %v, want the work's error wrapped", r.m.stopErr)
	}
}

func TestResignIsNothingToAFollower(t *testing.T) {
	r := follower(t)
	r.read(r.foreign(), nil)
	r.drain()
	r.take(r.m.resign(r.now))
	r.want("")
	r.wantState(StateFollowing)
}

func TestAnImpossibleStepIsAFaultThatEndsTheTerm(t *testing.T) {
	r := leading(t)
	r.m.out = nil
	r.m.enter(StateAcquiring)
	var did string
	for _, a := range r.m.out {
		did += r.m.describe(a) + " "
	}
	if want := "error(unknown internal) end(stopped) "; did != want {
		t.Errorf("the machine did %q, want %q", did, want)
	}
}

func TestARenewalAllocatesNothing(t *testing.T) {
	r := leading(t)
	s := r.m.view.snap
	n := testing.AllocsPerRun(1000, func() { renewOnce(r, &s) })
	if n != 0 {
		t.Errorf("a renewal allocates %v times", n)
	}
}

var versions = [2]string{"even", "odd"}

// renewOnce is one renewal, the tick that sends it and the answer that it is stored.
func renewOnce(r *rig, s *Snapshot) {
	r.wait(5 * time.Second)
	out := r.m.tick(r.now)
	s.Record = out[0].record
	if s.Version = versions[0]; r.m.view.snap.Version == versions[0] {
		s.Version = versions[1]
	}
	r.m.writeAnswer(r.now, r.m.call.id, *s, nil)
}

func BenchmarkMachineRenewal(b *testing.B) {
	r := newRig(b)
	reachLeading(r)
	s := r.m.view.snap
	b.ReportAllocs()
	for b.Loop() {
		renewOnce(r, &s)
	}
}
