package main

import (
	"context"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/events"
)

// serve is a candidate until ctx ends, and works while it leads. When it returns, the work has ended and the lease is
// released: the process may exit.
func serve(ctx context.Context, e *elector.Elector, log *candidateLog) error {
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	for event := range e.Events() {
		log.event(event)
		switch event := event.(type) {
		case events.Acquired:
			term := event.Term
			term.Go(func(ctx context.Context) error { return work(ctx, term.Token(), log) })
		case events.Lost: // the work's context has ended
		case events.LeaderChanged: // for instance: send requests on to event.To
		case events.Renewed, events.Error: // for metrics and alerts; the elector has already decided what to do
		}
	}
	return <-done
}

// work stands for what only the leader may do. It returns soon after its context ends; until then, no other leads. What
// it writes elsewhere carries the token, so that a store that remembers the greatest can refuse a leader of the past.
func work(ctx context.Context, token uint64, log *candidateLog) error {
	log.say("works, with token %d", token)
	<-ctx.Done()
	log.say("has put its work down: %v", context.Cause(ctx))
	return nil
}
