package elect_test

import (
	"context"
	"fmt"
	"log"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/events"
	"github.com/seed2c765205/elect/locks"
)

func Example() {
	e, err := elector.New(elector.Config{Lock: locks.NewMemory(), Identity: "pod-a"})
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background()) // in a service: signal.NotifyContext
	defer stop()
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()

	for event := range e.Events() {
		switch event := event.(type) {
		case events.Acquired:
			fmt.Println("acquired:", event.How)
			event.Term.Go(func(ctx context.Context) error {
				stop() // stands for a SIGTERM while the work runs
				<-ctx.Done()
				fmt.Println("work ends:", context.Cause(ctx))
				return nil
			})
		case events.Lost:
			fmt.Println("lost:", event.Reason)
		case events.Renewed, events.LeaderChanged, events.Error: // for metrics and logs
		}
	}
	fmt.Println("run returns:", <-done)
	// Unordered output:
	// acquired: free
	// work ends: elector: leadership lost: stopped
	// lost: stopped
	// run returns: <nil>
}
