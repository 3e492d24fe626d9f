package locks_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/locks"
	"github.com/seed2c765205/elect/locks/lockstest"
)

func TestThePrivateClientLeavesTheCallersConfigAsItWas(t *testing.T) {
	limiter := refusing{}
	cfg := &rest.Config{
		Host: "https://x", QPS: 3, Burst: 4, RateLimiter: limiter, Timeout: time.Second, UserAgent: "mine",
		BearerToken: "secret", TLSClientConfig: rest.TLSClientConfig{ServerName: "y", NextProtos: []string{"h2"}},
	}
	was := rest.CopyConfig(cfg)
	privateLease(t, cfg, "default", "demo")
	if !reflect.DeepEqual(cfg, was) {
		t.Errorf("the configuration was %v and is %v", was, cfg)
	}
}

func TestThePrivateClientSaysWhoItIs(t *testing.T) {
	for _, c := range []struct {
		caller string
		opts   []locks.Option
		want   string
	}{
		{"shop/1.0", nil, "shop/1.0 elect/devel (lock)"},
		{"", nil, rest.DefaultKubernetesUserAgent() + " elect/devel (lock)"},
		{"shop/1.0", []locks.Option{nil, locks.WithUserAgent("other")}, "other"},
	} {
		s := lockstest.NewServer()
		cfg := s.Config()
		cfg.UserAgent = c.caller
		l, err := locks.NewLeaseForConfig(cfg, "default", "demo", c.opts...)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = l.Read(ctx)
		if got := s.Requests()[0].UserAgent; got != c.want {
			t.Errorf("%+v: user agent %q, want %q", c, got, c.want)
		}
	}
}

func TestThePrivateClientMindsNoTimeoutOfTheCallers(t *testing.T) {
	s := lockstest.NewServer()
	cfg := s.Listen(t)
	cfg.Timeout = time.Nanosecond
	if _, err := privateLease(t, cfg, "default", "demo").Read(ctx); !errors.Is(err, elector.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if got := s.Requests()[0].Query; got != "" {
		t.Errorf("the query is %q", got)
	}
}

func TestThePrivateClientRepeatsNothing(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"429 with Retry-After":  status(429, "TooManyRequests", "", "", "Retry-After", "0"),
		"503 with Retry-After":  page(503, "text/html", html, "Retry-After", "0"),
		"a reset connection":    reset,
		"a connection that EOF": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		for verb, call := range map[string]func(elector.Lock) error{
			"read":  func(l elector.Lock) error { _, err := l.Read(ctx); return err },
			"write": func(l elector.Lock) error { _, err := l.Write(ctx, elector.Snapshot{}, record); return err },
		} {
			t.Run(name+"/"+verb, func(t *testing.T) {
				s := lockstest.NewServer()
				s.Intercept(answering(answer))
				err := call(privateLease(t, s.Listen(t), "default", "demo"))
				if n := len(s.Requests()); n != 1 || err == nil {
					t.Errorf("%d requests were sent, and the call returned %v", n, err)
				}
			})
		}
	}
}

// reset closes the connection so that the client sees a reset instead of an end.
func reset(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
	}
}

func TestThePrivateClientFollowsNoRedirect(t *testing.T) {
	s := lockstest.NewServer()
	l := privateLease(t, s.Listen(t), "default", "demo")
	prev, err := l.Write(ctx, elector.Snapshot{}, record)
	if err != nil {
		t.Fatal(err)
	}
	s.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.RawQuery == "" {
			http.Redirect(w, r, r.URL.Path+"?again", http.StatusFound)
			return true
		}
		return false
	})
	next := record
	next.Holder = "b"
	_, err = l.Write(ctx, prev, next)
	check(t, "update", err, unreadable(302))
	if n := len(s.Requests()); n != 2 {
		t.Errorf("%d requests, want the create and the update only", n)
	}
}

func TestWhatCannotBeReadIsQuoted(t *testing.T) {
	for _, c := range []struct {
		name        string
		answer      http.HandlerFunc
		status      int
		contentType string
		body        string
	}{
		{"a proxy's page", page(502, "text/html", "<h1>Bad\x1b Gateway</h1>"), 502, "text/html", "<h1>Bad. Gateway</h1>"},
		{"a long page", page(502, "text/html", strings.Repeat("<br>", 1<<20)), 502, "text/html", strings.Repeat("<br>", 128)},
		{"a page of success", page(200, "text/html", html), 200, "text/html", html},
		{"another object", page(200, "application/json", `{"ok":true}`), 200, "application/json", `{"ok":true}`},
		{"a cut object", page(200, "application/json", `{"kind":`, "Content-Length", "99"), 200, "application/json", `{"kind":`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := lockstest.NewServer()
			s.Intercept(answering(c.answer))
			_, err := privateLease(t, s.Listen(t), "default", "demo").Read(ctx)
			var d *elector.DecodeError
			if !errors.As(err, &d) {
				t.Fatalf("got %v", err)
			}
			if d.Status != c.status || d.ContentType != c.contentType || d.Body != c.body {
				t.Errorf("got %d %q %q", d.Status, d.ContentType, d.Body)
			}
			if want := "the answer to the read of lease default/demo"; d.Source != want {
				t.Errorf("source is %q, want %q", d.Source, want)
			}
		})
	}
}

func TestATypedClientsErrorQuotesWhatItCan(t *testing.T) {
	s := lockstest.NewServer()
	s.Intercept(answering(page(502, "text/html", html)))
	_, err := typedLease(t, s.Config(), "default", "demo").Read(ctx)
	var d *elector.DecodeError
	if !errors.As(err, &d) || d.Status != 502 || d.ContentType != "" || d.Body != html {
		t.Errorf("got %+v", d)
	}
}

func TestAnObjectAsLargeAsAnyIsRead(t *testing.T) {
	s := lockstest.NewServer()
	s.EditLease("default", "demo", func(l *leaseObject) { l.Annotations = map[string]string{"x": strings.Repeat("x", 3<<20)} })
	l := privateLease(t, s.Listen(t), "default", "demo")
	if _, err := l.Read(ctx); err != nil {
		t.Error(err)
	}
}

func TestALongAnswerIsNotReadToItsEnd(t *testing.T) {
	for contentType, limit := range map[string]int64{"text/html": 64 << 10, "application/json": 8 << 20} {
		endless := &endlessBody{}
		l := privateLease(t, &rest.Config{Host: "http://x", Transport: fixed{contentType, endless}}, "default", "demo")
		_, err := l.Read(ctx)
		check(t, "read", err, unreadable(502))
		if endless.read != limit {
			t.Errorf("%s: %d bytes were read, want %d", contentType, endless.read, limit)
		}
	}
}

type fixed struct {
	contentType string
	body        io.ReadCloser
}

func (a fixed) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: 502, Header: http.Header{"Content-Type": {a.contentType}}, Body: a.body, ContentLength: -1, Request: r,
	}, nil
}

type endlessBody struct{ read int64 }

func (b *endlessBody) Read(p []byte) (int, error) {
	b.read += int64(len(p))
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func (*endlessBody) Close() error { return nil }

// counting dials and counts.
func counting(dials *atomic.Int32) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		dials.Add(1)
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
}

// Over HTTP/2 a request that is given up leaves its connection open, however dead that is.
func TestConnectionsAreDroppedAfterThreeFailuresInARow(t *testing.T) {
	h := newHTTP2(t)
	h.wantDials(t, 1, "one request")
	for range 3 {
		h.giveUp(t, context.DeadlineExceeded)
		h.giveUp(t, context.DeadlineExceeded)
		h.answer(t)
	}
	h.wantDials(t, 1, "failures that were not three in a row")
	for range 5 {
		h.giveUp(t, nil)
	}
	h.wantDials(t, 1, "calls that their caller gave up")
	for n := range int32(3) {
		for range 3 {
			h.giveUp(t, context.DeadlineExceeded)
		}
		h.wantDials(t, n+2, "three failures in a row")
	}
}

func TestConnectionsAreKeptWhereNoOthersCanBeMade(t *testing.T) {
	h := newHTTP2(t)
	h.answer(t)
	if err := os.Remove(h.ca); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		h.giveUp(t, context.DeadlineExceeded)
	}
	h.wantDials(t, 1, "three failures without a readable certificate")
}

// http2 is a lock on a server that speaks HTTP/2, and what they do.
type http2 struct {
	server *lockstest.Server
	lock   elector.Lock
	dials  atomic.Int32
	ca     string // file
}

func newHTTP2(t *testing.T) *http2 {
	t.Helper()
	h := &http2{server: lockstest.NewServer(), ca: filepath.Join(t.TempDir(), "ca.pem")}
	server := httptest.NewUnstartedServer(h.server)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	if err := os.WriteFile(h.ca, pemOf(server), 0o600); err != nil {
		t.Fatal(err)
	}
	h.lock = privateLease(t, &rest.Config{
		Host: server.URL, Dial: counting(&h.dials), TLSClientConfig: rest.TLSClientConfig{CAFile: h.ca},
	}, "default", "demo")
	return h
}

// answer makes a call that is answered.
func (h *http2) answer(t *testing.T) {
	t.Helper()
	h.server.Intercept(nil)
	if _, err := h.lock.Read(ctx); !errors.Is(err, elector.ErrNotFound) {
		t.Fatal(err)
	}
}

// giveUp makes a call whose context ends while the server is silent.
func (h *http2) giveUp(t *testing.T, cause error) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(ctx)
	h.server.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
		cancel(cause)
		<-r.Context().Done()
		return true
	})
	if _, err := h.lock.Read(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func (h *http2) wantDials(t *testing.T, want int32, after string) {
	t.Helper()
	h.answer(t)
	if n := h.dials.Load(); n != want {
		t.Errorf("%d connections after %s, want %d", n, after, want)
	}
}

func TestDroppingConnectionsHurtsNobodyElse(t *testing.T) {
	s := lockstest.NewServer()
	cfg := s.Listen(t)
	var dials atomic.Int32
	cfg.Dial = counting(&dials)
	one, two := privateLease(t, cfg, "default", "demo"), privateLease(t, cfg, "default", "demo")
	for _, l := range []elector.Lock{one, two, one, two} {
		_, _ = l.Read(ctx)
	}
	if n := dials.Load(); n != 2 {
		t.Errorf("two private clients opened %d connections, want one each", n)
	}
	one.(*locks.Lease).CloseIdleConnections()
	_, _ = two.Read(ctx)
	if n := dials.Load(); n != 2 {
		t.Error("closing the connections of one closed those of the other")
	}
	_, _ = one.Read(ctx)
	if n := dials.Load(); n != 3 {
		t.Errorf("after CloseIdleConnections %d connections were opened, want 3", n)
	}
}

func TestNamesThatCannotBeAreToldOf(t *testing.T) {
	s := lockstest.NewServer()
	long := strings.Repeat("x", 254)
	for _, c := range []struct{ namespace, name, want string }{
		{"", "demo", `locks: namespace "" of a Lease must be an RFC 1123 label: `},
		{"a.b", "demo", `locks: namespace "a.b" of a Lease must be an RFC 1123 label: must not contain dots`},
		{"default", "", `locks: name "" of a Lease must be an RFC 1123 subdomain: `},
		{"default", "De/mo", `locks: name "De/mo" of a Lease must be an RFC 1123 subdomain: `},
		{"default", long, "must be no more than 253"},
	} {
		if _, err := locks.NewLeaseForConfig(s.Config(), c.namespace, c.name); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q, %q: %v, want %q", c.namespace, c.name, err, c.want)
		}
		wantInvalid(t, locks.NewLease(s.Client().CoordinationV1(), c.namespace, c.name), c.want)
	}
	wantInvalid(t, locks.NewLease(nil, "default", "demo"), "client is nil")
	if _, err := locks.NewLeaseForConfig(nil, "default", "demo"); err == nil || err.Error() != "locks: cfg is nil" {
		t.Errorf("got %v", err)
	}
	for _, cfg := range []*rest.Config{
		{Host: "http://x", TLSClientConfig: rest.TLSClientConfig{CAFile: "/does/not/exist"}},
		{Host: "::"},
	} {
		if _, err := locks.NewLeaseForConfig(cfg, "default", "demo"); err == nil || !strings.HasPrefix(err.Error(), "locks: cfg makes no client: ") {
			t.Errorf("got %v", err)
		}
	}
	if len(s.Requests()) != 0 {
		t.Error("a request was sent")
	}
	if err := locks.NewLease(s.Client().CoordinationV1(), "default", "demo").Validate(); err != nil {
		t.Error(err)
	}
}

// validated is a lock that can tell before its first call that it can never work.
type validated interface {
	elector.Lock
	Validate() error
}

func wantInvalid(t *testing.T, l validated, text string) {
	t.Helper()
	if err := l.Validate(); err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("Validate returns %v, want %q", err, text)
	}
	_, rerr := l.Read(ctx)
	_, werr := l.Write(ctx, elector.Snapshot{}, record)
	for op, err := range map[string]error{"read": rerr, "create": werr} {
		check(t, op, err, invalid)
		if !strings.Contains(fmt.Sprint(err), text) {
			t.Errorf("%s: %v, want %q", op, err, text)
		}
	}
}

func TestTheTransportOfACallersOwnIsUsedAndLeftOpen(t *testing.T) {
	s := lockstest.NewServer()
	var wrapped []string
	cfg := s.Config()
	cfg.WrapTransport = func(rt http.RoundTripper) http.RoundTripper { return watching{rt, &wrapped} }
	l := privateLease(t, cfg, "default", "demo").(*locks.Lease)
	_, _ = l.Read(ctx)
	l.CloseIdleConnections()
	if !slices.Equal(wrapped, []string{"GET"}) {
		t.Errorf("the caller's transport saw %v", wrapped)
	}
	locks.NewLease(s.Client().CoordinationV1(), "default", "demo").CloseIdleConnections()

	hidden := rest.CopyConfig(cfg)
	hidden.Transport = nil
	privateLease(t, hidden, "default", "demo").(*locks.Lease).CloseIdleConnections() // nothing to find, nothing to break
}

// watching is a caller's wrapper that hides what it wraps.
type watching struct {
	next http.RoundTripper
	seen *[]string
}

func (w watching) RoundTrip(r *http.Request) (*http.Response, error) {
	*w.seen = append(*w.seen, r.Method)
	return w.next.RoundTrip(r)
}
