package elect_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/events"
)

// enterByStep makes a candidate that a loop of the test's drives by Step.
func (s *stage) enterByStep(name string, change ...func(*elector.Config)) *candidate {
	s.t.Helper()
	c := s.make(name, change...)
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	next := c.Step(ctx)
	go s.listen(c)
	go func() {
		defer close(c.done)
		for !next.IsZero() {
			s.sleepUntil(ctx, next)
			next = c.Step(ctx)
		}
	}()
	s.t.Cleanup(func() {
		c.lock.Heal()
		stop()
		s.pass(time.Minute)
		<-c.done
		_ = c.Close(context.Background())
	})
	synctest.Wait()
	return c
}

// sleepUntil waits on the stage's clock, or a little once ctx has ended: the loop then hurries to its end.
func (s *stage) sleepUntil(ctx context.Context, at time.Time) {
	timer := s.clock.NewTimer(max(at.Sub(s.clock.Now().Round(0)), time.Nanosecond))
	defer timer.Stop()
	if ctx.Err() != nil {
		<-timer.C()
		return
	}
	select {
	case <-timer.C():
	case <-ctx.Done():
	}
}

// drive steps by hand, at the moments that Step asks for, for d.
func (s *stage) drive(c *candidate, ctx context.Context, d time.Duration) {
	s.t.Helper()
	end := s.now() + d
	for {
		next := c.Step(ctx)
		c.read()
		if next.IsZero() {
			return
		}
		at := max(next.Sub(s.start), s.now())
		if at > end {
			s.pass(end - s.now())
			return
		}
		s.pass(at - s.now())
	}
}

// read takes what is in the channel, without waiting.
func (c *candidate) read() {
	for {
		select {
		case e, open := <-c.Events():
			if !open {
				return
			}
			c.log = append(c.log, e)
		default:
			return
		}
	}
}

func TestStepLeadsRenewsAndReleasesWithoutAGoroutine(t *testing.T) {
	onEveryClock(t, func(s *stage) {
		c := s.make("a")
		ctx, stop := context.WithCancel(context.Background())
		s.drive(c, ctx, 12*time.Second)
		c.read()
		if !c.IsLeader() || len(all[events.Acquired](c)) != 1 || len(all[events.Renewed](c)) != 2 {
			s.t.Fatalf("after 12 s: %v", c.events())
		}
		if n := c.lock.Writes(); n != 3 {
			s.t.Errorf("%d writes, want one to acquire and two to renew", n)
		}
		stop()
		s.drive(c, ctx, time.Minute)
		c.read()
		if lost := last[events.Lost](s.t, c); lost.Reason != events.ReasonStopped {
			s.t.Errorf("lost is %v", lost)
		}
		if held, _ := s.shared.Read(context.Background()); held.Record.Holder != "" {
			s.t.Error("the lease was not released")
		}
		if _, open := <-c.Events(); open {
			s.t.Error("the channel is open at the end")
		}
		if next := c.Step(ctx); !next.IsZero() {
			s.t.Errorf("a Step after the end asks for another at %v", next)
		}
		if left := ourGoroutines(); left > 0 {
			s.t.Errorf("%d goroutines are left", left)
		}
	})
}

func TestStepMakesAtMostOneLockCall(t *testing.T) {
	onStage(t, func(s *stage) {
		c := s.make("a")
		for i := range 20 {
			calls := c.lock.Reads() + c.lock.Writes()
			next := c.Step(context.Background())
			if n := c.lock.Reads() + c.lock.Writes() - calls; n > 1 {
				s.t.Fatalf("step %d made %d calls", i, n)
			}
			s.pass(next.Sub(s.clock.Now()))
		}
	})
}

func TestInStepModeTheContextEndsOnTimeWithoutAStep(t *testing.T) {
	onEveryClock(t, func(s *stage) {
		c := s.make("a")
		s.drive(c, context.Background(), 7*time.Second)
		term := c.mustTerm(s.t)
		s.pass(7*time.Second + 999*time.Millisecond) // the renewal of 5 s is trusted until 15 s
		if term.Context().Err() != nil || !c.IsLeader() {
			s.t.Fatal("the term ended early")
		}
		s.pass(time.Millisecond)
		if term.Context().Err() == nil || c.IsLeader() || term.Valid() {
			s.t.Error("the term outlives its trust")
		}
		if cause, ok := errors.AsType[*elector.LostError](context.Cause(term.Context())); !ok || cause.Reason != events.ReasonExpired {
			s.t.Errorf("the cause is %v", context.Cause(term.Context()))
		}
		s.pass(time.Hour)
		c.Step(context.Background())
		c.read()
		lost := last[events.Lost](s.t, c)
		if lost.Reason != events.ReasonExpired || !lost.Time.Equal(s.start.Add(15*time.Second)) {
			s.t.Errorf("lost is %v", lost)
		}
		s.drive(c, context.Background(), 10*time.Second)
		if !c.IsLeader() {
			s.t.Error("it does not lead again")
		}
	})
}

func TestInStepModeACallIsBoundedByTheTrustThatIsLeft(t *testing.T) {
	onStage(t, func(s *stage) {
		c := s.make("a")
		s.drive(c, context.Background(), 5*time.Second)
		c.lock.BlackHole()
		for c.IsLeader() {
			began := s.now()
			next := c.Step(context.Background())
			if took := s.now() - began; took > 10*time.Second/3 {
				s.t.Fatalf("a step took %v", took)
			}
			s.pass(max(next.Sub(s.clock.Now()), 0))
		}
		if over := s.now(); over > 15*time.Second+50*time.Millisecond {
			s.t.Errorf("the last call kept the caller until %v, want the end of trust and at most the shortest attempt", over)
		}
		c.Step(context.Background())
		c.read()
		if lost := last[events.Lost](s.t, c); !lost.Time.Equal(s.start.Add(15 * time.Second)) {
			s.t.Errorf("lost is %v", lost)
		}
		if e := last[events.Error](s.t, c); e.Class != events.ClassTimeout {
			s.t.Errorf("the error is %+v", e)
		}
	})
}

func TestInStepModeACallThatWasNeverMadeIsNoHungCall(t *testing.T) {
	onStage(t, func(s *stage) {
		c := s.make("a")
		c.lock.RefuseWrites(elector.ErrConflict) // so that each step leaves a call for the next
		for range 20 {
			c.Step(context.Background())
			s.pass(time.Minute)
		}
		c.lock.Heal()
		s.drive(c, context.Background(), time.Minute)
		if !c.IsLeader() {
			c.read()
			s.t.Errorf("it does not lead: %v", c.events())
		}
	})
}

func TestInStepModeResignAndCloseOnlyAsk(t *testing.T) {
	onStage(t, func(s *stage) {
		c := s.make("a")
		s.drive(c, context.Background(), time.Second)
		if err := c.Resign(context.Background()); err != nil {
			s.t.Fatal(err)
		}
		s.drive(c, context.Background(), time.Second)
		c.read()
		if lost := last[events.Lost](s.t, c); lost.Reason != events.ReasonResigned {
			s.t.Errorf("lost is %v", lost)
		}
		s.drive(c, context.Background(), 20*time.Second)
		if !c.IsLeader() {
			s.t.Error("it does not contend again after the cool-down")
		}
		if err := c.Close(context.Background()); err != nil {
			s.t.Fatal(err)
		}
		s.drive(c, context.Background(), time.Second)
		if err := c.Close(context.Background()); err != nil {
			s.t.Fatal(err)
		}
		if st := c.Status().State; st != elector.StateStopped {
			s.t.Errorf("it is %v", st)
		}
	})
}

func TestOneDriverAtATime(t *testing.T) {
	onStage(t, func(s *stage) {
		running := s.enter("a")
		if next := running.Step(context.Background()); !next.IsZero() {
			s.t.Errorf("Step beside Run asks for another at %v", next)
		}
		stepped := s.make("b")
		stepped.Step(context.Background())
		if err := stepped.Run(context.Background()); !errors.Is(err, elector.ErrRunning) {
			s.t.Errorf("Run beside Step returned %v", err)
		}
	})
}

func TestAPanicInAStepEndsTheElector(t *testing.T) {
	onStage(t, func(s *stage) {
		c := s.make("a")
		s.drive(c, context.Background(), time.Second)
		term := c.mustTerm(s.t)
		c.lock.OnCall(func(events.Op) { panic("lock") }) // only a failed call
		s.drive(c, context.Background(), 5*time.Second)
		if !term.Valid() {
			s.t.Error("a lock that panics has ended the term at once")
		}
	})
}

// In Step mode the logger is called as the event is queued, so that the order of the end can be seen exactly.
func TestE4_WhenLostIsQueuedTheTermIsInvalidAndItsContextCancelled(t *testing.T) {
	for name, end := range map[string]func(*stage, *candidate){
		"resigned": func(s *stage, c *candidate) { _ = c.Resign(context.Background()) },
		"expired":  func(s *stage, c *candidate) { c.lock.Cut(); s.pass(time.Minute) },
		"taken": func(s *stage, c *candidate) {
			s.shared.Set(elector.Record{Holder: "other", LeaseDuration: time.Minute, RenewTime: s.clock.Now()})
			s.pass(5 * time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			onStage(t, func(s *stage) {
				var c *candidate
				told := 0
				look := lookAtLost(func(lost events.Lost) {
					told++
					if lost.Term.Valid() || c.IsLeader() || lost.Term.Context().Err() == nil {
						s.t.Error("Lost is queued before the term is over")
					}
				})
				c = s.make("a", func(config *elector.Config) { config.Logger = slog.New(look) })
				s.drive(c, context.Background(), time.Second)
				end(s, c)
				s.drive(c, context.Background(), 10*time.Second)
				if told != 1 {
					s.t.Errorf("%d Lost were queued, want one", told)
				}
			})
		})
	}
}

// lookAtLost is a slog.Handler that looks at each Lost.
type lookAtLost func(events.Lost)

func (lookAtLost) Enabled(context.Context, slog.Level) bool { return true }
func (l lookAtLost) WithAttrs([]slog.Attr) slog.Handler     { return l }
func (l lookAtLost) WithGroup(string) slog.Handler          { return l }
func (l lookAtLost) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if lost, ok := a.Value.Any().(events.Lost); ok {
			l(lost)
		}
		return true
	})
	return nil
}
