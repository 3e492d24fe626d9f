package locks

import (
	"context"
	"fmt"
	"net/http/httptrace"
	"sync/atomic"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/events"
	"github.com/seed2c765205/elect/locks/internal/lockerr"
)

// A call is one request of a lock, and what is seen of it on the way.
type call struct {
	verb   string // "read", "create" or "update"
	place  place
	caller context.Context // the caller's, to tell why it ended
	ctx    context.Context // for the client
	answer answer

	wanted, got atomic.Bool // whether the transport asked for a connection, and whether it got one
}

func newCall(ctx context.Context, verb string, p place) *call {
	c := &call{verb: verb, place: p, caller: ctx}
	c.ctx = httptrace.WithClientTrace(withAnswer(ctx, &c.answer), &httptrace.ClientTrace{
		GetConn: func(string) { c.wanted.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { c.got.Store(true) },
	})
	return c
}

func (c *call) String() string { return c.verb + " " + c.place.String() }

// unsent tells whether the request certainly never left: its transport asked for a connection and got none. That covers
// names that do not resolve, refused and unanswered connections, proxies, and TLS handshakes.
func (c *call) unsent() bool { return c.wanted.Load() && !c.got.Load() }

// rejected is the error of a write that was not applied.
func (c *call) rejected(class events.Class, err error) error {
	return &elector.CallError{Class: class, RetryAfter: c.answer.retryAfter, NotApplied: true, Err: fmt.Errorf("%s: %w", c, err)}
}

// uncertain is the error of a call of which nobody knows whether it had an effect.
func (c *call) uncertain(class events.Class, err error) error {
	return &elector.CallError{Class: class, RetryAfter: c.answer.retryAfter, Err: fmt.Errorf("%s: %w", c, err)}
}

// ended is the error of a call whose context ended.
func (c *call) ended(err error, unsent bool) error {
	return lockerr.Context(c.caller, c.String(), unsent, err)
}

// undecodable is the error of an answer that is not a Kubernetes object or Status that belongs here.
func (c *call) undecodable(err error) error { return c.unreadable(events.ClassDecode, err) }

func (c *call) unreadable(class events.Class, err error) error {
	return &elector.CallError{Class: class, RetryAfter: c.answer.retryAfter, Err: &elector.DecodeError{
		Source:      fmt.Sprintf("the answer to the %s of %s", c.verb, c.place),
		Status:      c.answer.status,
		ContentType: c.answer.contentType,
		Body:        lockerr.Printable(string(c.answer.begin)),
		Err:         err,
	}}
}

// damaged is what is wrong with a record that was read.
func damaged(source, text string, err error) *elector.DecodeError {
	return &elector.DecodeError{Source: source, Body: lockerr.Printable(text), Err: err}
}
