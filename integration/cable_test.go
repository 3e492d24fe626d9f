//go:build unix

package integration

import (
	"net"
	"net/url"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
)

// A cable is a way to the API server that can be cut: what is sent then goes nowhere, and nobody is told.
type cable struct {
	listener net.Listener
	server   string
	pumps    sync.WaitGroup

	mu     sync.Mutex
	whole  chan struct{} // closed while the cable passes on
	ended  chan struct{}
	plugs  map[net.Conn]bool
	closed bool
}

func newCable(t *testing.T, server *rest.Config) *cable {
	t.Helper()
	u, err := url.Parse(server.Host)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cable{
		listener: listener, server: u.Host, whole: make(chan struct{}), ended: make(chan struct{}), plugs: map[net.Conn]bool{},
	}
	close(c.whole)
	c.pumps.Go(c.accept)
	t.Cleanup(c.close)
	return c
}

// through is the configuration of a client on this cable.
func (c *cable) through(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Host = "https://" + c.listener.Addr().String()
	return config
}

// cut makes the cable swallow what is sent, both ways.
func (c *cable) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isWhole() {
		c.whole = make(chan struct{})
	}
}

// mend ends a cut. What was sent meanwhile arrives late, as on a network that was away for a while; or, with sever,
// never: its connections are closed.
func (c *cable) mend(sever bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isWhole() {
		return
	}
	if sever {
		c.unplug()
	}
	close(c.whole)
}

func (c *cable) close() {
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		close(c.ended)
		_ = c.listener.Close()
		c.unplug()
	}
	c.mu.Unlock()
	c.pumps.Wait()
}

func (c *cable) isWhole() bool {
	select {
	case <-c.whole:
		return true
	default:
		return false
	}
}

func (c *cable) unplug() {
	for conn := range c.plugs {
		_ = conn.Close()
	}
	clear(c.plugs)
}

func (c *cable) accept() {
	for {
		near, err := c.listener.Accept()
		if err != nil {
			return
		}
		c.pumps.Go(func() { c.connect(near) })
	}
}

func (c *cable) connect(near net.Conn) {
	if !c.plug(near) || !c.awaitWhole() {
		_ = near.Close()
		return
	}
	far, err := net.Dial("tcp", c.server)
	if err != nil {
		_ = near.Close()
		return
	}
	if !c.plug(far) {
		_ = near.Close()
		_ = far.Close()
		return
	}
	c.pumps.Go(func() { c.pump(far, near) })
	c.pump(near, far)
}

func (c *cable) plug(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.plugs[conn] = true
	return true
}

// pump passes on from one end to the other, and ends both with either.
func (c *cable) pump(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && c.awaitWhole() {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			c.awaitWhole() // the end of a connection does not pass a cut either
			return
		}
	}
}

// awaitWhole waits until the cable passes on, and reports whether it ever will.
func (c *cable) awaitWhole() bool {
	c.mu.Lock()
	whole := c.whole
	c.mu.Unlock()
	select {
	case <-whole:
		return true
	case <-c.ended:
		return false
	}
}
