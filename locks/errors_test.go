package locks_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/client-go/rest"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/events"
	"github.com/seed2c765205/elect/locks/lockstest"
)

// An outcome is what a lock says of an answer.
type outcome struct {
	err        error // ErrNotFound or ErrConflict, or nil
	class      events.Class
	applied    applied
	retryAfter time.Duration
	decode     bool // a DecodeError is in the chain
	status     int  // of that DecodeError
}

// applied is what is known of a write.
type applied string

const (
	unknown applied = "unknown"
	not     applied = "not applied"
)

// A scenario is an answer and what each operation must make of it.
type scenario struct {
	answer               http.HandlerFunc
	read, create, update outcome
	typed                *outcome // for a typed client, where it sees less than the private one
}

// each is a scenario that is the same for all operations.
func each(answer http.HandlerFunc, o outcome) scenario {
	return scenario{answer: answer, read: o, create: o, update: o}
}

func unreadable(status int) outcome {
	return outcome{class: events.ClassDecode, applied: unknown, decode: true, status: status}
}

func page(code int, contentType, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = nil
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		}
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// status is the answer with a Status; fields are the rest of its JSON.
func status(code int, reason, message, fields string, header ...string) http.HandlerFunc {
	body := fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":%q,"reason":%q%s,"code":%d}`,
		message, reason, fields, code)
	return page(code, "application/json", body, header...)
}

const (
	aboutDemo  = `,"details":{"name":"demo","group":"coordination.k8s.io","kind":"leases"}`
	aboutSpace = `,"details":{"name":"default","kind":"namespaces"}`
	html       = "<html><body>proxy</body></html>"
)

var (
	forbidden    = outcome{class: events.ClassForbidden, applied: not}
	unauthorized = outcome{class: events.ClassUnauthorized, applied: not}
	invalid      = outcome{class: events.ClassInvalid, applied: not}
	unavailable  = outcome{class: events.ClassUnavailable, applied: unknown}
	timeout      = outcome{class: events.ClassTimeout, applied: unknown}
	throttled    = outcome{class: events.ClassThrottled, applied: not}
	elsewhere    = outcome{class: events.ClassNotFound, applied: unknown, decode: true, status: 404}
	odd          = outcome{class: events.ClassConflict, applied: unknown}
)

func (o outcome) after(d time.Duration) outcome { o.retryAfter = d; return o }

var scenarios = map[string]scenario{
	"404 Status about the Lease": {answer: status(404, "NotFound", "leases \"demo\" not found", aboutDemo),
		read: outcome{err: elector.ErrNotFound}, create: elsewhere, update: outcome{err: elector.ErrConflict}},
	"404 Status about another Lease":       each(status(404, "NotFound", "", strings.Replace(aboutDemo, "demo", "other", 1)), elsewhere),
	"404 Status about the namespace":       each(status(404, "NotFound", "", aboutSpace), outcome{class: events.ClassNotFound, applied: not}),
	"404 Status without details":           each(status(404, "NotFound", "not found", ""), elsewhere),
	"404 Status with empty details":        each(status(404, "NotFound", "", `,"details":{}`), elsewhere),
	"404 HTML":                             each(page(404, "text/html", html), unreadable(404)),
	"404 of an API that is not served":     each(page(404, "text/plain; charset=utf-8", "404 page not found\n"), elsewhere),
	"404 empty, without a Content-Type":    each(page(404, "", ""), unreadable(404)),
	"404 JSON of another kind":             each(page(404, "application/json", `{"error":"no"}`), unreadable(404)),
	"404 JSON, empty":                      each(page(404, "application/json", ""), unreadable(404)),
	"404 HTML called JSON":                 each(page(404, "application/json", html), unreadable(404)),
	"404 half a Status":                    each(page(404, "application/json", `{"kind":"Status","apiVe`), unreadable(404)),
	"404 with a broken Content-Type":       withTyped(each(page(404, "text/html; =", html), unreadable(404)), unavailable),
	"200 with a Status of failure":         {answer: page(200, "application/json", statusBody(404, "NotFound", aboutDemo)), read: outcome{err: elector.ErrNotFound}, create: elsewhere.seen(200), update: outcome{err: elector.ErrConflict}},
	"409 Status Conflict":                  {answer: status(409, "Conflict", "the object has been modified", aboutDemo), read: odd, create: odd, update: outcome{err: elector.ErrConflict}},
	"409 Status AlreadyExists":             {answer: status(409, "AlreadyExists", "already exists", aboutDemo), read: odd, create: outcome{err: elector.ErrConflict}, update: odd},
	"409 Status about a quota":             each(status(409, "Conflict", "", `,"details":{"name":"q","kind":"resourcequotas"}`), odd),
	"409 Status without details":           each(status(409, "Conflict", "", ""), odd),
	"409 HTML":                             each(page(409, "text/html", html), unreadable(409)),
	"500 empty":                            each(page(500, "", ""), unreadable(500)),
	"500 Status of etcd's":                 each(status(500, "", "etcdserver: request timed out", ""), unavailable),
	"500 Status leader changed":            each(status(500, "", "etcdserver: leader changed", ""), unavailable),
	"500 Status ServerTimeout":             each(status(500, "ServerTimeout", "try again", `,"details":{"retryAfterSeconds":2}`), timeout.after(2*time.Second)),
	"500 HTML of 10 MB":                    each(page(500, "text/html", strings.Repeat("<html>", 10<<20/6)), unreadable(500)),
	"502 HTML":                             each(page(502, "text/html", html), unreadable(502)),
	"503 HTML":                             each(page(503, "text/html", html), unreadable(503)),
	"503 empty":                            each(page(503, "", ""), unreadable(503)),
	"503 Status":                           each(status(503, "ServiceUnavailable", "", ""), unavailable),
	"504 HTML":                             each(page(504, "text/html", html), unreadable(504)),
	"504 Status Timeout":                   each(status(504, "Timeout", "request did not complete", ""), timeout),
	"504 Status too large resourceVersion": each(status(504, "Timeout", "Too large resource version", `,"details":{"retryAfterSeconds":1}`), timeout.after(time.Second)),
	"401 Status":                           each(status(401, "Unauthorized", "Unauthorized", ""), unauthorized),
	"401 HTML":                             each(page(401, "text/html", html), unreadable(401)),
	"403 Status":                           each(status(403, "Forbidden", "", aboutDemo), forbidden),
	"403 HTML of a firewall":               each(page(403, "text/html", html), unreadable(403)),
	"400 Status":                           each(status(400, "BadRequest", `cannot parse ".103Z" as ".000000"`, ""), invalid),
	"400 text":                             each(page(400, "text/plain", "Client sent an HTTP request to an HTTPS server."), unreadable(400)),
	"405 Status":                           each(status(405, "MethodNotAllowed", "", ""), invalid),
	"408 Status":                           each(status(408, "Timeout", "", ""), timeout),
	"410 Status Expired":                   each(status(410, "Expired", "too old resource version", ""), unavailable),
	"413 Status":                           each(status(413, "RequestEntityTooLarge", "", ""), invalid),
	"413 HTML":                             each(page(413, "text/html", html), unreadable(413)),
	"418 Status":                           each(status(418, "", "", ""), outcome{class: events.ClassInvalid, applied: unknown}),
	"422 Status":                           each(status(422, "Invalid", "", `,"details":{"name":"demo","group":"coordination.k8s.io","kind":"Lease"}`), invalid),
	"429 Status without a header":          each(status(429, "TooManyRequests", "", `,"details":{"retryAfterSeconds":1}`), throttled.after(time.Second)),
	"429 text of the API server":           each(page(429, "text/plain; charset=utf-8", "Too many requests, please try again later.\n"), throttled),
	"429 HTML":                             each(page(429, "text/html", html), unreadable(429)),
	"302 to a login page":                  withTyped(each(login, unreadable(302)), unreadable(0)),
	"301 without a place":                  withTyped(each(page(301, "text/html", html), unreadable(301)), unreadable(301)),
	"204":                                  withTyped(each(page(204, "", ""), unreadable(204)), unreadable(0)),
	"200 HTML":                             withTyped(each(page(200, "text/html", html), unreadable(200)), unreadable(0)),
	"200 a body shorter than its length":   withTyped(each(page(200, "application/json", `{"kind":"Lea`, "Content-Length", "100"), unreadable(200)), unreadable(0)),
	"200 an object of 10 MB":               onlyPrivate(page(200, "application/json", `{"metadata":{"name":"`+strings.Repeat("x", 10<<20)+`"}}`), unreadable(200)),
	"connection closed without an answer":  onlyPrivate(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, unavailable),
	"429 Status Retry-After: 1":            onlyPrivate(status(429, "TooManyRequests", "", `,"details":{"retryAfterSeconds":1}`, "Retry-After", "1"), throttled.after(time.Second)),
	"429 Status Retry-After: 3600":         onlyPrivate(status(429, "TooManyRequests", "", "", "Retry-After", "3600"), throttled.after(time.Hour)),
	"429 HTML Retry-After: 0":              onlyPrivate(page(429, "text/html", html, "Retry-After", "0"), unreadable(429)),
	"429 HTML Retry-After an instant":      onlyPrivate(page(429, "text/html", html, "Retry-After", "Mon, 17 Aug 2026 12:00:30 GMT", "Date", "Mon, 17 Aug 2026 12:00:00 GMT"), unreadable(429).after(30*time.Second)),
	"429 HTML Retry-After a past instant":  onlyPrivate(page(429, "text/html", html, "Retry-After", "Mon, 17 Aug 2026 11:00:00 GMT", "Date", "Mon, 17 Aug 2026 12:00:00 GMT"), unreadable(429)),
	"429 Status Retry-After without a Date": onlyPrivate(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Date"] = nil
		status(429, "TooManyRequests", "", "", "Retry-After", "Mon, 17 Aug 2026 12:00:30 GMT")(w, r)
	}, throttled),
	"429 Status Retry-After without sense":   onlyPrivate(status(429, "TooManyRequests", "", "", "Retry-After", "soon"), throttled),
	"503 HTML Retry-After: 7":                onlyPrivate(page(503, "text/html", html, "Retry-After", "7"), unreadable(503).after(7*time.Second)),
	"503 Status Retry-After beyond counting": onlyPrivate(status(503, "ServiceUnavailable", "", "", "Retry-After", "4000000000"), unavailable.after(365*24*time.Hour)),
}

func (o outcome) seen(status int) outcome { o.status = status; return o }

func statusBody(code int, reason, fields string) string {
	w := httptest.NewRecorder()
	status(code, reason, "", fields)(w, nil)
	return w.Body.String()
}

// login sends a client to a page that says 200.
func login(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/login" {
		page(200, "text/html", html)(w, r)
		return
	}
	page(302, "text/html", html, "Location", "/login")(w, r)
}

func withTyped(s scenario, o outcome) scenario { s.typed = &o; return s }

// onlyPrivate is for answers that make a typed client repeat its request.
func onlyPrivate(answer http.HandlerFunc, o outcome) scenario {
	return withTyped(each(answer, o), outcome{})
}

func TestWhatALeaseSaysOfEachAnswer(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(scenarios)) {
		sc := scenarios[name]
		t.Run(name, func(t *testing.T) {
			t.Run("private", func(t *testing.T) {
				writes := tryAll(t, privateLease, sc)
				if writes != 2 {
					t.Errorf("%d writes were sent for two calls", writes)
				}
			})
			switch {
			case sc.typed == nil:
				t.Run("typed", func(t *testing.T) { tryAll(t, typedLease, sc.forTyped()) })
			case *sc.typed != outcome{}:
				t.Run("typed", func(t *testing.T) { tryAll(t, typedLease, each(sc.answer, *sc.typed)) })
			}
		})
	}
}

// forTyped is what a typed client makes of a scenario: it does not know the code that came with a Status.
func (s scenario) forTyped() scenario {
	for _, o := range []*outcome{&s.read, &s.create, &s.update} {
		if o.status == 200 {
			o.status = 404
		}
	}
	return s
}

// tryAll makes one call of each operation, each answered by the scenario after the lock was read in peace. It returns how
// many writes the server saw.
func tryAll(t *testing.T, newLock maker, sc scenario) int32 {
	t.Helper()
	s := lockstest.NewServer()
	s.EditLease("default", "demo", func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = ptr("b") })
	lock := newLock(t, s.Listen(t), "default", "demo")
	present, err := lock.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var writes atomic.Int32
	s.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet {
			writes.Add(1)
		}
		sc.answer(w, r)
		return true
	})
	_, err = lock.Read(ctx)
	check(t, "read", err, sc.read)
	_, err = lock.Write(ctx, elector.Snapshot{}, record)
	check(t, "create", err, sc.create)
	_, err = lock.Write(ctx, present, record)
	check(t, "update", err, sc.update)
	return writes.Load()
}

var record = elector.Record{
	Holder: "a", LeaseDuration: 15 * time.Second, Transitions: 3, Mark: "a-1",
	AcquireTime: time.Date(2026, 8, 17, 12, 0, 0, 123456000, time.UTC), RenewTime: time.Date(2026, 8, 17, 12, 0, 5, 0, time.UTC),
}

func check(t *testing.T, op string, err error, want outcome) {
	t.Helper()
	var call *elector.CallError
	var decode *elector.DecodeError
	var got outcome
	for _, sentinel := range []error{elector.ErrNotFound, elector.ErrConflict} {
		if errors.Is(err, sentinel) {
			got.err = sentinel
		}
	}
	if errors.As(err, &call) {
		got.class, got.applied, got.retryAfter = call.Class, unknown, call.RetryAfter
		if call.NotApplied {
			got.applied = not
		}
	}
	if errors.As(err, &decode) {
		got.decode, got.status = true, decode.Status
	}
	if got != want {
		t.Errorf("%s: %v\n got %+v\nwant %+v", op, err, got, want)
	}
}

func TestWhatALeaseSaysOfARequestThatCannotBeSent(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	secret := httptest.NewUnstartedServer(http.NotFoundHandler())
	secret.Config.ErrorLog = discard()
	secret.StartTLS()
	defer secret.Close()
	notSent := outcome{class: events.ClassUnavailable, applied: not}
	for name, cfg := range map[string]*rest.Config{
		"connection refused":           {Host: closed.URL},
		"a name that does not resolve": {Host: "http://elect.invalid", Dial: unresolved},
		"an unknown authority":         {Host: secret.URL},
		"another name":                 {Host: secret.URL, TLSClientConfig: rest.TLSClientConfig{ServerName: "other.example", CAData: pemOf(secret)}},
		"no TLS there":                 {Host: strings.Replace(plain.URL, "http:", "https:", 1)},
		"a transport that cannot dial": {Host: "http://x", Transport: failing{&net.OpError{Op: "dial", Err: errDown}}},
	} {
		for client, newLock := range map[string]maker{"private": privateLease, "typed": typedLease} {
			t.Run(name+"/"+client, func(t *testing.T) {
				_, err := newLock(t, cfg, "default", "demo").Write(ctx, elector.Snapshot{}, record)
				check(t, "create", err, notSent)
			})
		}
	}
	t.Run("a transport that fails otherwise", func(t *testing.T) {
		_, err := privateLease(t, &rest.Config{Host: "http://x", Transport: failing{errDown}}, "default", "demo").Write(ctx, elector.Snapshot{}, record)
		check(t, "create", err, unavailable)
		if want := "create lease default/demo: down"; err.Error() != want {
			t.Errorf("text is %q, want %q", err, want)
		}
	})
}

var errDown = errors.New("down")

func unresolved(context.Context, string, string) (net.Conn, error) {
	return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "elect.invalid", IsNotFound: true}}
}

type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

func TestAClientsOwnLimits(t *testing.T) {
	s := lockstest.NewServer()
	cfg := s.Config()
	cfg.RateLimiter = refusing{}
	_, err := typedLease(t, cfg, "default", "demo").Write(ctx, elector.Snapshot{}, record)
	check(t, "create", err, throttled)
	if len(s.Requests()) != 0 {
		t.Error("a request was sent")
	}
	if _, err = privateLease(t, cfg, "default", "demo").Write(ctx, elector.Snapshot{}, record); err != nil {
		t.Errorf("a private client minds the caller's rate limiter: %v", err)
	}
	_, err = typedLease(t, &rest.Config{Host: "http://x", Transport: failing{&url.Error{Op: "Put", URL: "x", Err: context.DeadlineExceeded}}},
		"default", "demo").Write(ctx, elector.Snapshot{}, record)
	check(t, "create", err, timeout)
}

func TestAContextThatEndsIsTold(t *testing.T) {
	errMine := errors.New("mine")
	for name, c := range map[string]struct {
		cause error
		class events.Class
	}{
		"cancelled":              {nil, events.ClassCanceled},
		"cancelled with a cause": {errMine, events.ClassCanceled},
		"out of time":            {context.DeadlineExceeded, events.ClassTimeout},
	} {
		for client, newLock := range leaseMakers {
			for where, applied := range map[string]applied{
				"before": not, "before a connection": not, "before the answer": unknown, "inside the body": unknown,
			} {
				t.Run(name+" "+where+"/"+client, func(t *testing.T) {
					ctx, cancel := context.WithCancelCause(ctx)
					cfg := endAt(t, where, func() { cancel(c.cause) })
					_, err := newLock(t, cfg, "default", "demo").Write(ctx, elector.Snapshot{}, record)
					check(t, "create", err, outcome{class: c.class, applied: applied})
					for _, is := range []error{ctx.Err(), context.Cause(ctx)} {
						if !errors.Is(err, is) {
							t.Errorf("errors.Is(%q, %q) is false", err, is)
						}
					}
				})
			}
		}
	}
}

// endAt is a server that lets a context end at a point of a request.
func endAt(t *testing.T, where string, end func()) *rest.Config {
	s := lockstest.NewServer()
	cfg := s.Listen(t)
	switch where {
	case "before":
		end()
	case "before the answer":
		s.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
			end()
			<-r.Context().Done()
			return true
		})
	case "inside the body":
		s.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"kind":`)
			_ = http.NewResponseController(w).Flush()
			end()
			<-r.Context().Done()
			return true
		})
	case "before a connection": // net/http goes on dialing for whoever comes next
		over := make(chan struct{})
		t.Cleanup(func() { close(over) })
		cfg.Dial = func(context.Context, string, string) (net.Conn, error) {
			end()
			<-over
			return nil, errDown
		}
	}
	return cfg
}
