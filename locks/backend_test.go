package locks_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"sync/atomic"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/locks/lockstest"
)

var ctx = context.Background()

func ptr[T any](v T) *T { return &v }

// the lock's own annotations, which other programs know by these names
const (
	ownMark   = "elect.seed2c765205.dev/mark"
	ownRecord = "control-plane.alpha.kubernetes.io/leader"
)

// A maker makes a handle on the lock of a namespace and a name.
type maker func(t *testing.T, cfg *rest.Config, namespace, name string) elector.Lock

// exerciseOnEveryWire runs the conformance suite for a kind of lock over each transport with each wire format.
func exerciseOnEveryWire(t *testing.T, makers map[string]maker, backend func(*lockstest.Server, func(namespace string) elector.Lock) lockstest.Backend) {
	t.Helper()
	for name, newLock := range makers {
		for _, wire := range []string{"json", "vnd.kubernetes.protobuf"} {
			for _, transport := range []string{"HTTP", "in process"} {
				t.Run(name+" over "+transport+" in "+wire, func(t *testing.T) {
					lockstest.ExerciseBackend(t, func(t *testing.T) lockstest.Backend {
						s := lockstest.NewServer()
						cfg := s.Config()
						if transport == "HTTP" {
							cfg = s.Listen(t)
						}
						cfg.ContentType, cfg.AcceptContentTypes = "application/"+wire, "application/"+wire
						return backend(s, func(namespace string) elector.Lock { return newLock(t, cfg, namespace, "demo") })
					})
				})
			}
		}
	}
}

// kubernetesBackend is what the backends of all locks on the server share.
func kubernetesBackend(s *lockstest.Server, newLock func(namespace string) elector.Lock) lockstest.Backend {
	return lockstest.Backend{
		Lock:    newLock("default"),
		Second:  func() elector.Lock { return newLock("default") },
		Garbles: garbles(s),
		Hang:    func() (<-chan struct{}, func()) { return hang(s) },
		Nowhere: newLock("nowhere"),
	}
}

// hang makes all requests hang until their context ends.
func hang(s *lockstest.Server) (arrived <-chan struct{}, resume func()) {
	requests := make(chan struct{}, 1)
	s.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
		requests <- struct{}{}
		<-r.Context().Done()
		return true
	})
	return requests, func() { s.Intercept(nil) }
}

// garbles are answers of success that are not the lock's object.
func garbles(s *lockstest.Server) map[string]func() {
	const jsonType = "application/json"
	bodies := map[string]struct{ contentType, body string }{
		"HTML":               {"text/html", "<html><h1>Please log in</h1></html>"},
		"an empty object":    {jsonType, `{}`},
		"null":               {jsonType, `null`},
		"an empty list":      {jsonType, `[]`},
		"some object":        {jsonType, `{"ok":true}`},
		"a Pod":              {jsonType, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"demo","namespace":"default","uid":"u","resourceVersion":"7"}}`},
		"an unknown kind":    {jsonType, `{"apiVersion":"x.io/v1","kind":"Foo"}`},
		"success":            {jsonType, `{"apiVersion":"v1","kind":"Status","metadata":{},"status":"Success"}`},
		"half an object":     {jsonType, `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","meta`},
		"HTML called JSON":   {jsonType, `<html>`},
		"an empty body":      {jsonType, ``},
		"a nameless Lease":   {jsonType, `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{}}`},
		"another name":       {jsonType, `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"other","namespace":"default","uid":"u","resourceVersion":"7"}}`},
		"another namespace":  {jsonType, `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"demo","namespace":"other","uid":"u","resourceVersion":"7"}}`},
		"no uid":             {jsonType, `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"demo","namespace":"default","resourceVersion":"7"}}`},
		"no resourceVersion": {jsonType, `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"demo","namespace":"default","uid":"u"}}`},
	}
	result := map[string]func(){}
	for name, b := range bodies {
		result[name] = func() {
			next(s, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", b.contentType)
				_, _ = fmt.Fprint(w, b.body)
			})
		}
	}
	return result
}

// next answers the next request, and no other.
func next(s *lockstest.Server, answer func(http.ResponseWriter, *http.Request)) {
	var done atomic.Bool
	s.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if done.Swap(true) {
			return false
		}
		answer(w, r)
		return true
	})
}

func leaseBackend(s *lockstest.Server, newLock func(namespace string) elector.Lock) lockstest.Backend {
	b := kubernetesBackend(s, newLock)
	b.Delete = func() { s.DeleteLease("default", "demo") }
	b.Decorate = func() func() error {
		decorated := s.EditLease("default", "demo", func(l *coordinationv1.Lease) { decorate(&l.ObjectMeta) })
		return func() error { return metaLost(decorated.ObjectMeta, s.Lease("default", "demo").ObjectMeta) }
	}
	return b
}

func decorate(m *metav1.ObjectMeta) {
	m.Labels = map[string]string{"app": "shop"}
	m.Annotations = maps.Clone(m.Annotations)
	if m.Annotations == nil {
		m.Annotations = map[string]string{}
	}
	m.Annotations["example.com/note"] = ` {"kept": "byte for byte"} `
	m.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "u", Controller: ptr(true)}}
	m.Finalizers = []string{"example.com/hold"}
	m.ManagedFields = []metav1.ManagedFieldsEntry{{
		Manager: "other", Operation: metav1.ManagedFieldsOperationApply, APIVersion: "v1", FieldsType: "FieldsV1",
		FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{"f:app":{}}}}`),
	}}
}

// metaLost tells what of an object's metadata a lock has changed that is not its own.
func metaLost(was, is metav1.ObjectMeta) error {
	for _, m := range []*metav1.ObjectMeta{&was, &is} {
		m.ResourceVersion = ""
		m.Annotations = maps.Clone(m.Annotations)
		delete(m.Annotations, ownMark)
		delete(m.Annotations, ownRecord)
	}
	if !reflect.DeepEqual(was, is) {
		return fmt.Errorf("the metadata was %+v, and is %+v", was, is)
	}
	return nil
}
