package electortest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/electortest"
	"github.com/seed2c765205/elect/events"
	"github.com/seed2c765205/elect/locks/memory"
)

// An election is one candidate with the default times (15, 10, 5 and 2 s), on a Clock in a bubble.
type election struct {
	*elector.Elector
	clock *electortest.Clock
	lock  *electortest.Lock
	stop  context.CancelFunc
}

// elect runs the test with an elector that has led since noon.
func elect(t *testing.T, test func(t *testing.T, e *election)) {
	synctest.Test(t, func(t *testing.T) {
		e := newElection(t)
		defer e.end()
		e.clock.Step(0)
		electortest.ExpectExactly(t, e.Events(), events.Acquired{How: events.HowFree}, events.LeaderChanged{To: "a"})
		test(t, e)
	})
}

func newElection(t *testing.T) *election {
	c := electortest.NewClock(noon)
	c.Settle(synctest.Wait)
	l := electortest.NewLock(memory.New(), c)
	e, err := elector.New(elector.Config{Lock: l, Identity: "a", Clock: c, Rand: rand.New(rand.NewPCG(1, 1))})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		if err := e.Run(ctx); err != nil {
			t.Errorf("Run returns %v", err)
		}
	}()
	return &election{Elector: e, clock: c, lock: l, stop: cancel}
}

func (e *election) end() {
	e.lock.Heal()
	e.stop()
	synctest.Wait()
	_ = e.Close(context.Background())
}

// unread returns what has come so far.
func (e *election) unread() (all []events.Event) {
	synctest.Wait()
	for {
		select {
		case ev := <-e.Events():
			all = append(all, ev)
			synctest.Wait()
		default:
			return all
		}
	}
}

// told is what has come so far, with times since noon.
func (e *election) told() (all []string) {
	for _, ev := range e.unread() {
		at := ev.When().Sub(noon)
		switch ev := ev.(type) {
		case events.Renewed:
			all = append(all, fmt.Sprint(at, " renewed"))
		case events.Lost:
			all = append(all, fmt.Sprint(at, " lost: ", ev.Reason))
		case events.Acquired:
			all = append(all, fmt.Sprint(at, " acquired: ", ev.How))
		case events.LeaderChanged:
			all = append(all, fmt.Sprint(at, " leader changed to ", ev.To))
		case events.Error:
			all = append(all, fmt.Sprint(at, " error: ", ev.Class))
		}
	}
	return all
}

func (e *election) want(t *testing.T, want ...string) {
	t.Helper()
	if got := e.told(); !slices.Equal(got, want) {
		t.Errorf("what came is\n%q, want\n%q", got, want)
	}
}

func TestOneStepDrivesAWholeElection(t *testing.T) {
	elect(t, func(t *testing.T, e *election) {
		e.clock.Step(5*time.Second - 1)
		e.want(t)
		e.clock.Step(1)
		e.want(t, "5s renewed")
		e.clock.Step(time.Hour)
		if writes := e.lock.Writes(); writes != 2+720 {
			t.Errorf("%d writes after an hour, want one every 5s", writes)
		}
		renewed := electortest.Expect[events.Renewed](t, e.Events())
		if renewed.Skipped != 719 || !renewed.ValidUntil.Equal(noon.Add(time.Hour+15*time.Second)) {
			t.Errorf("the last renewal has skipped %d and is valid until %v", renewed.Skipped, renewed.ValidUntil)
		}
		e.stop()
		electortest.ExpectExactly(t, e.Events(), events.Lost{Reason: events.ReasonStopped}, events.LeaderChanged{From: "a"})
	})
}

func TestTrustEndsOnTheNanosecond(t *testing.T) {
	elect(t, func(t *testing.T, e *election) {
		term, _ := e.Term()
		e.lock.BlackHole()
		e.clock.Step(10*time.Second - 1)
		if !term.Valid() || term.Context().Err() != nil {
			t.Error("the term is over before its time")
		}
		e.clock.Step(1)
		if term.Valid() || term.Context().Err() == nil {
			t.Error("the term goes on after its time")
		}
		if lost := electortest.Expect[events.Lost](t, e.Events()); lost.Reason != events.ReasonExpired || !lost.Time.Equal(noon.Add(10*time.Second)) {
			t.Errorf("what came is %v at %v", lost, lost.Time)
		}
	})
}

func TestAJumpForwardEndsTheTermAtItsNextWakeUp(t *testing.T) {
	elect(t, func(t *testing.T, e *election) {
		e.clock.Step(time.Second)
		term, _ := e.Term()
		e.clock.Jump(10 * time.Second)
		if term.Valid() || e.IsLeader() {
			t.Error("the term is valid after the jump")
		}
	})
	elect(t, func(t *testing.T, e *election) {
		e.clock.Step(time.Second)
		term, _ := e.Term()
		e.clock.Jump(10 * time.Second)
		if err := term.Context().Err(); err != nil {
			t.Errorf("nothing has woken up and the context has ended: %v", err)
		}
		e.clock.Step(2 * time.Second) // RetryPeriod
		if term.Context().Err() == nil {
			t.Error("the context goes on 2s after the jump")
		}
		if lost := electortest.Expect[events.Lost](t, e.Events()); lost.Reason != events.ReasonExpired {
			t.Errorf("what came is %v", lost)
		}
	})
}

func TestAJumpBackLosesNothing(t *testing.T) {
	elect(t, func(t *testing.T, e *election) {
		e.clock.Step(time.Second)
		term, _ := e.Term()
		e.clock.Jump(-time.Hour)
		e.clock.Step(time.Minute)
		if now, ok := e.Term(); !ok || now != term || !term.Valid() {
			t.Error("the term is over")
		}
		for _, ev := range e.unread() {
			if r, ok := ev.(events.Renewed); !ok || r.Skipped != 11 {
				t.Errorf("what came is %v, want 12 renewals", ev)
			}
		}
	})
}

func TestASuspendEndsTheTermAndTheTimersWait(t *testing.T) {
	elect(t, func(t *testing.T, e *election) {
		e.clock.Step(time.Second)
		next, _ := e.clock.Next()
		e.clock.Suspend(8 * time.Second)
		if !e.IsLeader() {
			t.Error("the term is over after 9 of 10s")
		}
		if after, _ := e.clock.Next(); after != next {
			t.Errorf("the next timer is due in %v, %v before the suspend", after, next)
		}
		e.clock.Suspend(time.Second)
		if e.IsLeader() {
			t.Error("the term is valid after 10 of 10s")
		}
		electortest.ExpectExactly(t, e.Events(), events.Lost{Reason: events.ReasonExpired})
	})
}
