package locks

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/connrotation"
)

// failuresInARow is after how many requests without an answer the connections are dropped: one that leads nowhere, to a
// server that lost power or behind a load balancer that forgot it, is otherwise kept for minutes, for each request anew.
const failuresInARow = 3

// connections are those of one private client. A nil *connections has none.
type connections struct {
	open      *connrotation.ConnectionTracker // nil: the transport is the caller's, and others may use it
	transport http.RoundTripper

	mu     sync.Mutex
	failed int // requests in a row that got no answer
}

// newConnections makes a client configuration use connections of its own. A dialer of its own is also what keeps
// client-go from handing out a transport that other clients share.
func newConnections(cfg *rest.Config) *connections {
	if cfg.Transport != nil {
		return &connections{}
	}
	dial := cfg.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	open := connrotation.NewConnectionTracker()
	cfg.Dial = connrotation.NewDialerWithTracker(dial, open).DialContext
	return &connections{open: open}
}

// answered notes that a request got its whole answer.
func (c *connections) answered() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = 0
}

// unanswered notes that a request got no answer, or not all of it. One that its caller gave up says nothing of the connection.
func (c *connections) unanswered(ctx context.Context) {
	if ctx.Err() != nil && !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed++
	if c.failed >= failuresInARow && c.open != nil {
		c.failed = 0
		c.open.CloseAll()
	}
}

func (c *connections) closeIdle() {
	if c == nil || c.open == nil {
		return
	}
	for rt := c.transport; rt != nil; {
		switch t := rt.(type) {
		case interface{ CloseIdleConnections() }:
			t.CloseIdleConnections()
			return
		case utilnet.RoundTripperWrapper:
			rt = t.WrappedRoundTripper()
		default:
			return
		}
	}
}
