package electortest_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/electortest"
	"github.com/seed2c765205/elect/events"
	"github.com/seed2c765205/elect/locks/memory"
)

// A wall clock that jumps by the whole RenewDeadline ends a term.
func Example() {
	clock := electortest.NewClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	e, err := elector.New(elector.Config{Lock: memory.New(), Identity: "a", Clock: clock})
	if err != nil {
		fmt.Println(err)
		return
	}
	go func() { _ = e.Run(context.Background()) }()

	acquired := (<-e.Events()).(events.Acquired)
	fmt.Println(acquired)
	fmt.Println(<-e.Events())

	clock.Jump(10 * time.Second)
	fmt.Println("valid:", acquired.Term.Valid())
	fmt.Println(<-e.Events())
	fmt.Println(e.Close(context.Background()))
	// Output:
	// acquired by "a": free, token 1, vacant 0s
	// leader changed from nobody to "a"
	// valid: false
	// lost by "a": expired, token 1
	// <nil>
}

// Code that takes a Term is tested without an elector.
func ExampleTerm() {
	serve := func(term events.Term) {
		term.Go(func(ctx context.Context) error {
			<-ctx.Done()
			fmt.Println("the worker stops:", context.Cause(ctx))
			return nil
		})
	}

	term := electortest.NewTerm("a", 1)
	serve(term)
	term.End(&elector.LostError{Reason: events.ReasonTaken, Holder: "b"})
	<-term.Drained()
	fmt.Println("holds:", term.Held())
	// Output:
	// the worker stops: elector: leadership lost: taken by "b"
	// holds: 0
}

// The test in the package comment.
func TestFailOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := memory.New()
		lock := electortest.NewLock(shared, nil)
		first, _ := elector.New(elector.Config{Lock: lock, Identity: "first"})
		second, _ := elector.New(elector.Config{Lock: shared, Identity: "second"})
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _ = first.Run(ctx) }()
		electortest.Expect[events.Acquired](t, first.Events())
		go func() { _ = second.Run(ctx) }()
		time.Sleep(time.Minute)
		synctest.Wait()

		lock.BlackHole()
		cutOff := time.Now()
		lost := electortest.Expect[events.Lost](t, first.Events())
		if after := lost.Time.Sub(cutOff); after != 10*time.Second || lost.Reason != events.ReasonExpired {
			t.Errorf("after %v: %v", after, lost)
		}
		acquired := electortest.Expect[events.Acquired](t, second.Events())
		if acquired.Previous != "first" || acquired.How != events.HowExpired {
			t.Error(acquired)
		}

		lock.Heal()
		cancel()
		_, _ = first.Close(context.Background()), second.Close(context.Background())
	})
}
