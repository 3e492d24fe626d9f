package locks_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed2c765205/elect"
	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/events"
	"github.com/seed2c765205/elect/locks"
	"github.com/seed2c765205/elect/locks/lockstest"
)

// TestWhatAnElectorDoesAboutEachAnswer gives each answer once to each operation of an elector, on each wire, and holds
// what came of it against a table that a person can review: testdata/answers.txt.
func TestWhatAnElectorDoesAboutEachAnswer(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, "%-42s %-8s %-16s %-13s %-10s %-12s %s\n", "answer", "to", "wires", "class", "outcome", "again in", "next")
	answers := map[string]met{}
	for name, s := range scenarios {
		answers[name] = met{answer: s.answer}
	}
	maps.Copy(answers, ways)
	for _, name := range slices.Sorted(maps.Keys(answers)) {
		for _, op := range []string{"read", "create", "update", "release"} {
			lines := map[string][]string{}
			for _, wire := range []string{"json", "protobuf", "cbor"} {
				line := ""
				synctest.Test(t, func(t *testing.T) { line = meet(t, answers[name], op, wire, byRun) })
				synctest.Test(t, func(t *testing.T) {
					if step := meet(t, answers[name], op, wire, byStep); step != line {
						t.Errorf("%s to %s in %s: by Run %q, by Step %q", name, op, wire, line, step)
					}
				})
				lines[line] = append(lines[line], wire)
			}
			for _, line := range slices.Sorted(maps.Keys(lines)) {
				wires := strings.Join(lines[line], ",")
				if len(lines[line]) == 3 {
					wires = "all"
				}
				fmt.Fprintf(&b, "%-42s %-8s %-16s %s\n", name, op, wires, line)
			}
		}
	}
	goldenFile(t, "testdata/answers.txt", b.String())
}

func goldenFile(t *testing.T, file, got string) {
	t.Helper()
	if flag.Lookup("update").Value.String() == "true" { // the flag of the package's inner tests
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got:\n%s", file, got)
	}
}

// A met is what a request meets: an answer of the server, or a fault of the way to it.
type met struct {
	answer http.HandlerFunc
	way    func(*http.Request) error
}

// ways are faults of the way to the server, as net/http tells them.
var ways = map[string]met{
	"way: connection refused":            {way: undelivered(&net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED})},
	"way: connection reset":              {way: delivered(&net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET})},
	"way: broken pipe":                   {way: delivered(&net.OpError{Op: "write", Net: "tcp", Err: syscall.EPIPE})},
	"way: EOF":                           {way: delivered(io.EOF)},
	"way: name does not resolve":         {way: undelivered(&net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host"}})},
	"way: no answer to a dial":           {way: undelivered(&net.OpError{Op: "dial", Net: "tcp", Err: os.ErrDeadlineExceeded})},
	"way: TLS, unknown authority":        {way: undelivered(&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}})},
	"way: TLS, wrong name":               {way: undelivered(&tls.CertificateVerificationError{Err: x509.HostnameError{Certificate: &x509.Certificate{}}})},
	"way: TLS, certificate demanded":     {way: delivered(&net.OpError{Op: "remote error", Err: tls.AlertError(116)})},
	"way: plain HTTP from an HTTPS port": {way: undelivered(errors.New("http: server gave HTTP response to HTTPS client"))},
	"way: no answer":                     {way: silence},
	"way: a stall inside the body":       {answer: stall},
}

// undelivered is an error before there was a connection, delivered one after it.
func undelivered(err error) func(*http.Request) error {
	return func(r *http.Request) error {
		if trace := httptrace.ContextClientTrace(r.Context()); trace != nil {
			trace.GetConn(r.URL.Host)
		}
		return err
	}
}

func delivered(err error) func(*http.Request) error {
	return func(r *http.Request) error {
		if trace := httptrace.ContextClientTrace(r.Context()); trace != nil {
			trace.GetConn(r.URL.Host)
			trace.GotConn(httptrace.GotConnInfo{})
		}
		return err
	}
}

func silence(r *http.Request) error {
	<-r.Context().Done()
	return delivered(context.Cause(r.Context()))(r)
}

func stall(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	_, _ = io.WriteString(w, `{"kind":"Lea`)
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

// A gate lets requests pass, or fail on the way.
type gate struct {
	next  http.RoundTripper
	fails func(*http.Request) error
}

func (g *gate) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := g.fails(r); err != nil {
		return nil, err
	}
	return g.next.RoundTrip(r)
}

// A spy notes how the call came out that was answered by the scenario.
type spy struct {
	elector.Lock
	faulty *bool
	err    error
	seen   bool
}

func (s *spy) note(err error) {
	if *s.faulty && !s.seen {
		s.seen, s.err = true, err
	}
}

func (s *spy) Read(ctx context.Context) (elector.Snapshot, error) {
	snap, err := s.Lock.Read(ctx)
	s.note(err)
	return snap, err
}

func (s *spy) Write(ctx context.Context, prev elector.Snapshot, next elector.Record) (elector.Snapshot, error) {
	snap, err := s.Lock.Write(ctx, prev, next)
	s.note(err)
	return snap, err
}

// meet lets one request of an elector meet the answer, and tells in a line what came of it.
func meet(t *testing.T, m met, op, wire string, drive func(context.Context, *elector.Elector) error) string {
	server := lockstest.NewServer()
	cfg := server.Config()
	if wire == "protobuf" {
		wire = "vnd.kubernetes.protobuf"
	}
	cfg.ContentType, cfg.AcceptContentTypes = "application/"+wire, "application/"+wire+",application/json"
	faulty := false
	var next []string
	gate := &gate{next: cfg.Transport, fails: func(r *http.Request) error {
		switch {
		case faulty:
			next = append(next, r.Method)
		case r.Method == methods[op] && ready(server, op):
			faulty = true
			if sent := r.Header.Get("Content-Type"); sent != "" && sent != cfg.ContentType {
				t.Errorf("a body was sent as %s, want %s", sent, cfg.ContentType)
			}
			if m.way != nil {
				return m.way(r)
			}
			server.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
				server.Intercept(nil)
				m.answer(w, r)
				return true
			})
		}
		return nil
	}}
	cfg.Transport = gate
	lock, err := locks.NewLeaseForConfig(cfg, "default", "demo")
	if err != nil {
		t.Fatal(err)
	}
	s := &spy{Lock: lock, faulty: &faulty}
	e, err := elector.New(elector.Config{
		Lock: s, Identity: "a", Backoff: elect.Constant(time.Second), Rand: rand.New(rand.NewPCG(1, 1)),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- drive(ctx, e) }()
	if op == "release" {
		time.Sleep(time.Second)
		stop()
	}
	time.Sleep(9 * time.Second) // the update is answered at 5 s, the trust before it ends at 10 s
	state := e.Status().State
	stop()
	if err := <-done; err != nil {
		t.Errorf("Run returned %v", err)
	}
	return describe(s, firstError(e), next, state)
}

func byRun(ctx context.Context, e *elector.Elector) error { return e.Run(ctx) }

func byStep(ctx context.Context, e *elector.Elector) error {
	for {
		next := e.Step(ctx)
		if next.IsZero() {
			return nil
		}
		timer := time.NewTimer(time.Until(next))
		stop := ctx.Done()
		if ctx.Err() != nil {
			stop = nil
		}
		select {
		case <-timer.C:
		case <-stop:
		}
		timer.Stop()
	}
}

var methods = map[string]string{
	"read": http.MethodGet, "create": http.MethodPost, "update": http.MethodPut, "release": http.MethodPut,
}

// ready tells whether the request is the one to be met: a release is the only write when it is asked for, within a second.
func ready(server *lockstest.Server, op string) bool {
	l := server.Lease("default", "demo")
	return op == "read" || op == "create" || l != nil
}

// firstError reads the events of an elector that has ended.
func firstError(e *elector.Elector) (first *events.Error) {
	for event := range e.Events() {
		if event, ok := event.(events.Error); ok && first == nil {
			first = &event
		}
	}
	return first
}

func describe(s *spy, fault *events.Error, next []string, state elector.State) string {
	class, again := "-", "at once"
	if fault != nil {
		class = fault.Class.String()
		if d := fault.RetryAt.Sub(fault.Time); d > 0 {
			again = d.Round(10 * time.Millisecond).String()
		}
	}
	then := "nothing"
	if len(next) > 0 {
		then = next[0]
	}
	return fmt.Sprintf("%-13s %-10s %-12s %s, then %v", class, outcomeWord(s.err), again, then, state)
}

func outcomeWord(err error) string {
	call, ok := errors.AsType[*elector.CallError](err)
	switch {
	case err == nil:
		return "applied"
	case errors.Is(err, elector.ErrNotFound):
		return "not found"
	case errors.Is(err, elector.ErrConflict):
		return "refused"
	case ok && call.NotApplied:
		return "rejected"
	}
	return "unknown"
}
