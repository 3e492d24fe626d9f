package locks_test

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http/httptest"

	coordinationv1 "k8s.io/api/coordination/v1"
)

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

type leaseObject = coordinationv1.Lease
