package main

import (
	"context"

	"github.com/seed2c765205/elect/elector"
)

// A cable leads to a lock. When it is broken, calls hang until their context ends, as calls over a dead network do.
type cable struct {
	elector.Lock
	broken chan struct{}
}

func (c *cable) Read(ctx context.Context) (elector.Snapshot, error) {
	if err := c.pass(ctx); err != nil {
		return elector.Snapshot{}, err
	}
	return c.Lock.Read(ctx)
}

func (c *cable) Write(ctx context.Context, prev elector.Snapshot, next elector.Record) (elector.Snapshot, error) {
	if err := c.pass(ctx); err != nil {
		return elector.Snapshot{}, err
	}
	return c.Lock.Write(ctx, prev, next)
}

func (c *cable) pass(ctx context.Context) error {
	select {
	case <-c.broken:
		<-ctx.Done()
		return context.Cause(ctx)
	default:
		return nil
	}
}
