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
	go e.Run(context.Background())

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
		clock := electortest.NewClock(time.Now(), electortest.WithSettle(synctest.Wait))
		shared := memory.New()
		lock := electortest.NewLock(shared, clock)
		first, _ := elector.New(elector.Config{Lock: lock, Identity: "first", Clock: clock})
		second, _ := elector.New(elector.Config{Lock: shared, Identity: "second", Clock: clock})
		ctx, cancel := context.WithCancel(t.Context())
		go first.Run(ctx)
		clock.Step(time.Second)
		go second.Run(ctx)
		clock.Step(time.Minute)

		lock.BlackHole()
		clock.Step(time.Minute)
		electortest.Expect(t, first.Events(), electortest.Acquired(), electortest.Lost(events.ReasonExpired))
		electortest.Expect(t, second.Events(), electortest.Acquired(events.HowExpired))

		lock.Heal()
		cancel()
		clock.Step(time.Minute)
		_, _ = first.Close(context.Background()), second.Close(context.Background())
	})
}
