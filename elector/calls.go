package elector

import (
	"context"
	"errors"
	"runtime/debug"
)

// calls runs lock calls off the loop. Their contexts carry no deadline, which a lock would compare with the real
// clock: the loop cancels them by the injected one, with the cause context.DeadlineExceeded.
type calls struct {
	lock    Lock
	base    context.Context
	cancels map[int]context.CancelCauseFunc
	// answers has room for the answer of every call that can exist, so that a call which hung for hours finds its
	// goroutine's end, whether or not anybody still listens.
	answers chan answer
}

type answer struct {
	call     int
	write    bool
	snapshot Snapshot
	err      error
}

var errLockExit = errors.New("elector: the lock called runtime.Goexit")

func newCalls(lock Lock, base context.Context) *calls {
	return &calls{
		lock: lock, base: base,
		cancels: make(map[int]context.CancelCauseFunc, maxHung+1),
		answers: make(chan answer, maxHung+1),
	}
}

func (c *calls) start(a *action) {
	ctx, cancel := context.WithCancelCause(c.base)
	c.cancels[a.call] = cancel
	made := *a // the machine uses its list again
	go func() {
		a := answer{call: made.call, write: made.kind == doWrite, err: errLockExit}
		defer func() { c.answers <- a }() // also if the lock calls runtime.Goexit
		a.snapshot, a.err = callLock(ctx, c.lock, &made)
	}()
}

// callLock makes a call. A lock that panics has failed, no more.
func callLock(ctx context.Context, lock Lock, a *action) (s Snapshot, err error) {
	defer func() {
		if v := recover(); v != nil {
			s, err = Snapshot{}, &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	if a.kind == doWrite {
		return lock.Write(ctx, a.snap, a.record)
	}
	return lock.Read(ctx)
}

func (c *calls) cancel(id int, cause error) {
	if cancel := c.cancels[id]; cancel != nil {
		cancel(cause)
	}
}

// forget frees the context of a call that has answered.
func (c *calls) forget(id int) {
	c.cancel(id, nil)
	delete(c.cancels, id)
}

func (c *calls) cancelAll() {
	for _, cancel := range c.cancels {
		cancel(context.Canceled)
	}
}
