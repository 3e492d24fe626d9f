package elect_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/electortest"
	"github.com/seed2c765205/elect/events"
)

// onTwoHands runs a test on a clock whose wall hand can jump.
func onTwoHands(t *testing.T, test func(*stage, *electortest.Clock)) {
	synctest.Test(t, func(t *testing.T) {
		c := electortest.NewClock(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
		c.Settle(synctest.Wait)
		test(newStage(t, c, c.Step), c)
	})
}

func TestAWallJumpAheadEndsValidAtOnceAndTheTermAtTheNextWakeUp(t *testing.T) {
	onTwoHands(t, func(s *stage, c *electortest.Clock) {
		a := s.enter("a")
		term := a.mustTerm(s.t)
		s.pass(500 * time.Millisecond)
		c.Jump(10 * time.Second)
		if st := a.Status(); term.Valid() || a.IsLeader() || st.Term != nil || st.State != elector.StateDraining || st.Leader != "" {
			s.t.Errorf("the term is valid after a jump of the wall clock beyond its trust: %+v", st)
		}
		s.pass(1500 * time.Millisecond) // a retry period after the last look
		if term.Context().Err() == nil {
			s.t.Error("the context was not cancelled within a retry period")
		}
		if lost := last[events.Lost](s.t, a); lost.Reason != events.ReasonExpired {
			s.t.Errorf("lost is %v", lost)
		}
		s.pass(3 * time.Second)
		if !a.IsLeader() {
			s.t.Error("it does not lead again")
		}
		grammar(s.t, a.events())
	})
}

// Somebody who saw the term invalid must not see it valid again, even if the wall clock is set back in time.
func TestATermThatWasSeenInvalidStaysSo(t *testing.T) {
	onTwoHands(t, func(s *stage, c *electortest.Clock) {
		a := s.enter("a")
		term := a.mustTerm(s.t)
		c.Jump(time.Hour)
		if term.Valid() {
			s.t.Fatal("the term is valid")
		}
		c.Jump(-time.Hour)
		if term.Valid() {
			s.t.Error("the term is valid again")
		}
		synctest.Wait()
		if term.Context().Err() == nil || last[events.Lost](s.t, a).Reason != events.ReasonExpired {
			s.t.Error("the term goes on although it was seen to lapse")
		}
	})
}

func TestAWallJumpThatNobodySawAndThatWentBackEndsNothing(t *testing.T) {
	onTwoHands(t, func(s *stage, c *electortest.Clock) {
		a := s.enter("a")
		s.pass(500 * time.Millisecond)
		c.Jump(time.Hour)
		c.Jump(-time.Hour)
		s.pass(time.Minute)
		if len(all[events.Lost](a)) != 0 {
			s.t.Errorf("the term ended: %v", a.events())
		}
	})
}

func TestAWallJumpBackKeepsTheTermAndExtendsNothing(t *testing.T) {
	onTwoHands(t, func(s *stage, c *electortest.Clock) {
		a := s.enter("a")
		s.pass(6 * time.Second)
		c.Jump(-time.Hour)
		s.pass(30 * time.Second)
		if len(all[events.Lost](a)) != 0 || !a.IsLeader() {
			s.t.Fatalf("the term ended: %v", a.events())
		}
		a.lock.BlackHole() // at 36 s; the last renewal was at 35 s
		s.pass(8*time.Second + 999*time.Millisecond)
		if !a.IsLeader() {
			s.t.Fatal("the term ended early")
		}
		s.pass(time.Millisecond)
		if a.IsLeader() || len(all[events.Lost](a)) != 1 {
			s.t.Error("the term outlives its trust by the monotonic clock")
		}
	})
}

func TestASuspendedLeaderFindsItselfEnded(t *testing.T) {
	onTwoHands(t, func(s *stage, c *electortest.Clock) {
		a := s.enter("a")
		s.pass(time.Second)
		c.Suspend(time.Minute)
		if a.IsLeader() {
			s.t.Error("it leads at the first look after a minute of sleep")
		}
		s.pass(2 * time.Second)
		if lost := last[events.Lost](s.t, a); lost.Reason != events.ReasonExpired {
			s.t.Errorf("lost is %v", lost)
		}
	})
}

func TestAFollowersWallClockTakesNothingOver(t *testing.T) {
	onTwoHands(t, func(s *stage, c *electortest.Clock) {
		a := s.enter("a", func(config *elector.Config) {
			steady := electortest.NewClock(c.Now()) // a's own machine, whose clock nobody touches
			config.Clock = steady
			s.pass = func(d time.Duration) {
				for ; d > 0; d -= 10 * time.Millisecond {
					steady.Step(10 * time.Millisecond)
					synctest.Wait()
					c.Step(10 * time.Millisecond)
				}
			}
		})
		b := s.enter("b")
		s.pass(4 * time.Second)
		for _, jump := range []time.Duration{time.Hour, -2 * time.Hour, 10 * time.Minute} {
			c.Jump(jump)
			s.pass(20 * time.Second)
			if b.IsLeader() || !a.IsLeader() {
				s.t.Fatalf("after a jump of the follower's clock by %v: a leads %v, b leads %v", jump, a.IsLeader(), b.IsLeader())
			}
		}
	})
}
