package elector

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/seed2c765205/elect/events"
)

// follower is a rig that has started and awaits the answer to its first read.
func follower(t *testing.T, change ...func(*Config)) *rig {
	r := newRig(t, change...)
	r.take(r.m.start(r.now))
	r.drain()
	return r
}

// freeAfter feeds the same state to every read until the lock counts as free, and returns how long that took from now.
func (r *rig) freeAfter(s Snapshot) time.Duration {
	r.t.Helper()
	begin := r.now.mono
	for range 10000 {
		if r.m.call.op == opRead {
			r.read(s, nil)
		}
		if r.m.view.free != 0 {
			return r.now.mono - begin
		}
		r.tickNext()
	}
	r.t.Fatal("the lock is never free")
	return 0
}

func TestARecordIsExpiredWhenItsBytesHaveNotChangedForItsOwnDuration(t *testing.T) {
	for _, d := range []time.Duration{time.Second, 15 * time.Second, 59 * time.Second, 90 * time.Second, time.Hour} {
		r := follower(t)
		s := r.snap(Record{Holder: "other", LeaseDuration: d, RenewTime: epoch.Add(-24 * time.Hour)})
		if got := r.freeAfter(s); got != d {
			t.Errorf("a record that asks for %v is expired after %v", d, got)
		}
	}
}

func TestTimesInTheRecordExpireNothing(t *testing.T) {
	for _, at := range []time.Time{{}, epoch.Add(-time.Hour), epoch.Add(10 * time.Minute)} {
		r := follower(t)
		s := r.snap(Record{Holder: "other", LeaseDuration: 15 * time.Second, RenewTime: at, AcquireTime: at})
		if got := r.freeAfter(s); got != 15*time.Second {
			t.Errorf("with renewTime %v the record is expired after %v, want 15s", at, got)
		}
	}
}

func TestAnotherVersionOfTheSameBytesDelaysNoTakeOver(t *testing.T) {
	r := follower(t)
	s := r.foreign()
	for r.m.view.free == 0 {
		if r.m.call.op == opRead {
			r.version++
			s.Version = fmt.Sprint(r.version) // somebody edits labels
			r.read(s, nil)
		}
		if r.m.view.free == 0 {
			r.tickNext()
		}
	}
	if r.now.mono != 15*time.Second {
		t.Errorf("the record is expired after %v, want 15s", r.now.mono)
	}
}

func TestARenewalStartsTheWaitAgain(t *testing.T) {
	r := follower(t)
	r.read(r.foreign(), nil)
	r.tickTo(opRead)
	seen := r.now.mono
	if got := r.freeAfter(r.foreign()); seen+got != seen+15*time.Second {
		t.Errorf("after a renewal the record is expired after %v, want 15s", got)
	}
}

func TestADurationThatDoesNotSayIsNeverExpired(t *testing.T) {
	for _, d := range []time.Duration{0, -time.Second, math.MinInt64} {
		r := follower(t)
		if got := r.freeAfter(r.snap(Record{Holder: "other", LeaseDuration: d})); got != 15*time.Second {
			t.Errorf("a duration of %v is waited for %v, want the candidate's own 15s", d, got)
		}
		r = follower(t)
		r.read(r.snap(Record{Holder: "other", LeaseDuration: time.Minute}), nil)
		r.tickTo(opRead)
		s := r.snap(Record{Holder: "other", LeaseDuration: d, RenewTime: r.now.wall})
		if got := r.freeAfter(s); got != time.Minute {
			t.Errorf("after a record of 1m, a duration of %v is waited for %v, want 1m", d, got)
		}
	}
}

func TestMaxRecordDurationCapsTheWait(t *testing.T) {
	r := follower(t, func(c *Config) { c.MaxRecordDuration = time.Minute })
	if got := r.freeAfter(r.snap(Record{Holder: "other", LeaseDuration: math.MaxInt64})); got != time.Minute {
		t.Errorf("an absurd duration is waited for %v, want the cap of 1m", got)
	}
}

func TestDurationsSaturate(t *testing.T) {
	r := follower(t)
	r.wait(time.Second)
	r.read(r.snap(Record{Holder: "other", LeaseDuration: math.MaxInt64}), nil)
	if r.m.view.free != 0 || r.m.view.until != math.MaxInt64 {
		t.Errorf("the record is free (%v) until %v", r.m.view.free, r.m.view.until)
	}
}

// vanish are ways in which a live record goes without its holder having let go.
var vanish = []struct {
	name string
	how  func(r *rig, live Record) Snapshot
}{
	{"the object is deleted", func(*rig, Record) Snapshot { return Snapshot{} }},
	{"the annotation is gone", func(r *rig, _ Record) Snapshot {
		s := r.snap(Record{})
		s.Stamp = ""
		return s
	}},
	{"the holder is emptied", func(r *rig, live Record) Snapshot { live.Holder = ""; return r.snap(live) }},
	{"the duration is cut", func(r *rig, live Record) Snapshot { live.LeaseDuration = time.Second; return r.snap(live) }},
	{"another holder is written with a short duration", func(r *rig, live Record) Snapshot {
		live.Holder, live.LeaseDuration = "third", time.Second
		return r.snap(live)
	}},
	{"the holder is emptied and the duration cut", func(r *rig, live Record) Snapshot {
		live.Holder, live.LeaseDuration = "", time.Second
		return r.snap(live)
	}},
}

func TestGoneIsNotFree(t *testing.T) {
	for _, c := range vanish {
		t.Run(c.name, func(t *testing.T) {
			r := follower(t)
			live := r.foreign()
			r.read(live, nil)
			r.tickTo(opRead)
			seen := r.now.mono
			if got := seen + r.freeAfter(c.how(r, live.Record)); got != 15*time.Second {
				t.Errorf("the lock is free at %v, want when the record that was known runs out at 15s", got)
			}
		})
	}
}

// A renewal that went unseen before the record was emptied or cut by hand does not make it look like a release.
func TestGoneIsNotFreeAfterAnUnseenRenewal(t *testing.T) {
	for name, edit := range map[string]func(*Record){
		"emptied":             func(r *Record) { r.Holder = "" },
		"cut":                 func(r *Record) { r.LeaseDuration = time.Second },
		"emptied and cut":     func(r *Record) { r.Holder, r.LeaseDuration = "", time.Second },
		"emptied, no mark":    func(r *Record) { r.Holder, r.Mark = "", "" },
		"emptied, transition": func(r *Record) { r.Holder, r.Transitions = "", 7 },
	} {
		t.Run(name, func(t *testing.T) {
			r := follower(t)
			live := r.foreign()
			r.read(live, nil)
			r.tickTo(opRead)
			seen := r.now.mono
			rec := live.Record
			rec.RenewTime = rec.RenewTime.Add(time.Second)
			edit(&rec)
			if got := seen + r.freeAfter(r.snap(rec)); got != 15*time.Second {
				t.Errorf("the lock is free at %v, want 15s", got)
			}
		})
	}
}

// A follower that could not look for longer than a RenewPeriod may have missed any number of renewals.
func TestGoneIsNotFreeToACandidateThatWasBlind(t *testing.T) {
	for _, c := range vanish {
		t.Run(c.name, func(t *testing.T) {
			r := follower(t)
			live := r.foreign()
			r.read(live, nil)
			r.tickTo(opRead)
			r.wait(time.Minute)
			r.take(r.m.tick(r.now))
			r.tickTo(opRead)
			seen := r.now.mono
			rec := live.Record
			if got := r.freeAfter(c.how(r, rec)); got != 15*time.Second {
				t.Errorf("the lock is free %v after %v, want a whole lease duration", got, seen)
			}
		})
	}
}

func TestARealReleaseIsFreeAtOnce(t *testing.T) {
	for name, released := range map[string]Record{
		"renewTime changed": {RenewTime: epoch.Add(time.Second), LeaseDuration: time.Second},
		"renewTime absent":  {Transitions: 1, LeaseDuration: 30 * time.Second},
		"all absent":        {},
	} {
		t.Run(name, func(t *testing.T) {
			r := follower(t)
			r.read(r.foreign(), nil)
			r.tickTo(opRead)
			if got := r.freeAfter(r.snap(released)); got != 0 {
				t.Errorf("the lock is free after %v, want at once", got)
			}
			if r.m.view.free != events.HowReleased {
				t.Errorf("it counts as %v, want released", r.m.view.free)
			}
		})
	}
}

func TestAnythingThatNamesNobodyIsFreeAtFirstSight(t *testing.T) {
	for name, s := range map[string]Snapshot{
		"nothing":       {},
		"no annotation": {Version: "1"},
		"empty holder":  {Version: "1", Stamp: "{}", Record: Record{LeaseDuration: time.Hour, RenewTime: epoch}},
	} {
		r := follower(t)
		r.read(s, nil)
		r.want("write(me)")
		if r.m.bid.how != events.HowFree || r.m.bid.seen {
			t.Errorf("%s: won as %v, vacancy seen %v; want free, since when is not known", name, r.m.bid.how, r.m.bid.seen)
		}
	}
}

func TestAnExpiredRecordIsTakenWithinTheStaggerByOneWriteOverExactlyThatState(t *testing.T) {
	r := follower(t)
	s := r.foreign()
	r.freeAfter(s)
	r.drain()
	expired := r.now.mono
	r.tickTo(opTake)
	if d := r.now.mono - expired; d < 0 || d >= 40*time.Millisecond {
		t.Errorf("it is taken %v after its expiry, want within 40 ms", d)
	}
	w := r.writes[len(r.writes)-1]
	if w.snap.Version != s.Version {
		t.Errorf("the write replaces version %q, want the judged %q", w.snap.Version, s.Version)
	}
	if got := w.record; got.Holder != "me" || got.Transitions != 1 || got.LeaseDuration != 15*time.Second ||
		!got.AcquireTime.Equal(r.now.wall.Truncate(time.Microsecond)) || !got.RenewTime.Equal(got.AcquireTime) {
		t.Errorf("the write stores %+v", got)
	}
	r.applied()
	r.want("write(me) begin(expired) leader(me)")
}

func TestADamagedRecordIsHeldByAnUnknown(t *testing.T) {
	r := follower(t)
	if got := r.freeAfter(r.damaged()); got != 15*time.Second {
		t.Errorf("it is free after %v, want a lease duration from first sight", got)
	}
	r.tickTo(opTake)
	r.applied()
	if r.m.bid.how != events.HowRepaired {
		t.Errorf("it was won as %v, want repaired", r.m.bid.how)
	}
	if n := countIn(r.drain(), "error(read decode)"); n != 1 {
		t.Errorf("it was told of %d times, want once for the same bytes", n)
	}
}

func TestDamageThatIsDeletedIsWaitedOutAllTheSame(t *testing.T) {
	r := follower(t)
	r.read(r.damaged(), nil)
	r.tickTo(opRead)
	seen := r.now.mono
	if got := seen + r.freeAfter(Snapshot{}); got != 15*time.Second {
		t.Errorf("it is free at %v, want 15s", got)
	}
}

func TestDamageIsWaitedOutForTheLastDurationThatWasRead(t *testing.T) {
	r := follower(t)
	r.read(r.snap(Record{Holder: "other", LeaseDuration: time.Minute}), nil)
	r.tickTo(opRead)
	if got := r.freeAfter(r.damaged()); got != time.Minute {
		t.Errorf("it is free after %v, want 1m", got)
	}
}

func TestRewriteAtOnceTakesDamageAsMissing(t *testing.T) {
	r := follower(t, func(c *Config) { c.Corrupt = RewriteAtOnce })
	if got := r.freeAfter(r.damaged()); got != 0 {
		t.Errorf("it is free after %v, want at once", got)
	}
}

func TestALeaderRewritesADamagedRecordAtOnce(t *testing.T) {
	r := leading(t)
	r.tickAt(5 * time.Second)
	r.fails(ErrConflict)
	r.read(r.damaged(), nil)
	r.applied()
	r.want("write(me) error(write conflict) read error(read decode) write(me) extend")
}

func TestADeletedObjectIsMadeAgainWhileTrustLasts(t *testing.T) {
	r := leading(t)
	r.tickAt(5 * time.Second)
	r.fails(ErrConflict)
	r.read(Snapshot{}, ErrNotFound)
	if w := r.writes[len(r.writes)-1]; w.snap.Version != "" || w.record.Holder != "me" {
		t.Errorf("the leader wrote %+v over %q, want its own record as a create", w.record, w.snap.Version)
	}
	r.applied()
	r.want("write(me) error(write conflict) read write(me) extend")
}

func TestATermWhoseObjectStaysAwayEndsAsDeleted(t *testing.T) {
	r := leading(t)
	r.tickAt(5 * time.Second)
	r.fails(ErrConflict)
	r.read(Snapshot{}, ErrNotFound)
	for r.m.state == StateLeading {
		if r.m.call.id != 0 {
			r.fails(errRejected)
		}
		r.tickNext()
	}
	if got := r.m.drain.reason; got != events.ReasonDeleted || r.now.mono != 10*time.Second {
		t.Errorf("the term ended as %v at %v, want deleted at 10s", got, r.now.mono)
	}
}

func TestALeaderThatReadsAnotherHolderIsLostAtOnce(t *testing.T) {
	r := leading(t)
	r.tickAt(5 * time.Second)
	r.fails(ErrConflict)
	r.read(r.foreign(), nil)
	r.want("write(me) error(write conflict) read end(taken) leader(other)")
}

// The loser of a term knows the winner's record by what it says, though it last looked a renewal ago.
func TestTheLoserWaitsForTheWinnersRecordAsLongAsItSays(t *testing.T) {
	r := leading(t)
	r.tickAt(5 * time.Second)
	r.wait(time.Second)
	r.fails(ErrConflict)
	s := r.snap(Record{Holder: "other", LeaseDuration: 4 * time.Second, RenewTime: r.now.wall, AcquireTime: epoch})
	r.read(s, nil)
	r.take(r.m.holds(r.now, false))
	if got := r.freeAfter(s); got != 4*time.Second {
		t.Errorf("the winner's record is waited for %v, want 4s", got)
	}
}

func TestAClearedHolderIsARequestToLetGo(t *testing.T) {
	r := leading(t)
	r.tickAt(5 * time.Second)
	r.fails(ErrConflict)
	cleared := r.own()
	cleared.Holder = ""
	s := r.snap(cleared)
	r.read(s, nil)
	r.want("write(me) error(write conflict) read end(cleared)")
	r.take(r.m.holds(r.now, true))
	r.want("read") // the work is protected while it winds down
	r.read(s, nil)
	r.want("write(me)")
	r.applied()
	r.take(r.m.holds(r.now, false))
	r.want("extend read")
	r.read(r.m.view.snap, nil)
	if got := r.lastWrite(); got.Holder != "" || got.LeaseDuration != time.Second {
		t.Errorf("the release is %+v", got)
	}
	r.applied()
	r.want("write(nobody) leader() read")
	if got, want := r.m.notBefore, r.now.mono+15*time.Second; got != want {
		t.Errorf("it contends from %v, want after the cool-down at %v", got, want)
	}
}

func TestAClearedHolderIsReleasedForGoodWhenNoWorkIsOut(t *testing.T) {
	r := leading(t)
	r.tickAt(5 * time.Second)
	r.fails(ErrConflict)
	cleared := r.own()
	cleared.Holder = ""
	s := r.snap(cleared)
	r.read(s, nil)
	r.take(r.m.holds(r.now, false))
	r.drain()
	r.read(s, nil)
	r.applied()
	r.want("write(nobody) leader() read")
	if !r.lastWrite().RenewTime.After(cleared.RenewTime) {
		t.Error("the released form does not change renewTime, so that others would wait out the record that they knew")
	}
}

func countIn(s, part string) (n int) {
	for i := 0; i+len(part) <= len(s); i++ {
		if s[i:i+len(part)] == part {
			n++
		}
	}
	return n
}

func TestAFailedReadEndsNothing(t *testing.T) {
	r := leading(t)
	r.tickAt(5 * time.Second)
	r.fails(errUnknown)
	r.drain()
	r.tickTo(opRead)
	r.drain()
	r.read(Snapshot{}, &DecodeError{Source: "lease", Status: 404, Err: errors.New("HTML")})
	r.want("error(read decode)")
	r.wantState(StateLeading)
}
