//go:build unix

package integration

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// A rubbishProxy stands before the API server and answers a share of the requests with rubbish: in a storm, all.
type rubbishProxy struct {
	next  http.Handler
	ended chan struct{} // closed before the proxy ends, so that no request hangs any longer

	mu     sync.Mutex
	rand   *rand.Rand
	share  float64 // of the requests that get rubbish
	served map[string]int
}

func newRubbishProxy(t *testing.T, seed uint64) *rubbishProxy {
	t.Helper()
	config := cluster.Config()
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	tlsConfig, err := rest.TLSConfigFor(config)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: tlsConfig, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	quiet := httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:    transport,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	return &rubbishProxy{
		next: &quiet, ended: make(chan struct{}), rand: rand.New(rand.NewPCG(seed, 1)), served: map[string]int{},
	}
}

// open returns a configuration for a client of the proxy, which ends with the test.
func (p *rubbishProxy) open(t *testing.T, http2 bool) *rest.Config {
	t.Helper()
	server := httptest.NewUnstartedServer(p)
	server.EnableHTTP2 = http2
	server.Config.ErrorLog = nil
	server.StartTLS()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	config := cluster.Config()
	config.Host = server.URL
	config.TLSClientConfig = rest.TLSClientConfig{
		CAData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
	}
	return config
}

// rain sets what share of the requests gets rubbish from now on.
func (p *rubbishProxy) rain(share float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.share = share
}

// draw chooses what a request gets; nil: what it asks for.
func (p *rubbishProxy) draw() *rubbish {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.rand.Float64() >= p.share {
		return nil
	}
	kind := &allRubbish[p.rand.IntN(len(allRubbish))]
	p.served[kind.name]++
	return kind
}

// ServeHTTP implements http.Handler.
func (p *rubbishProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if kind := p.draw(); kind != nil {
		kind.serve(exchange{w, r, p})
		return
	}
	p.next.ServeHTTP(w, r)
}

// An exchange is a request that gets rubbish.
type exchange struct {
	http.ResponseWriter
	*http.Request
	proxy *rubbishProxy
}

// answer sends a whole answer. Headers are given as "Name: value".
func (e exchange) answer(code int, contentType, body string, headers ...string) {
	h := e.ResponseWriter.Header()
	h["Content-Type"] = nil // no guessing
	if contentType != "" {
		h.Set("Content-Type", contentType)
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		h.Set(name, value)
	}
	e.WriteHeader(code)
	_, _ = io.WriteString(e.ResponseWriter, body)
}

// hang leaves the client without an answer until it gives up.
func (e exchange) hang() {
	select {
	case <-e.Context().Done():
	case <-e.proxy.ended:
	}
	panic(http.ErrAbortHandler)
}

// hangUp closes the connection without an answer, or the stream where a connection has several.
func (e exchange) hangUp(reset bool) {
	hijacker, ok := e.ResponseWriter.(http.Hijacker)
	if !ok {
		panic(http.ErrAbortHandler)
	}
	conn, _, err := hijacker.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if secure, ok := conn.(*tls.Conn); ok && reset {
		conn = secure.NetConn()
		if c, ok := conn.(*net.TCPConn); ok {
			_ = c.SetLinger(0)
		}
	}
	_ = conn.Close()
}

// pass lets the server do what the request asks for, and drops its answer.
func (e exchange) pass() { e.proxy.next.ServeHTTP(httptest.NewRecorder(), e.Request) }

// A rubbish is something that a proxy, a gateway or a broken server may answer.
type rubbish struct {
	name  string
	serve func(exchange)
}

const (
	html = "<html><head><title>Sorry</title></head><body>Please log in.</body></html>"
	text = "text/html; charset=utf-8"
	js   = "application/json"

	status  = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"%s","reason":"%s","code":%d}`
	aPod    = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"demo","uid":"u-1","resourceVersion":"7"},"spec":{}}`
	aCut    = `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"demo","na`
	aForged = `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"demo"},"spec":{}}`
)

func page(code int, headers ...string) rubbish {
	name := fmt.Sprint("HTML ", code)
	if len(headers) > 0 {
		name += " with " + headers[0]
	}
	return rubbish{name, func(e exchange) { e.answer(code, text, html, headers...) }}
}

func plain(name string, code int, contentType, body string, headers ...string) rubbish {
	return rubbish{name, func(e exchange) { e.answer(code, contentType, body, headers...) }}
}

func zipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, s)
	_ = w.Close()
	return b.String()
}

var allRubbish = []rubbish{
	page(200), page(401), page(403), page(404), page(409), page(429), page(500), page(502), page(503), page(504),
	page(302, "Location: /login"),
	page(429, "Retry-After: 0"), page(503, "Retry-After: 3600"), page(500, "Retry-After: 1"),
	{"HTML 503 with an HTTP date", func(e exchange) {
		e.answer(503, text, html, "Retry-After: "+time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
	}},
	plain("an empty body", 200, js, ""),
	plain("an empty 404", 404, "", ""),
	plain("204", 204, "", ""),
	plain("null", 200, js, "null"),
	plain("{}", 200, js, "{}"),
	plain("[]", 200, js, "[]"),
	plain("a Pod", 200, js, aPod),
	plain("a Lease without uid and version", 200, js, aForged),
	plain("a Status Success", 200, js, fmt.Sprintf(status, "Success", "", 200)),
	plain("a bare Status 404", 404, js, fmt.Sprintf(status, "Failure", "NotFound", 404)),
	plain("a bare Status 409", 409, js, fmt.Sprintf(status, "Failure", "Conflict", 409)),
	plain("truncated JSON", 200, js, aCut),
	plain("HTML called JSON", 200, js, html),
	plain("JSON called protobuf", 200, "application/vnd.kubernetes.protobuf", aForged),
	plain("a content type that is none", 404, "???;;=", html),
	plain("gzip without a header", 200, js, zipped(aForged)),
	{"a body shorter than its Content-Length", func(e exchange) { e.answer(200, js, aCut, "Content-Length: 4096") }},
	{"10 MB of HTML", func(e exchange) { e.answer(200, text, strings.Repeat(html, 10<<20/len(html))) }},
	{"a reset connection", func(e exchange) { e.hangUp(true) }},
	{"a closed connection", func(e exchange) { e.hangUp(false) }},
	{"no answer", exchange.hang},
	{"done, and the connection closed", func(e exchange) { e.pass(); e.hangUp(false) }},
	{"done, and no answer", func(e exchange) { e.pass(); e.hang() }},
	{"done, and HTML 502", func(e exchange) { e.pass(); e.answer(502, text, html) }},
	{"done, and HTML 409", func(e exchange) { e.pass(); e.answer(409, text, html) }},
}
