package lockstest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// A Server is an API server for Leases and ConfigMaps, in memory. It is an http.Handler; clients reach it in process
// through Config and Client, or over HTTP through Listen. All methods are safe for concurrent use.
//
// What it does as the real one: it compares resourceVersion and uid, stores nothing and keeps the resourceVersion when a
// PUT changes nothing, counts one resourceVersion over all objects, validates a Lease's spec, knows which namespaces
// exist, answers in JSON, protobuf or CBOR, and streams watches of one object or of all. What it has not: patches,
// finalizers that hold a deletion, label selectors, bookmarks, authentication, and a clock.
type Server struct {
	store  *store
	broken error // what every request is answered with, if the server could not be set up

	mu        sync.Mutex
	intercept func(http.ResponseWriter, *http.Request) bool
	requests  []Request
	closing   chan struct{} // closed by CloseWatches, and replaced
}

// A Request is one that the server was sent.
type Request struct {
	Method, Path, Query string
	Header              http.Header
	UserAgent           string
}

// requestLimit is how many requests are remembered.
const requestLimit = 4096

// NewServer returns a server at which nothing is stored. The namespace "default" exists.
func NewServer() *Server { return &Server{store: newStore(), closing: make(chan struct{})} }

// Intercept makes fn see every request from now on, before the server does. If fn returns true, it has answered, and the
// server does nothing. fn may hang until the request's context ends, panic with http.ErrAbortHandler to close the
// connection without an answer, or call Answer. It is called concurrently; nil ends it.
func (s *Server) Intercept(fn func(http.ResponseWriter, *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.intercept = fn
}

// ServeHTTP answers a request. It reads the body first, whoever answers: net/http notices that a client is gone, and ends
// the request's context, only once the body has been read.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(data))
	if intercept := s.seen(r); intercept != nil && intercept(w, r) {
		return
	}
	s.Answer(w, r)
}

func (s *Server) seen(r *http.Request) func(http.ResponseWriter, *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, Request{
		Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header.Clone(), UserAgent: r.UserAgent(),
	})
	s.requests = s.requests[max(0, len(s.requests)-requestLimit):]
	return s.intercept
}

// Requests returns the requests since the start or the last ForgetRequests, the oldest first, at most the latest 4096.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// ForgetRequests makes Requests begin anew.
func (s *Server) ForgetRequests() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = nil
}

// Config returns a client configuration that reaches the server in process: without sockets, so that client and server
// may run inside a testing/synctest bubble, and without a client-side rate limit. Each call returns a new one.
func (s *Server) Config() *rest.Config {
	return &rest.Config{Host: "http://lockstest.invalid", Transport: inProcess{s}, QPS: -1}
}

// Listen starts an HTTP server on the loopback interface, which is closed when the test ends, and returns a client
// configuration for it.
func (s *Server) Listen(tb testing.TB) *rest.Config {
	tb.Helper()
	server := httptest.NewServer(s)
	tb.Cleanup(func() {
		s.CloseWatches()
		server.Close()
	})
	return &rest.Config{Host: server.URL, QPS: -1}
}

// Client returns client-go's typed clientset, in process.
func (s *Server) Client() kubernetes.Interface {
	client, _ := kubernetes.NewForConfig(s.Config()) // cannot fail: the configuration is constant
	return client
}

// CloseWatches ends all watches that are open, as a server does now and then.
func (s *Server) CloseWatches() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.closing)
	s.closing = make(chan struct{})
}

func (s *Server) watchesEnd() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closing
}
