package events

import (
	"context"
	"errors"
	"time"
)

// ErrDetached is the cause with which the context of a Term from Parse is cancelled: it only tells of a term.
var ErrDetached = errors.New("events: the term was read from a text and leads nothing")

// detached is a term as it was at one instant. It is over for whoever holds it.
type detached struct {
	identity   string
	number     int64
	token      uint64
	validUntil time.Time
}

// freeze copies what a term tells. validUntil stands in for the term's own, unless it is zero.
func freeze(t Term, validUntil time.Time) detached {
	if validUntil.IsZero() {
		validUntil = t.ValidUntil()
	}
	return detached{identity: t.Identity(), number: t.Number(), token: t.Token(), validUntil: validUntil}
}

var detachedContext = func() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(ErrDetached)
	return ctx
}()

func (d detached) Context() context.Context       { return detachedContext }
func (d detached) Identity() string               { return d.identity }
func (d detached) Number() int64                  { return d.number }
func (d detached) Token() uint64                  { return d.token }
func (d detached) ValidUntil() time.Time          { return d.validUntil }
func (d detached) Valid() bool                    { return false }
func (d detached) Hold() (done func())            { return func() {} }
func (d detached) Go(func(context.Context) error) {}
