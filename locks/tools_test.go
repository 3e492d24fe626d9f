package locks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
)

type leaseObject = coordinationv1.Lease

func uidOf(s string) types.UID { return types.UID(s) }

func discard() *log.Logger { return log.New(io.Discard, "", 0) }

func pemOf(s *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

// refusing is a client-side rate limiter that is exhausted.
type refusing struct{}

func (refusing) TryAccept() bool { return false }
func (refusing) Accept()         {}
func (refusing) Stop()           {}
func (refusing) QPS() float32    { return 1 }

func (refusing) Wait(context.Context) error {
	return errors.New("rate: Wait(n=1) would exceed context deadline")
}

// capture keeps what a server answers, for a test to change it.
type capture struct {
	header http.Header
	body   bytes.Buffer
}

func (c *capture) Header() http.Header         { return c.header }
func (c *capture) WriteHeader(int)             {}
func (c *capture) Write(p []byte) (int, error) { return c.body.Write(p) }
func (c *capture) lease() *coordinationv1.Lease {
	l := &coordinationv1.Lease{}
	_ = json.Unmarshal(c.body.Bytes(), l)
	return l
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// answering intercepts every request with one answer.
func answering(answer http.HandlerFunc) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		answer(w, r)
		return true
	}
}
