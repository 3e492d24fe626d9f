//go:build unix

package integration

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seed2c765205/elect/integration/internal/monotonic"
)

// A version is one state of the Lease, as a watch told of it.
type version struct {
	at       time.Duration // when the watch told of it
	holder   string
	writer   string // who wrote it, by what the API server notes of the managers of fields
	duration time.Duration
}

func (v version) String() string {
	return fmt.Sprintf("%q holds for %v, written by %s", v.holder, v.duration, v.writer)
}

// A history is all versions of a Lease, in order.
type history struct {
	mu       sync.Mutex
	versions []version
}

// watchLease keeps the history of a Lease until the test ends. The Lease must not exist yet.
func watchLease(t *testing.T, namespace, name string) *history {
	t.Helper()
	h := &history{}
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	leases := cluster.Client().CoordinationV1().Leases(namespace)
	list, err := leases.List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	revision := list.ResourceVersion
	done.Go(func() {
		for ctx.Err() == nil {
			w, err := leases.Watch(ctx, metav1.ListOptions{
				ResourceVersion: revision, FieldSelector: "metadata.name=" + name,
			})
			if err != nil {
				if ctx.Err() == nil {
					t.Errorf("watch the Lease: %v", err)
				}
				return
			}
			for e := range w.ResultChan() {
				l, ok := e.Object.(*coordinationv1.Lease)
				if !ok && ctx.Err() != nil {
					continue
				}
				if !ok {
					t.Errorf("watch the Lease: %v", apierrors.FromObject(e.Object))
					w.Stop()
					return
				}
				revision = l.ResourceVersion
				h.add(l)
			}
		}
	})
	t.Cleanup(func() { cancel(); done.Wait() })
	return h
}

func (h *history) add(l *coordinationv1.Lease) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.versions = append(h.versions, version{
		at: monotonic.Now(), holder: *l.Spec.HolderIdentity, writer: writerOf(l),
		duration: time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second,
	})
}

// writerOf is the manager of renewTime: every write of either library changes it.
func writerOf(l *coordinationv1.Lease) string {
	for _, m := range l.ManagedFields {
		if m.FieldsV1 != nil && strings.Contains(string(m.FieldsV1.GetRawBytes()), `"f:renewTime"`) {
			return m.Manager
		}
	}
	return "nobody known"
}

// A taking is a change of the Lease into a player's name.
type taking struct {
	from, to version
	robbed   string // the last holder before that
}

// taking returns the one by which the work began that began at a time.
func (h *history) taking(who string, begin time.Duration) (nearest taking, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	previous, holder := version{}, ""
	for _, v := range h.versions {
		if v.holder == who && previous.holder != who {
			if !ok || (v.at-begin).Abs() < (nearest.to.at-begin).Abs() {
				nearest, ok = taking{previous, v, holder}, true
			}
		}
		previous = v
		if v.holder != "" {
			holder = v.holder
		}
	}
	return nearest, ok
}

func (h *history) print(t *testing.T, from, to time.Duration) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	var b strings.Builder
	for _, v := range h.versions {
		if v.at >= from && v.at <= to {
			fmt.Fprintf(&b, "%14.6f  %s\n", v.at.Seconds(), v)
		}
	}
	t.Logf("the Lease:\n%s", &b)
}
