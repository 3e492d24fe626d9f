//go:build unix

package integration

import (
	"errors"
	"maps"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/locks"
	"github.com/seed2c765205/elect/locks/lockstest"
)

func TestALeaseOnAClientOfTheCallersKeepsTheContract(t *testing.T) {
	exerciseLease(t, func(_ *testing.T, namespace string) elector.Lock {
		return locks.NewLease(cluster.Client().CoordinationV1(), namespace, "demo")
	})
}

func TestALeaseOnAPrivateClientKeepsTheContract(t *testing.T) {
	exerciseLease(t, func(t *testing.T, namespace string) elector.Lock {
		lock, err := locks.NewLeaseForConfig(cluster.Config(), namespace, "demo")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(lock.CloseIdleConnections)
		return lock
	})
}

func exerciseLease(t *testing.T, newLock func(t *testing.T, namespace string) elector.Lock) {
	t.Helper()
	lockstest.ExerciseBackend(t, func(t *testing.T) lockstest.Backend {
		namespace := newNamespace(t)
		o := onLease{t, namespace}
		return lockstest.Backend{
			Lock:     newLock(t, namespace),
			Second:   func() elector.Lock { return newLock(t, namespace) },
			Nowhere:  newLock(t, "nowhere"),
			Delete:   o.delete,
			Decorate: o.decorate,
		}
	})
}

// onLease does to a Lease what an administrator may do.
type onLease struct {
	*testing.T
	namespace string
}

func (o onLease) delete() {
	if err := cluster.Client().CoordinationV1().Leases(o.namespace).Delete(o.Context(), "demo", remove); err != nil {
		o.Fatal(err)
	}
}

// decorate sets in the metadata what is not the lock's, and returns a check that it is still there.
func (o onLease) decorate() (lost func() error) {
	leases := cluster.Client().CoordinationV1().Leases(o.namespace)
	l := must(o.T, func() (*coordinationv1.Lease, error) { return leases.Get(o.Context(), "demo", get) })
	l.Labels = map[string]string{"team": "blue"}
	if l.Annotations == nil {
		l.Annotations = map[string]string{}
	}
	l.Annotations["example.com/note"] = "keep me"
	l.Finalizers = []string{"example.com/hold"}
	l.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n", UID: "u"}}
	want := must(o.T, func() (*coordinationv1.Lease, error) { return leases.Update(o.Context(), l, update) })
	return func() error {
		got, err := leases.Get(o.Context(), "demo", get)
		if err != nil {
			return err
		}
		kept := maps.Equal(got.Labels, want.Labels) && got.Annotations["example.com/note"] == "keep me" &&
			len(got.Finalizers) == 1 && len(got.OwnerReferences) == 1 && got.OwnerReferences[0].UID == "u"
		if !kept {
			return errors.New("something of what is not the lock's is gone")
		}
		return nil
	}
}

func TestALeaseKeepsWhatTheControlPlaneHasSetInItsSpec(t *testing.T) {
	namespace := newNamespace(t)
	leases := cluster.Client().CoordinationV1().Leases(namespace)
	lock := locks.NewLease(cluster.Client().CoordinationV1(), namespace, "demo")
	l := lease()
	l.Spec.Strategy = new(coordinationv1.CoordinatedLeaseStrategy("example.com/x"))
	l.Spec.PreferredHolder = new("b")
	if _, err := leases.Create(t.Context(), l, create); err != nil {
		t.Fatal(err)
	}
	snapshot, err := lock.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	record := elector.Record{Holder: "a", LeaseDuration: 15 * time.Second, RenewTime: time.Now(), AcquireTime: time.Now()}
	if _, err := lock.Write(t.Context(), snapshot, record); err != nil {
		t.Fatal(err)
	}
	got, err := leases.Get(t.Context(), "demo", get)
	if err != nil {
		t.Fatal(err)
	}
	if s := got.Spec; s.Strategy == nil || *s.Strategy != *l.Spec.Strategy ||
		s.PreferredHolder == nil || *s.PreferredHolder != *l.Spec.PreferredHolder {
		t.Errorf("after a write the spec is %v, want strategy and preferred holder as in %v", s, l.Spec)
	}
}
