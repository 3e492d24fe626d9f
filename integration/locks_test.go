//go:build unix

package integration

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/locks"
	"github.com/seed2c765205/elect/locks/lockstest"
)

func TestALeaseOnAClientOfTheCallersKeepsTheContract(t *testing.T) {
	exercise(t, onLease, func(t *testing.T, config *rest.Config, namespace string) elector.Lock {
		return locks.NewLease(clientset(t, config).CoordinationV1(), namespace, "demo")
	})
}

func TestALeaseOnAPrivateClientKeepsTheContract(t *testing.T) {
	exercise(t, onLease, func(t *testing.T, config *rest.Config, namespace string) elector.Lock {
		lock, err := locks.NewLeaseForConfig(config, namespace, "demo")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(lock.CloseIdleConnections)
		return lock
	})
}

func TestAConfigMapOnAClientOfTheCallersKeepsTheContract(t *testing.T) {
	exercise(t, onConfigMap, func(t *testing.T, config *rest.Config, namespace string) elector.Lock {
		return locks.NewConfigMap(clientset(t, config).CoreV1(), namespace, "demo")
	})
}

func TestAConfigMapOnAPrivateClientKeepsTheContract(t *testing.T) {
	exercise(t, onConfigMap, func(t *testing.T, config *rest.Config, namespace string) elector.Lock {
		lock, err := locks.NewConfigMapForConfig(config, namespace, "demo")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(lock.CloseIdleConnections)
		return lock
	})
}

func clientset(t *testing.T, config *rest.Config) *kubernetes.Clientset {
	t.Helper()
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// exercise runs the conformance suite on the real server, each test in a namespace of its own.
// Of a Lease only the damaged record is left out: the server refuses what cannot be read.
func exercise(t *testing.T, administer func(*testing.T, string) admin, newLock func(*testing.T, *rest.Config, string) elector.Lock) {
	t.Helper()
	lockstest.ExerciseBackend(t, func(t *testing.T) lockstest.Backend {
		namespace := newNamespace(t)
		a := administer(t, namespace)
		way := &tap{}
		config := way.through(cluster.Config())
		return lockstest.Backend{
			Lock:        newLock(t, config, namespace),
			Second:      func() elector.Lock { return newLock(t, config, namespace) },
			Nowhere:     newLock(t, config, "nowhere"),
			Delete:      a.mustDelete,
			Decorate:    a.decorate,
			Corruptions: a.corruptions,
			Garbles:     way.garbles(),
			Hang:        way.hang,
		}
	})
}

// admin does to a lock's object what an administrator may do.
type admin struct {
	*testing.T
	get    func() (metav1.Object, error)
	update func(metav1.Object) (metav1.Object, error)
	delete func() error

	corruptions map[string]func()
}

func onLease(t *testing.T, namespace string) admin {
	leases := cluster.Client().CoordinationV1().Leases(namespace)
	return admin{
		T:   t,
		get: func() (metav1.Object, error) { return leases.Get(t.Context(), "demo", get) },
		update: func(o metav1.Object) (metav1.Object, error) {
			return leases.Update(t.Context(), o.(*coordinationv1.Lease), update)
		},
		delete: func() error { return leases.Delete(t.Context(), "demo", remove) },
	}
}

func onConfigMap(t *testing.T, namespace string) admin {
	configMaps := cluster.Client().CoreV1().ConfigMaps(namespace)
	a := admin{
		T:   t,
		get: func() (metav1.Object, error) { return configMaps.Get(t.Context(), "demo", get) },
		update: func(o metav1.Object) (metav1.Object, error) {
			return configMaps.Update(t.Context(), o.(*corev1.ConfigMap), update)
		},
		delete:      func() error { return configMaps.Delete(t.Context(), "demo", remove) },
		corruptions: map[string]func(){},
	}
	for name, text := range map[string]string{"cut": "{", "null": "null", "HTML": "<html>", "200 KiB": strings.Repeat("x", 200<<10)} {
		a.corruptions[name] = func() { a.annotate(locks.LeaderAnnotation, text) }
	}
	return a
}

// annotate sets one annotation.
func (a admin) annotate(key, value string) {
	o := must(a.T, a.get)
	annotations := maps.Clone(o.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	o.SetAnnotations(annotations)
	must(a.T, func() (metav1.Object, error) { return a.update(o) })
}

func (a admin) mustDelete() {
	if err := a.delete(); err != nil {
		a.Fatal(err)
	}
}

// decorate sets in the metadata what is not the lock's, and returns a check that it is still there.
func (a admin) decorate() (lost func() error) {
	o := must(a.T, a.get)
	o.SetLabels(map[string]string{"team": "blue"})
	annotations := o.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations["example.com/note"] = "keep me"
	o.SetAnnotations(annotations)
	o.SetFinalizers([]string{"example.com/hold"})
	o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n", UID: "u"}})
	want := must(a.T, func() (metav1.Object, error) { return a.update(o) })
	return func() error {
		got, err := a.get()
		if err != nil {
			return err
		}
		kept := maps.Equal(got.GetLabels(), want.GetLabels()) && got.GetAnnotations()["example.com/note"] == "keep me" &&
			len(got.GetFinalizers()) == 1 && len(got.GetOwnerReferences()) == 1 && got.GetOwnerReferences()[0].UID == "u"
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
