package elect_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/electortest"
	"github.com/seed2c765205/elect/events"
)

// ends waits for Run and expects no error.
func ends(t *testing.T, done <-chan error) {
	t.Helper()
	if err := <-done; err != nil {
		t.Errorf("Run returned %v", err)
	}
}

// grammar checks that Acquired and Lost strictly alternate, beginning with Acquired, and that Renewed come between.
func grammar(t *testing.T, log []events.Event) {
	t.Helper()
	var on events.Term
	for i, e := range log {
		switch e := e.(type) {
		case events.Acquired:
			if on != nil {
				t.Fatalf("event %d is a second Acquired in a row: %v", i, log)
			}
			on = e.Term
		case events.Renewed:
			if on != e.Term {
				t.Fatalf("event %d is a Renewed outside its term: %v", i, log)
			}
		case events.Lost:
			if on != e.Term {
				t.Fatalf("event %d is a Lost without its Acquired: %v", i, log)
			}
			on = nil
		case events.LeaderChanged, events.Error:
		}
	}
}

func TestE1_AcquiredAndLostStrictlyAlternateWhateverHappens(t *testing.T) {
	seeds := uint64(10)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			onStage(t, func(s *stage) { chaos(s, seed, s.enter) })
		})
		t.Run(fmt.Sprint("by Step, seed ", seed), func(t *testing.T) {
			onStage(t, func(s *stage) { chaos(s, seed, s.enterByStep) })
		})
	}
}

// chaos lets misfortunes happen to three candidates for half an hour of virtual time.
func chaos(s *stage, seed uint64, enter func(string, ...func(*elector.Config)) *candidate) {
	rng := rand.New(rand.NewPCG(seed, 2))
	var crowd []*candidate
	for _, name := range []string{"a", "b", "c"} {
		crowd = append(crowd, enter(name, func(c *elector.Config) { c.CoolDown, c.Rand = time.Second, rng }))
	}
	for range 1000 {
		misfortune(rng, s, crowd[rng.IntN(len(crowd))])
		s.pass(time.Duration(rng.IntN(4000)) * time.Millisecond)
		leaders := 0
		for _, c := range crowd {
			if c.IsLeader() {
				leaders++
			}
		}
		if leaders > 1 {
			s.t.Fatalf("two lead at once at %v:%s", s.now(), s.story(crowd))
		}
	}
	terms := 0
	for _, c := range crowd {
		grammar(s.t, c.events())
		terms += len(all[events.Acquired](c))
	}
	if terms < 30 {
		s.t.Errorf("only %d terms began: the schedule shows too little", terms)
	}
}

// misfortune does something to a candidate, or to the lock of all.
func misfortune(rng *rand.Rand, s *stage, c *candidate) {
	switch rng.IntN(12) {
	case 0:
		c.lock.Cut()
	case 1:
		c.lock.BlackHole()
	case 2:
		c.lock.LoseAnswers(1 + rng.IntN(3))
	case 3:
		c.lock.Delay(time.Duration(rng.IntN(3000))*time.Millisecond, time.Duration(rng.IntN(3000))*time.Millisecond)
	case 4:
		go func() { _ = c.Resign(context.Background()) }()
	case 5:
		s.shared.Corrupt("<html>")
	case 6:
		// Whoever looks has seen the holder: a deletion in the very moment of a take-over defeats any elector.
		if held, err := s.shared.Read(context.Background()); err == nil && held.Damage == nil &&
			s.clock.Since(held.Record.AcquireTime) > 15*time.Second {
			s.shared.Delete()
		}
	case 7:
		c.lock.Refuse(&elector.CallError{Class: events.ClassForbidden, NotApplied: true, Err: errors.New("403")})
	case 8:
		if term, ok := c.Term(); ok {
			term.Go(func(context.Context) error { return errors.New("work failed") })
		}
	default:
		c.lock.Heal()
	}
}

func TestE2_AReaderThatIsBehindStillSeesEveryTerm(t *testing.T) {
	onStage(t, func(s *stage) {
		c := s.make("a", func(c *elector.Config) { c.CoolDown = time.Second })
		stream := c.Events()
		ctx, stop := context.WithCancel(s.t.Context())
		done := make(chan error)
		go func() { done <- c.Run(ctx) }()
		const terms = 60
		for range terms {
			s.pass(2 * time.Second)
			if err := c.Resign(s.t.Context()); err != nil {
				s.t.Fatal(err)
			}
		}
		stop()
		ends(s.t, done)
		var log []events.Event
		acquired, lost := 0, 0
		for e := range stream {
			log = append(log, e)
			switch e := e.(type) {
			case events.Acquired:
				acquired++
				if e.Skipped != 0 {
					s.t.Errorf("%v skips %d", e, e.Skipped)
				}
			case events.Lost:
				lost++
			case events.Renewed, events.LeaderChanged, events.Error:
			}
		}
		grammar(s.t, log)
		if acquired != terms || lost != terms {
			s.t.Errorf("the reader saw %d Acquired and %d Lost, want %d of each", acquired, lost, terms)
		}
	})
}

func TestE3_AReaderThatNeverReadsDelaysNothingAndCostsBoundedMemory(t *testing.T) {
	onStage(t, func(s *stage) {
		c := s.make("a", func(c *elector.Config) { c.CoolDown = time.Second })
		stream := c.Events()
		ctx, stop := context.WithCancel(s.t.Context())
		done := make(chan error)
		go func() { done <- c.Run(ctx) }()
		for range 1000 {
			s.pass(2 * time.Second)
			if err := c.Resign(s.t.Context()); err != nil {
				s.t.Fatal(err)
			}
		}
		stop()
		ends(s.t, done)
		count, skipped, acquired := 0, 0, 0
		for e := range stream {
			count++
			if e, ok := e.(events.Acquired); ok {
				acquired++
				skipped += e.Skipped
			}
		}
		if acquired != 64 || acquired+skipped != 1000 {
			s.t.Errorf("%d terms are left and %d are counted as skipped, want 64 and 936", acquired, skipped)
		}
		if count > 64*3+60 {
			s.t.Errorf("%d events were kept for a reader that never read", count)
		}
	})
}

func TestE4_LostIsReadAtTheEndOfTrustWithTheContextCancelled(t *testing.T) {
	for name, fault := range map[string]func(*electortest.Lock){
		"connection refused":                           (*electortest.Lock).Cut,
		"no answer":                                    (*electortest.Lock).BlackHole,
		"a hung call that ignores its context":         (*electortest.Lock).Hang,
		"reads work, writes fail (only writes extend)": func(l *electortest.Lock) { l.RefuseWrites(errors.New("500")) },
	} {
		t.Run(name, func(t *testing.T) {
			onEveryClock(t, func(s *stage) {
				c := s.enter("a")
				term := c.mustTerm(s.t)
				s.pass(5 * time.Second)
				fault(c.lock)
				s.pass(9*time.Second + 999*time.Millisecond)
				if !c.IsLeader() || term.Context().Err() != nil {
					s.t.Fatalf("the term ended before its trust did: %v", c.events())
				}
				s.pass(time.Millisecond)
				lost := last[events.Lost](s.t, c)
				if at := heardAt[events.Lost](c); at != 15*time.Second {
					s.t.Errorf("Lost was read at %v, want exactly 15s", at)
				}
				if lost.Reason != events.ReasonExpired || !lost.Time.Equal(s.start.Add(15*time.Second)) {
					s.t.Errorf("lost is %v", lost)
				}
				if c.IsLeader() || term.Valid() || term.Context().Err() == nil {
					s.t.Error("the term is still valid, or its context is not cancelled")
				}
				cause, ok := errors.AsType[*elector.LostError](context.Cause(term.Context()))
				if !ok || cause.Reason != events.ReasonExpired {
					s.t.Errorf("the context's cause is %v", context.Cause(term.Context()))
				}
			})
		})
	}
}

func TestE4_TheContextIsCancelledBeforeAnybodyCanReadLost(t *testing.T) {
	onStage(t, func(s *stage) {
		c := s.make("a", func(c *elector.Config) { c.CoolDown = time.Second })
		bad := 0
		go func() {
			for e := range c.Events() {
				if e, ok := e.(events.Lost); ok && (e.Term.Context().Err() == nil || e.Term.Valid() || c.IsLeader()) {
					bad++
				}
			}
		}()
		ctx, stop := context.WithCancel(s.t.Context())
		done := make(chan error)
		go func() { done <- c.Run(ctx) }()
		for range 100 {
			s.pass(2 * time.Second)
			_ = c.Resign(s.t.Context())
		}
		stop()
		ends(s.t, done)
		synctest.Wait()
		if bad != 0 {
			s.t.Errorf("%d times Lost was read while the term looked alive", bad)
		}
	})
}

func TestE5_ALateReaderFirstGetsTheCurrentState(t *testing.T) {
	onStage(t, func(s *stage) {
		a, b := s.enter("a"), s.enter("b")
		s.pass(7 * time.Second)
		electortest.ExpectExactly(s.t, a.Subscribe(s.t.Context()), events.Acquired{How: events.HowFree}, events.LeaderChanged{To: "a"})
		electortest.ExpectExactly(s.t, b.Subscribe(s.t.Context()), events.LeaderChanged{To: "a"})
	})
}

func TestE5_TheChannelClosesAfterTheLastEvent(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.enter("a")
		a.stop()
		<-a.done
		synctest.Wait()
		log := a.events()
		if e, ok := log[len(log)-1].(events.LeaderChanged); !ok || e.To != "" || e.From != "a" {
			s.t.Errorf("the last event is %v, want the leader gone after the release", log[len(log)-1])
		}
		if _, open := <-a.Events(); open {
			s.t.Error("the channel is open after the last event")
		}
		if _, open := <-a.Subscribe(s.t.Context()); open {
			s.t.Error("a subscriber after the end gets an event although nobody leads")
		}
	})
}

func TestE6_TheReleaseIsSentOnlyAfterTheContextIsCancelledAndTheHoldsAreGone(t *testing.T) {
	for name, leave := range map[string]func(*candidate){
		"the context of Run ends": func(c *candidate) { c.stop() },
		"Close":                   func(c *candidate) { go func() { _ = c.Close(context.Background()) }() },
		"Resign":                  func(c *candidate) { go func() { _ = c.Resign(context.Background()) }() },
		"the work asks for it": func(c *candidate) {
			term, _ := c.Term()
			term.Go(func(context.Context) error { return elector.ErrResign })
		},
		"other work fails": func(c *candidate) {
			term, _ := c.Term()
			term.Go(func(context.Context) error { return errors.New("broken") })
		},
	} {
		t.Run(name, func(t *testing.T) {
			onEveryClock(t, func(s *stage) {
				a := s.enter("a")
				b := s.enter("b")
				term := a.mustTerm(s.t)
				done := term.Hold()
				s.pass(time.Second)
				leave(a)
				s.pass(20 * time.Second) // longer than the lease: it is renewed while the work winds down
				if term.Context().Err() == nil || a.IsLeader() {
					s.t.Fatal("the term is not over")
				}
				if b.IsLeader() {
					s.t.Fatal("another leads while work of the term is out")
				}
				if held, _ := s.shared.Read(s.t.Context()); held.Record.Holder != "a" {
					s.t.Fatalf("the lease is held by %q while work is out", held.Record.Holder)
				}
				done()
				done()
				synctest.Wait()
				if held, _ := s.shared.Read(s.t.Context()); held.Record.Holder != "" {
					s.t.Errorf("the lease is held by %q, want released at once", held.Record.Holder)
				}
				s.pass(3 * time.Second)
				if !b.IsLeader() {
					s.t.Errorf("nobody took over within a polling period: %v", b.events())
				}
			})
		})
	}
}

func TestAfterTheEndOfATermNoHoldIsTakenAndNoWorkStarted(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.enter("a")
		term := a.mustTerm(s.t)
		a.stop()
		<-a.done
		term.Hold()()
		started := false
		term.Go(func(context.Context) error { started = true; return nil })
		synctest.Wait()
		if started {
			s.t.Error("work was started after the end of the term")
		}
	})
}

func TestWorkThatEndsTheTerm(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		work   func(context.Context) error
		reason events.Reason
		check  func(error) bool
	}{
		"an error":        {func(context.Context) error { return broken }, events.ReasonWorkFailed, func(err error) bool { return errors.Is(err, broken) }},
		"a panic":         {func(context.Context) error { panic(broken) }, events.ReasonWorkFailed, isPanic(broken)},
		"Goexit":          {func(context.Context) error { runtime.Goexit(); return nil }, events.ReasonWorkFailed, func(err error) bool { return err != nil }},
		"no function":     {nil, events.ReasonWorkFailed, func(err error) bool { _, ok := errors.AsType[*elector.PanicError](err); return ok }},
		"a wish to leave": {func(context.Context) error { return elector.ErrResign }, events.ReasonResigned, func(err error) bool { return err == nil }},
	} {
		t.Run(name, func(t *testing.T) {
			onStage(t, func(s *stage) {
				a := s.enter("a")
				a.mustTerm(s.t).Go(c.work)
				synctest.Wait()
				lost := last[events.Lost](s.t, a)
				if lost.Reason != c.reason || !c.check(lost.Err) {
					s.t.Errorf("lost is %v with error %v", lost, lost.Err)
				}
				if held, _ := s.shared.Read(s.t.Context()); held.Record.Holder != "" {
					s.t.Error("the lease was not released")
				}
				s.pass(20 * time.Second)
				if !a.IsLeader() {
					s.t.Error("the candidate does not contend again")
				}
			})
		})
	}
}

func isPanic(value error) func(error) bool {
	return func(err error) bool {
		p, ok := errors.AsType[*elector.PanicError](err)
		return ok && errors.Is(err, value) && strings.Contains(string(p.Stack), "elector_test.go")
	}
}

func TestWorkThatReturnsNilOnlyDropsItsHold(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.enter("a")
		a.mustTerm(s.t).Go(func(context.Context) error { return nil })
		s.pass(time.Minute)
		if !a.IsLeader() || len(all[events.Lost](a)) != 0 {
			s.t.Errorf("the term ended: %v", a.events())
		}
	})
}

func TestWorkThatOutlivesTheDrainTimeoutKeepsTheLeaseFromBeingReleased(t *testing.T) {
	onEveryClock(t, func(s *stage) {
		a := s.enter("a", func(c *elector.Config) { c.DrainTimeout = 20 * time.Second })
		b := s.enter("b")
		done := a.mustTerm(s.t).Hold()
		defer done()
		a.stop()
		s.pass(20 * time.Second)
		<-a.done
		if !errors.Is(a.err, elector.ErrDrainTimeout) {
			s.t.Errorf("Run returned %v, want ErrDrainTimeout", a.err)
		}
		if held, _ := s.shared.Read(s.t.Context()); held.Record.Holder != "a" {
			s.t.Errorf("the lease is held by %q, want to run out by itself", held.Record.Holder)
		}
		s.pass(9 * time.Second)
		if b.IsLeader() {
			s.t.Error("another leads before the lease has run out")
		}
		s.pass(11 * time.Second)
		if !b.IsLeader() {
			s.t.Error("nobody leads after the lease has run out")
		}
	})
}

func TestTheElectorDoesNotContendWhileItsOwnWorkIsOut(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.enter("a")
		done := a.mustTerm(s.t).Hold()
		s.shared.Set(elector.Record{Holder: "admin", LeaseDuration: time.Second, RenewTime: s.clock.Now()})
		s.pass(2 * time.Minute)
		if got := last[events.Lost](s.t, a); got.Reason != events.ReasonTaken || got.Holder != "admin" {
			s.t.Errorf("lost is %v", got)
		}
		if st := a.Status(); st.State != elector.StateDraining || st.Waiting != elector.WaitWork {
			s.t.Errorf("status is %v, waiting for %v; want draining, its own work", st.State, st.Waiting)
		}
		waits := 0
		for _, e := range all[events.Error](a) {
			if e.Class == events.ClassDraining {
				waits++
			}
		}
		if waits != 1 {
			s.t.Errorf("it said %d times that it waits for its work, want once", waits)
		}
		done()
		s.pass(3 * time.Second)
		if !a.IsLeader() {
			s.t.Errorf("it does not contend although its work has ended: %v", a.events())
		}
	})
}

func TestAfterACrashTheNextLeadsWhenTheLeaseHasRunOut(t *testing.T) {
	onEveryClock(t, func(s *stage) {
		a := s.enter("a")
		b := s.enter("b")
		s.pass(7 * time.Second) // a's last renewal is at 5 s, and b sees it by 9 s
		a.lock.BlackHole()
		s.pass(2 * time.Second)
		for !b.IsLeader() && s.now() < time.Minute {
			s.pass(time.Millisecond)
		}
		// b polls every 2 s ±20 %, so it first saw the renewal of 5 s at most 2.4 s later.
		if at := s.now(); at < 20*time.Second || at > 20*time.Second+2440*time.Millisecond {
			s.t.Errorf("b leads from %v, want 15 s after it saw the last renewal", at)
		}
		got := last[events.Acquired](s.t, b)
		if got.How != events.HowExpired || got.Previous != "a" || got.Vacant >= 41*time.Millisecond {
			s.t.Errorf("acquired is %v (how %v, previous %q, vacant %v)", got, got.How, got.Previous, got.Vacant)
		}
		if lost := last[events.Lost](s.t, a); lost.Reason != events.ReasonExpired {
			s.t.Errorf("a lost as %v", lost.Reason)
		}
	})
}

func TestTokensGrowOverDeletionAndReCreation(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.enter("a", func(c *elector.Config) { c.CoolDown = time.Second })
		var before uint64
		for i := range 20 {
			token := a.mustTerm(s.t).Token()
			if token <= before {
				s.t.Fatalf("term %d has token %d after %d", i, token, before)
			}
			before = token
			if i%2 == 0 {
				_ = a.Resign(s.t.Context())
				s.shared.Delete()
			} else {
				a.lock.Cut()
				s.pass(15 * time.Second)
				a.lock.Heal()
			}
			s.pass(16 * time.Second)
		}
	})
}

func TestACandidateWhoseContextEndsBeforeItLeadsSendsNoTerm(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.enter("a")
		b := s.enter("b")
		s.pass(time.Second)
		b.stop()
		<-b.done
		if b.err != nil || len(all[events.Acquired](b)) != 0 || len(all[events.Lost](b)) != 0 {
			s.t.Errorf("Run returned %v, events %v", b.err, b.events())
		}
		_ = a
	})
}

func TestAnOutageIsAnEventAndTheCandidateComesBack(t *testing.T) {
	onEveryClock(t, func(s *stage) {
		a := s.enter("a")
		for range 3 {
			a.lock.Refuse(&elector.CallError{Class: events.ClassUnavailable, Err: errors.New("503")})
			s.pass(30 * time.Second)
			if a.IsLeader() {
				s.t.Fatal("a leads without a renewal for 30 s")
			}
			a.lock.Heal()
			s.pass(18 * time.Second) // a lease duration caps the pause, ±20 %
			if !a.IsLeader() {
				s.t.Fatalf("a does not lead after the outage: %v", a.Status())
			}
		}
		grammar(s.t, a.events())
		e := last[events.Error](s.t, a)
		if e.Class != events.ClassUnavailable || !e.Retryable || !e.RetryAt.After(e.Time) || e.Consecutive < 2 {
			s.t.Errorf("the error is %+v", e)
		}
		if st := a.Status(); st.LastClass != events.ClassUnavailable || st.Consecutive != 0 {
			s.t.Errorf("status is %+v", st)
		}
	})
}

func TestRunTwiceIsRefused(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.enter("a")
		if err := a.Run(s.t.Context()); !errors.Is(err, elector.ErrRunning) {
			s.t.Errorf("a second Run returned %v", err)
		}
		a.stop()
		<-a.done
		if err := a.Run(s.t.Context()); !errors.Is(err, elector.ErrRunning) {
			s.t.Errorf("a Run after the end returned %v", err)
		}
	})
}

func TestCloseBeforeStart(t *testing.T) {
	onStage(t, func(s *stage) {
		c := s.make("a")
		stream := c.Events()
		for range 2 {
			if err := c.Close(s.t.Context()); err != nil {
				s.t.Errorf("Close returned %v", err)
			}
		}
		if err := c.Run(s.t.Context()); !errors.Is(err, elector.ErrClosed) {
			s.t.Errorf("Run returned %v, want ErrClosed", err)
		}
		if _, open := <-stream; open {
			s.t.Error("the channel is open")
		}
		if err := c.Resign(s.t.Context()); err != nil {
			s.t.Errorf("Resign returned %v", err)
		}
	})
}

func TestCloseAndResignFromInsideTheWorkSaySo(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.enter("a")
		var closing, resigning error
		a.mustTerm(s.t).Go(func(ctx context.Context) error {
			ctx, stop := context.WithCancel(ctx)
			defer stop()
			closing, resigning = a.Close(ctx), a.Resign(ctx)
			return nil
		})
		synctest.Wait()
		if !errors.Is(closing, elector.ErrInsideWork) || !errors.Is(resigning, elector.ErrInsideWork) {
			s.t.Errorf("Close returned %v and Resign %v, want ErrInsideWork", closing, resigning)
		}
		if !a.IsLeader() {
			s.t.Error("the term ended all the same")
		}
	})
}

func TestCloseFromEverywhereAtOnce(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.enter("a")
		results := make(chan error, 10)
		for range 10 {
			go func() { results <- a.Close(context.Background()) }()
		}
		for range 10 {
			if err := <-results; err != nil {
				s.t.Errorf("Close returned %v", err)
			}
		}
		if lost := last[events.Lost](s.t, a); lost.Reason != events.ReasonStopped {
			s.t.Errorf("lost is %v", lost)
		}
	})
}

func TestTheContextOfResignAndCloseBoundsOnlyTheWaiting(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.enter("a")
		done := a.mustTerm(s.t).Hold()
		ctx, cancel := context.WithCancel(s.t.Context())
		cancel()
		if err := a.Resign(ctx); !errors.Is(err, context.Canceled) {
			s.t.Errorf("Resign returned %v", err)
		}
		synctest.Wait()
		if a.IsLeader() {
			s.t.Error("it leads after Resign")
		}
		if err := a.Close(ctx); !errors.Is(err, context.Canceled) {
			s.t.Errorf("Close returned %v", err)
		}
		done()
		<-a.done
		if a.err != nil {
			s.t.Errorf("Run returned %v", a.err)
		}
	})
}

func TestResignReturnsWhenTheWorkOutlivesTheDrainTimeout(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.enter("a")
		done := a.mustTerm(s.t).Hold()
		if err := a.Resign(context.Background()); !errors.Is(err, elector.ErrDrainTimeout) {
			s.t.Errorf("Resign returned %v, want ErrDrainTimeout", err)
		}
		if got := s.now(); got != 30*time.Second {
			s.t.Errorf("it returned at %v, want 30s", got)
		}
		done()
	})
}

func TestNoGoroutineOutlivesRunExceptAHungCall(t *testing.T) {
	onStage(t, func(s *stage) {
		c := s.make("a")
		ctx, stop := context.WithCancel(s.t.Context())
		done := make(chan error)
		go func() { done <- c.Run(ctx) }()
		s.pass(3 * time.Second)
		c.lock.Hang()
		s.pass(3 * time.Second)
		stop()
		ends(s.t, done)
		synctest.Wait()
		hung := ourGoroutines()
		c.lock.Heal()
		synctest.Wait()
		if left := ourGoroutines(); left != 0 || hung < 1 || hung > 4 {
			s.t.Errorf("%d goroutines were left while calls hung (want 1 to 4), %d after they returned (want 0)", hung, left)
		}
	})
}

func TestAReaderWithUnreadEventsKeepsOneGoroutineUntilItReadsOrTheElectorIsClosed(t *testing.T) {
	for name, finish := range map[string]func(*candidate, <-chan events.Event){
		"it reads on": func(_ *candidate, stream <-chan events.Event) {
			for range stream {
			}
		},
		"Close": func(c *candidate, _ <-chan events.Event) { _ = c.Close(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			onStage(t, func(s *stage) {
				c := s.make("a")
				stream := c.Events()
				ctx, stop := context.WithCancel(s.t.Context())
				done := make(chan error)
				go func() { done <- c.Run(ctx) }()
				s.pass(3 * time.Second)
				stop()
				ends(s.t, done)
				synctest.Wait()
				if left := ourGoroutines(); left != 1 {
					s.t.Errorf("%d goroutines are left with unread events, want 1", left)
				}
				finish(c, stream)
				synctest.Wait()
				if left := ourGoroutines(); left != 0 {
					s.t.Errorf("%d goroutines are left at the end", left)
				}
			})
		})
	}
}

func TestAThousandTermsLeaveNothingBehind(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.enter("a", func(c *elector.Config) { c.CoolDown = time.Second })
		s.pass(time.Second)
		before := ourGoroutines()
		for range 1000 {
			if err := a.Resign(context.Background()); err != nil {
				s.t.Fatal(err)
			}
			s.pass(2 * time.Second)
		}
		if n := len(all[events.Acquired](a)); n != 1001 {
			s.t.Errorf("there were %d terms, want 1001", n)
		}
		if left := ourGoroutines(); left != before {
			s.t.Errorf("%d goroutines after 1000 terms, %d before", left, before)
		}
	})
}

func TestAPolicyThatGivesUpEndsRunWithTheLastFailure(t *testing.T) {
	onStage(t, func(s *stage) {
		c := s.make("a", func(c *elector.Config) {
			c.Backoff = func() backoff.BackOff { return backoff.WithMaxRetries(backoff.NewConstantBackOff(time.Second), 3) }
		})
		denied := errors.New("denied")
		c.lock.Refuse(denied)
		if err := c.Run(s.t.Context()); !errors.Is(err, denied) {
			s.t.Errorf("Run returned %v, want the last failure wrapped", err)
		}
		e := electortest.Expect[events.Error](s.t, c.Events())
		if e.Retryable || !e.RetryAt.IsZero() || e.Consecutive != 4 || e.Skipped != 3 {
			s.t.Errorf("the last error is %+v, want the fourth in a row, final, with three coalesced into it", e)
		}
	})
}

func TestALockThatPanicsHasOnlyFailed(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.enter("a", func(c *elector.Config) { c.Lock = &panics{Lock: c.Lock, after: 3} })
		s.pass(time.Minute)
		if got := last[events.Error](s.t, a); got.Class != events.ClassInternal {
			s.t.Errorf("the error is %+v", got)
		}
		if got := last[events.Lost](s.t, a); got.Reason != events.ReasonExpired {
			s.t.Errorf("lost is %v", got)
		}
	})
}

// exits is a lock whose calls never return, because they end their goroutine.
type exits struct{ elector.Lock }

func (exits) Read(context.Context) (elector.Snapshot, error) {
	runtime.Goexit()
	return elector.Snapshot{}, nil
}

func TestALockThatCallsGoexitHasOnlyFailed(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.enter("a", func(c *elector.Config) {
			c.Lock = exits{c.Lock}
			c.Logger = slog.New(lookAtLost(nil)) // a handler that would panic if it were asked for a Lost
		})
		s.pass(time.Minute)
		if n := len(all[events.Error](a)); n < 20 {
			s.t.Errorf("it failed %d times in a minute, want it to try again and again", n)
		}
	})
}

func TestALoggerThatPanicsLosesItsLineOnly(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.enter("a", func(c *elector.Config) {
			c.Logger = slog.New(lookAtLost(func(events.Lost) { panic("handler") }))
		})
		if err := a.Resign(s.t.Context()); err != nil {
			s.t.Fatal(err)
		}
		s.pass(time.Minute)
		if !a.IsLeader() {
			s.t.Error("it does not lead again")
		}
	})
}

type panics struct {
	elector.Lock
	after int
}

func (p *panics) Read(ctx context.Context) (elector.Snapshot, error) {
	if p.after--; p.after < 0 {
		panic("read")
	}
	return p.Lock.Read(ctx)
}

func (p *panics) Write(ctx context.Context, prev elector.Snapshot, next elector.Record) (elector.Snapshot, error) {
	if p.after--; p.after < 0 {
		panic("write")
	}
	return p.Lock.Write(ctx, prev, next)
}

func TestAPanicInTheLoopEndsTheTermAndSurfaces(t *testing.T) {
	onStage(t, func(s *stage) {
		c := s.make("a", func(c *elector.Config) {
			calls := 0
			c.Backoff = func() backoff.BackOff {
				if calls++; calls > 1 {
					panic("the policy is broken")
				}
				return &backoff.ZeroBackOff{}
			}
		})
		done := make(chan error)
		go func() { done <- c.Run(s.t.Context()) }()
		synctest.Wait()
		term := c.mustTerm(s.t)
		c.lock.Cut()
		err := <-done
		if _, ok := errors.AsType[*elector.PanicError](err); !ok {
			s.t.Errorf("Run returned %v, want a *PanicError", err)
		}
		if term.Valid() || term.Context().Err() == nil || c.IsLeader() || c.Status().State != elector.StateStopped {
			s.t.Error("the term outlives the loop")
		}
		electortest.Expect[events.Lost](s.t, c.Events())
	})
}
