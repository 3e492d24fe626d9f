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
	config *rest.Config // what a transport is made from; nil: it is the caller's, which others may use

	mu     sync.Mutex
	now    transport
	failed int // requests in a row that got no answer
}

// A transport is an http.RoundTripper with connections of its own.
type transport struct {
	http.RoundTripper
	open *connrotation.ConnectionTracker // nil if they are not its own
}

func newConnections(cfg *rest.Config) (*connections, error) {
	if cfg.Transport != nil {
		rt, err := rest.TransportFor(cfg)
		return &connections{now: transport{RoundTripper: rt}}, err
	}
	first, err := newTransport(cfg)
	return &connections{config: cfg, now: first}, err
}

// newTransport makes a transport that nobody else uses: client-go shares those of configurations that look the same, but
// never one with a Proxy function or a dialer of its own.
func newTransport(cfg *rest.Config) (transport, error) {
	cfg = rest.CopyConfig(cfg)
	if cfg.Proxy == nil {
		cfg.Proxy = http.ProxyFromEnvironment // what a nil one means
	}
	dial := cfg.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	open := connrotation.NewConnectionTracker()
	cfg.Dial = connrotation.NewDialerWithTracker(dial, open).DialContext
	rt, err := rest.TransportFor(cfg)
	return transport{RoundTripper: rt, open: open}, err
}

// current is the transport for the next request.
func (c *connections) current() transport {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
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
	if c.failed >= failuresInARow && c.config != nil {
		c.failed = 0
		c.drop()
	}
}

// drop replaces the transport and closes the connections of the old one. To close them only would not do: until a
// transport has noticed, it goes on using what is closed, and the next request fails.
func (c *connections) drop() {
	next, err := newTransport(c.config)
	if err != nil { // a certificate cannot be read just now, for example
		return
	}
	old := c.now
	c.now = next
	old.closeIdle()
	old.open.CloseAll()
}

func (c *connections) closeIdle() {
	if c != nil {
		c.current().closeIdle()
	}
}

func (t transport) closeIdle() {
	if t.open == nil {
		return
	}
	for rt := t.RoundTripper; rt != nil; {
		switch wrapper := rt.(type) {
		case interface{ CloseIdleConnections() }:
			wrapper.CloseIdleConnections()
			return
		case utilnet.RoundTripperWrapper:
			rt = wrapper.WrappedRoundTripper()
		default:
			return
		}
	}
}
