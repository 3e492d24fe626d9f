//go:build unix

package integration

import (
	"io"
	"net/http"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
)

// A tap stands in a client's way to the real server. It lets requests through, answers the next one itself, or lets all
// hang until their contexts end.
type tap struct {
	mu      sync.Mutex
	answer  *http.Response // of the next request; nil: the server's
	arrived chan struct{}  // tells of each request that hangs; nil: none does
}

// through is a copy of config whose requests pass the tap.
func (t *tap) through(config *rest.Config) *rest.Config {
	c := rest.CopyConfig(config)
	c.QPS = -1
	c.Wrap(func(next http.RoundTripper) http.RoundTripper { return tapped{t, next} })
	return c
}

type tapped struct {
	*tap
	next http.RoundTripper
}

func (t tapped) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, arrived := t.turn()
	switch {
	case arrived != nil:
		select {
		case arrived <- struct{}{}:
		case <-r.Context().Done():
		}
		<-r.Context().Done()
		return nil, r.Context().Err()
	case answer != nil:
		answer.Request = r
		return answer, nil
	}
	return t.next.RoundTrip(r)
}

// turn takes what is set for the next request.
func (t *tap) turn() (answer *http.Response, arrived chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	answer, t.answer = t.answer, nil
	return answer, t.arrived
}

func (t *tap) hang() (arrived <-chan struct{}, resume func()) {
	requests := make(chan struct{})
	t.setHang(requests)
	return requests, func() { t.setHang(nil) }
}

func (t *tap) setHang(arrived chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.arrived = arrived
}

// garbles let the next request be answered with a success that is not the lock's object.
func (t *tap) garbles() map[string]func() {
	garbles := map[string]func(){}
	for name, body := range map[string]string{
		"an empty object": `{}`,
		"null":            `null`,
		"a Pod":           `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"demo","uid":"u","resourceVersion":"7"}}`,
		"success":         `{"apiVersion":"v1","kind":"Status","metadata":{},"status":"Success"}`,
		"half an object":  `{"apiVersion":"v1","kind":"Conf`,
		"HTML":            `<html>`,
	} {
		garbles[name] = func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.answer = &http.Response{
				StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
				Header: http.Header{"Content-Type": {"application/json"}},
				Body:   io.NopCloser(strings.NewReader(body)),
			}
		}
	}
	return garbles
}
