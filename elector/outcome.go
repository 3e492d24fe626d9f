package elector

import (
	"context"
	"errors"
	"time"

	"github.com/seed2c765205/elect/events"
)

// outcome is what is known of a write after its answer.
type outcome int

const (
	applied  outcome = iota + 1 // it is stored
	refused                     // somebody else wrote first: read again
	rejected                    // certainly not applied, and nobody else wrote: back off
	unknown                     // it may be stored now or later: read
)

// errUnchanged: only a write that changed the store buys trust.
var errUnchanged = errors.New("the lock accepted a write but its version did not change")

func outcomeOf(prev string, s Snapshot, err error) (outcome, error) {
	switch {
	case err == nil && s.Version != "" && s.Version != prev:
		return applied, nil
	case err == nil:
		return unknown, errUnchanged
	case errors.Is(err, ErrConflict):
		return refused, err
	}
	if call, ok := errors.AsType[*CallError](err); ok && call.NotApplied {
		return rejected, err
	}
	return unknown, err
}

func classOf(err error) events.Class {
	if call, ok := errors.AsType[*CallError](err); ok && call.Class != 0 {
		return call.Class
	}
	if _, ok := errors.AsType[*DecodeError](err); ok {
		return events.ClassDecode
	}
	if _, ok := errors.AsType[*PanicError](err); ok {
		return events.ClassInternal
	}
	switch {
	case errors.Is(err, ErrConflict):
		return events.ClassConflict
	case errors.Is(err, ErrNotFound):
		return events.ClassNotFound
	case errors.Is(err, context.DeadlineExceeded):
		return events.ClassTimeout
	case errors.Is(err, context.Canceled):
		return events.ClassCanceled
	}
	return events.ClassUnavailable
}

func retryAfter(err error) time.Duration {
	if call, ok := errors.AsType[*CallError](err); ok {
		return call.RetryAfter
	}
	return 0
}
