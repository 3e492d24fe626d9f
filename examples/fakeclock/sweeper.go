// Package fakeclock shows how to test a service that elects: without waiting, on exact times.
//
// Sweeper is the service. Its tests show the same stories in the two ways there are. In a testing/synctest bubble the
// real clock is virtual, and nothing else is needed. A service that takes its clock from outside can be tested on
// k8s.io/utils/clock/testing.FakeClock too: inside a bubble, which makes it exact, because synctest.Wait tells when all
// that a step has woken has run.
package fakeclock

import (
	"context"
	"time"

	"k8s.io/utils/clock"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/events"
)

// A Sweeper sweeps once a minute, on one instance at a time.
type Sweeper struct {
	Elector *elector.Elector
	// Clock is the elector's: one service, one time.
	Clock clock.Clock
	// Sweep does the work; it gets the term's token, for fencing.
	Sweep func(ctx context.Context, token uint64) error
}

// Run sweeps while this instance leads, until ctx ends. When it returns, no Sweep runs.
func (s *Sweeper) Run(ctx context.Context) error {
	done := make(chan error, 1)
	go func() { done <- s.Elector.Run(ctx) }()
	for event := range s.Elector.Events() {
		if acquired, ok := event.(events.Acquired); ok {
			term := acquired.Term
			term.Go(func(ctx context.Context) error { return s.lead(ctx, term.Token()) })
		}
	}
	return <-done
}

// lead sweeps until its term ends. An error of Sweep ends the term; another instance, or this one after a pause, goes on.
func (s *Sweeper) lead(ctx context.Context, token uint64) error {
	for {
		timer := s.Clock.NewTimer(time.Minute)
		select {
		case <-timer.C():
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
		if err := s.Sweep(ctx, token); err != nil {
			return err
		}
	}
}
