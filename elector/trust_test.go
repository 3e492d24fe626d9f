package elector

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/seed2c765205/elect/events"
)

func (r *rig) want(did string) {
	r.t.Helper()
	if got := r.drain(); got != did {
		r.t.Errorf("at %v the machine did %q, want %q", r.now.mono, got, did)
	}
}

func (r *rig) wantState(s State) {
	r.t.Helper()
	if r.m.state != s {
		r.t.Errorf("at %v the machine is %v, want %v", r.now.mono, r.m.state, s)
	}
}

// tickAt lets d pass and ticks.
func (r *rig) tickAt(d time.Duration) {
	r.wait(d)
	r.take(r.m.tick(r.now))
}

func leading(t *testing.T, change ...func(*Config)) *rig {
	r := newRig(t, change...)
	reachLeading(r)
	r.drain()
	return r
}

func TestTrustIsCountedFromTheSend(t *testing.T) {
	r := leading(t)
	r.tickAt(5 * time.Second) // the renewal is sent at 5 s
	r.wait(1500 * time.Millisecond)
	r.applied()
	r.want("write(me) extend")
	r.tickAt(3500 * time.Millisecond) // 10 s: the next renewal is sent, and refused to the end
	for range 100 {
		if r.m.state != StateLeading {
			break
		}
		if r.m.call.op == opRead {
			r.read(Snapshot{}, errUnknown)
		} else if r.m.call.id != 0 {
			r.fails(errUnknown)
		}
		r.tickNext()
	}
	if want := 15 * time.Second; r.now.mono != want {
		t.Errorf("the term ended at %v, want %v: 10 s after the send of the last applied write, not after its answer", r.now.mono, want)
	}
}

func TestAnAnswerAtTheEndOfTrustExtendsNothing(t *testing.T) {
	for _, late := range []time.Duration{0, time.Nanosecond, time.Minute} {
		r := leading(t, func(c *Config) { c.RenewPeriod = 6 * time.Second })
		r.tickAt(6 * time.Second)
		r.m.call.until = never // as if the attempt were not bounded
		r.drain()
		r.wait(4*time.Second + late)
		r.applied()
		if got := r.drain(); got != "end(expired) leader()" && got != "end(expired) leader() extend" {
			t.Errorf("an answer %v after the end of trust did %q", late, got)
		}
		r.wantState(StateDraining)
	}
}

func TestAnAnswerAtTheEndOfTrustAcquiresNothing(t *testing.T) {
	r := newRig(t)
	r.take(r.m.start(r.now))
	r.read(Snapshot{}, ErrNotFound)
	r.m.call.until = never
	r.drain()
	r.wait(10 * time.Second)
	r.applied()
	r.want("write(me)") // its own record is free to it, by a new write
	r.wait(time.Second)
	r.applied()
	r.want("begin(reclaimed) leader(me)")
}

func TestATermBeginsOnlyWithAWriteSentAfterThePreviousEnded(t *testing.T) {
	r := leading(t)
	r.tickAt(5 * time.Second)
	r.m.call.until = never
	written := r.lastWrite()
	r.wait(5 * time.Second) // the renewal sent at 5 s is still out when trust ends at 10 s
	r.take(r.m.tick(r.now))
	r.take(r.m.holds(r.now, false))
	r.fails(errUnknown)
	r.drain()
	r.tickTo(opRead)
	r.drain()
	r.read(r.snap(written), nil) // stored after all, and trusted until 15 s if it were a term's
	r.want("write(me)")
	r.wantState(StateAcquiring)
}

func TestTheLeaderCountsTheLargerOfTheTwoHands(t *testing.T) {
	t.Run("a wall jump ahead ends the term at the next wake-up, within a retry period", func(t *testing.T) {
		r := leading(t)
		r.now.wall = r.now.wall.Add(10 * time.Second)
		if next := r.m.next(); next > 2*time.Second {
			t.Errorf("the next wake-up is in %v, want at most the retry period", next)
		}
		r.tickNext()
		r.want("end(expired) leader()")
	})
	t.Run("a suspend ends the term, although the monotonic hand stood still", func(t *testing.T) {
		r := leading(t)
		r.now.wall = r.now.wall.Add(time.Hour)
		r.take(r.m.tick(r.now))
		r.want("end(expired) leader()")
	})
	t.Run("a wall jump back extends nothing", func(t *testing.T) {
		r := leading(t)
		r.now.wall = r.now.wall.Add(-time.Hour)
		r.now.mono += 10 * time.Second
		r.take(r.m.tick(r.now))
		if r.m.state != StateDraining {
			t.Errorf("the machine is %v 10 s after its last write", r.m.state)
		}
	})
}

func TestTheFollowerCountsTheMonotonicHandOnly(t *testing.T) {
	r := newRig(t)
	r.take(r.m.start(r.now))
	s := r.foreign()
	r.read(s, nil)
	r.now.wall = r.now.wall.Add(time.Hour)
	for r.now.mono < 15*time.Second {
		r.tickNext()
		if r.m.call.op == opRead {
			r.read(s, nil)
		}
		if r.now.mono < 15*time.Second && r.m.view.free != 0 {
			t.Fatalf("the record counts as %v at %v", r.m.view.free, r.now.mono)
		}
	}
	if r.now.mono != 15*time.Second || r.m.view.free != events.HowExpired {
		t.Errorf("at %v the record counts as %v, want expired at exactly 15s", r.now.mono, r.m.view.free)
	}
}

func TestTheEndOfTrustIsADeadlineOfItsOwn(t *testing.T) {
	r := leading(t)
	r.tickAt(5 * time.Second)
	r.m.call.until = never // a call that hangs for ever
	if next := r.m.next(); next != 7*time.Second {
		t.Errorf("with a call in flight the next deadline is %v, want a look at the wall hand at 7s", next)
	}
	r.tickAt(4*time.Second + 999*time.Millisecond)
	if next := r.m.next(); next != 10*time.Second {
		t.Errorf("the next deadline is %v, want the end of trust at 10s", next)
	}
	r.drain()
	r.tickNext()
	r.want("end(expired) leader()")
}

func TestAttemptsAreBoundedByAThirdOfTheTrustLeft(t *testing.T) {
	r := newRig(t)
	r.take(r.m.start(r.now))
	if got, want := r.m.call.until, 10*time.Second/3; got != want {
		t.Errorf("a follower's attempt ends at %v, want %v", got, want)
	}
	r = leading(t)
	r.tickAt(5 * time.Second)
	if got, want := r.m.call.until-r.now.mono, 5*time.Second/3; got != want {
		t.Errorf("an attempt with 5 s of trust left lasts %v, want %v", got, want)
	}
	r.m.term.trust.mono -= 4900 * time.Millisecond
	r.m.call = call{}
	r.m.schedule(opRenew, r.now.mono)
	r.take(r.m.tick(r.now))
	if got := r.m.call.until - r.now.mono; got != minAttempt {
		t.Errorf("an attempt with 100 ms of trust left lasts %v, want %v", got, minAttempt)
	}
}

func TestAtLeastThreeSlowAttemptsFitIntoTheTrust(t *testing.T) {
	r := leading(t)
	for r.m.state == StateLeading {
		r.tickNext()
	}
	if n := len(r.cancels); n < 3 {
		t.Errorf("%d attempts that never answered fitted into the trust, want at least 3", n)
	}
}

func TestAtMostFourAbandonedCallsExist(t *testing.T) {
	r := newRig(t)
	r.take(r.m.start(r.now))
	for r.now.mono < time.Minute {
		r.tickNext()
	}
	if n := len(r.m.hung); n != 4 {
		t.Fatalf("%d calls were abandoned, want 4", n)
	}
	r.drain()
	var said []time.Duration
	for range 3 {
		r.tickNext()
		said = append(said, r.now.mono)
		r.want("error(read timeout)")
	}
	if d := said[2] - said[1]; d != 2*time.Second {
		t.Errorf("it says so every %v, want every retry period", d)
	}
	r.take(r.m.readAnswer(r.now, r.m.hung[0].id, Snapshot{}, errUnknown))
	r.tickNext()
	r.want("read")
}

func TestEveryWriteChangesTheRecord(t *testing.T) {
	r := leading(t)
	before := r.lastWrite().RenewTime
	r.now.mono += 5 * time.Second // the wall hand stands still
	r.take(r.m.tick(r.now))
	if got, want := r.lastWrite().RenewTime, before.Add(time.Microsecond); !got.Equal(want) {
		t.Errorf("with a still wall clock renewTime is %v, want %v", got, want)
	}
	r.applied()
	r.now.mono += 5 * time.Second
	r.now.wall = r.now.wall.Add(-time.Hour)
	before = r.lastWrite().RenewTime
	r.take(r.m.tick(r.now))
	if got, want := r.lastWrite().RenewTime, before.Add(time.Microsecond); !got.Equal(want) {
		t.Errorf("after a wall jump back renewTime is %v, want %v", got, want)
	}
}

func TestRenewTimeMovesByTheResolutionOfTheLock(t *testing.T) {
	r := newRig(t)
	r.m.rules.resolution = time.Second
	r.now.wall = r.now.wall.Add(700 * time.Millisecond)
	reachLeading(r)
	if got := r.lastWrite().RenewTime; !got.Equal(epoch) {
		t.Errorf("renewTime is %v, want the whole second %v", got, epoch)
	}
	r.now.mono += 5 * time.Second
	r.take(r.m.tick(r.now))
	if got, want := r.lastWrite().RenewTime, epoch.Add(time.Second); !got.Equal(want) {
		t.Errorf("renewTime is %v, want %v", got, want)
	}
}

func TestRenewTimeStaysWritableAfterAnAbsurdOne(t *testing.T) {
	r := newRig(t)
	r.take(r.m.start(r.now))
	r.read(r.snap(Record{RenewTime: time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC)}), nil)
	if got := r.lastWrite().RenewTime; !got.Equal(epoch) {
		t.Errorf("renewTime is %v, want now", got)
	}
}

func TestASuccessWithoutANewVersionIsUnknown(t *testing.T) {
	r := leading(t)
	r.tickAt(5 * time.Second)
	r.drain()
	r.take(r.m.writeAnswer(r.now, r.m.call.id, r.m.view.snap, nil))
	r.want("error(write unavailable)")
	if got := r.m.due.op; got != opRead {
		t.Errorf("next is %v, want a read", got)
	}
	if got := r.m.trustLeft(); got != 5*time.Second {
		t.Errorf("trust left is %v, want 5s as before", got)
	}
}

func TestPlusSaturates(t *testing.T) {
	if got := plus(time.Hour, math.MaxInt64); got != math.MaxInt64 {
		t.Errorf("plus is %v, want the largest duration", got)
	}
}

func TestRetryAfterIsHonouredWithinTheTrustThatIsLeft(t *testing.T) {
	throttled := func(d time.Duration) error {
		return &CallError{Class: events.ClassThrottled, RetryAfter: d, NotApplied: true, Err: errors.New("429")}
	}
	for _, c := range []struct{ asked, want time.Duration }{
		{3 * time.Second, 3 * time.Second},
		{time.Hour, 5 * time.Second}, // the trust that is left
	} {
		r := leading(t)
		r.tickAt(5 * time.Second)
		r.fails(throttled(c.asked))
		if got := r.m.due.at - r.now.mono; got != c.want {
			t.Errorf("asked for %v, the leader tries again in %v, want %v", c.asked, got, c.want)
		}
	}
	r := newRig(t)
	r.take(r.m.start(r.now))
	r.read(Snapshot{}, throttled(time.Hour))
	if got := r.m.due.at; got != 15*time.Second {
		t.Errorf("asked for an hour, the follower tries again in %v, want a lease duration", got)
	}
}
