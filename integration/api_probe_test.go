//go:build unix

package integration

import (
	"strconv"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
)

// A probe is a client of a server under examination, in a namespace in which nothing is stored.
type probe struct {
	*testing.T
	client     kubernetes.Interface
	namespace  string
	leases     coordinationclient.LeaseInterface
	configMaps coreclient.ConfigMapInterface
}

func newProbe(t *testing.T, server apiServer, wire string) *probe {
	t.Helper()
	config, namespace := server.open(t)
	config.ContentType = wire
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return &probe{t, client, namespace, client.CoordinationV1().Leases(namespace), client.CoreV1().ConfigMaps(namespace)}
}

// must fails the test if a call that only prepares it fails.
func must[T any](t testing.TB, call func() (T, error)) T {
	t.Helper()
	v, err := call()
	if err != nil {
		t.Fatalf("while preparing: %v", err)
	}
	return v
}

// The options that calls take and no check needs.
var (
	get    = metav1.GetOptions{}
	create = metav1.CreateOptions{}
	update = metav1.UpdateOptions{}
	remove = metav1.DeleteOptions{}
)

func lease() *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: "demo"},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: new("a"), LeaseDurationSeconds: new(int32(15))},
	}
}

func held(l *coordinationv1.Lease, by string) *coordinationv1.Lease {
	l = l.DeepCopy()
	l.Spec.HolderIdentity = &by
	l.Spec.LeaseTransitions = new(int32(len(by)) + 1)
	return l
}

func configMap(value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "demo"}, Data: map[string]string{"k": value}}
}

func (p *probe) create(l *coordinationv1.Lease) *coordinationv1.Lease {
	p.Helper()
	return must(p, func() (*coordinationv1.Lease, error) { return p.leases.Create(p.Context(), l, create) })
}

func (p *probe) createWith(change func(*coordinationv1.LeaseSpec)) error {
	l := lease()
	change(&l.Spec)
	_, err := p.leases.Create(p.Context(), l, create)
	return err
}

func (p *probe) update(l *coordinationv1.Lease) *coordinationv1.Lease {
	p.Helper()
	return must(p, func() (*coordinationv1.Lease, error) { return p.leases.Update(p.Context(), l, update) })
}

func (p *probe) delete() {
	p.Helper()
	must(p, func() (any, error) { return nil, p.leases.Delete(p.Context(), "demo", remove) })
}

// wantStored checks that the object is in the state given; nil: that there is none.
func (p *probe) wantStored(want *coordinationv1.Lease) {
	p.Helper()
	got, err := p.leases.Get(p.Context(), "demo", get)
	switch {
	case want == nil && describe(err) != notFound:
		p.Errorf("stored is %v, %v; want nothing", got, err)
	case want != nil && (err != nil || got.ResourceVersion != want.ResourceVersion || got.UID != want.UID):
		p.Errorf("stored is %v, %v; want %v", got, err, want)
	}
}

func (p *probe) wantOlder(a, b metav1.Object) {
	p.Helper()
	if revision(p, a) >= revision(p, b) {
		p.Errorf("the resourceVersions are %s and %s, want them to grow", a.GetResourceVersion(), b.GetResourceVersion())
	}
}

func revision(p *probe, o metav1.Object) uint64 {
	return must(p, func() (uint64, error) { return strconv.ParseUint(o.GetResourceVersion(), 10, 64) })
}

func (p *probe) watch(from string) watch.Interface {
	p.Helper()
	w := must(p, func() (watch.Interface, error) {
		return p.leases.Watch(p.Context(), metav1.ListOptions{FieldSelector: "metadata.name=demo", ResourceVersion: from})
	})
	p.Cleanup(w.Stop)
	return w
}

func (p *probe) event(w watch.Interface, want watch.EventType) metav1.Object {
	p.Helper()
	select {
	case e := <-w.ResultChan():
		o, ok := e.Object.(metav1.Object)
		if !ok || e.Type != want {
			p.Fatalf("the watch tells %s %v, want %s", e.Type, e.Object, want)
		}
		return o
	case <-within(p.T, time.Minute).Done():
		p.Fatalf("the watch tells nothing, want %s", want)
		return nil
	}
}

func (p *probe) wantEvent(w watch.Interface, want watch.EventType, version string) {
	p.Helper()
	if got := p.event(w, want).GetResourceVersion(); got != version {
		p.Errorf("the watch tells of version %s, want %s", got, version)
	}
}
