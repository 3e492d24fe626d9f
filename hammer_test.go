package elect_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/events"
)

// For the race detector: eight goroutines call every public method while terms come and go.
func TestEveryMethodMayBeCalledFromAnywhereAtAnyTime(t *testing.T) {
	onStage(t, func(s *stage) {
		a := s.enter("a", func(c *elector.Config) { c.LeaseDuration, c.CoolDown = time.Second, 10*time.Millisecond })
		ctx, stop := context.WithCancel(s.t.Context())
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for n := 0; ctx.Err() == nil; n++ {
					callEverything(ctx, a, i+n)
					time.Sleep(time.Millisecond)
				}
			})
		}
		s.pass(10 * time.Second)
		stop()
		all.Wait()
		grammar(s.t, a.events())
		if n := len(lost(a)); n < 20 {
			s.t.Errorf("only %d terms came and went", n)
		}
	})
}

func lost(c *candidate) []events.Lost { return all[events.Lost](c) }

func callEverything(ctx context.Context, a *candidate, n int) {
	_, _ = a.Status(), a.IsLeader()
	look, done := context.WithCancel(ctx)
	defer done()
	_, _ = a.Events(), a.Subscribe(look)
	_ = a.Run(ctx)
	_ = a.Step(ctx)
	term, ok := a.Term()
	if !ok {
		return
	}
	_, _, _, _, _ = term.Valid(), term.ValidUntil(), term.Token(), term.Number(), term.Identity()
	release := term.Hold()
	term.Go(func(context.Context) error {
		if n%7 == 0 {
			return errors.New("broken")
		}
		return nil
	})
	if n%5 == 0 {
		ended, cancel := context.WithCancel(ctx)
		cancel()
		_ = a.Resign(ended)
	}
	release()
}
