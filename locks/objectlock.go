package locks

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/events"
)

// MarkAnnotation is the annotation that keeps a record's Mark, beside the record, in the metadata of the lock's object.
const MarkAnnotation = "elect.seed2c765205.dev/mark"

// object is a pointer to an API object.
type object interface {
	comparable
	metav1.Object
	runtime.Object
}

// api is what a lock needs of a typed client.
type api[T object] interface {
	Get(ctx context.Context, name string, opts metav1.GetOptions) (T, error)
	Create(ctx context.Context, obj T, opts metav1.CreateOptions) (T, error)
	Update(ctx context.Context, obj T, opts metav1.UpdateOptions) (T, error)
}

// form is how a record is kept in an object.
type form[T object] interface {
	fresh() T
	// encode writes a record into an object and changes nothing else. It refuses a record that the object cannot hold.
	encode(T, elector.Record) error
	// decode reads the record, the stamp of its bytes, and what is wrong with it.
	decode(T) (elector.Record, string, error)
}

// objectLock is a lock on one Kubernetes object: what Lease and ConfigMap have in common.
type objectLock[T object] struct {
	place       place
	api         api[T]
	form        form[T]
	source      string // of a damaged record
	options     options
	invalid     error        // why the lock can never work; nil if it can
	connections *connections // of a private client, or nil
}

// stored is what a Snapshot holds for the lock: the object as it was answered. It is never changed.
type stored[T object] struct{ object T }

func (l *objectLock[T]) read(ctx context.Context) (elector.Snapshot, error) {
	c, err := l.begin(ctx, "read")
	if err != nil {
		return elector.Snapshot{}, err
	}
	obj, err := l.api.Get(c.ctx, l.place.name, metav1.GetOptions{})
	if err != nil {
		return elector.Snapshot{}, c.failure(err)
	}
	if err := genuine(c, obj); err != nil {
		return elector.Snapshot{}, err
	}
	return l.snapshot(obj), nil
}

func (l *objectLock[T]) write(ctx context.Context, prev elector.Snapshot, next elector.Record) (elector.Snapshot, error) {
	verb := "update"
	if prev.Version == "" {
		verb = "create"
	}
	c, err := l.begin(ctx, verb)
	if err != nil {
		return elector.Snapshot{}, err
	}
	sent, err := l.compose(prev, next)
	if err != nil {
		return elector.Snapshot{}, c.rejected(events.ClassInvalid, err)
	}
	got, err := l.send(c, sent)
	if err != nil {
		return elector.Snapshot{}, c.failure(err)
	}
	return l.written(c, sent, got)
}

func (l *objectLock[T]) send(c *call, obj T) (T, error) {
	if c.verb == "create" {
		return l.api.Create(c.ctx, obj, metav1.CreateOptions{})
	}
	return l.api.Update(c.ctx, obj, metav1.UpdateOptions{})
}

// begin starts a call, unless it is over already.
func (l *objectLock[T]) begin(ctx context.Context, verb string) (*call, error) {
	c := newCall(ctx, verb, l.place)
	if l.invalid != nil {
		return nil, c.rejected(events.ClassInvalid, l.invalid)
	}
	if ctx.Err() != nil {
		return nil, c.ended(nil, true)
	}
	return c, nil
}

// compose is the object to send: that of prev, or a new one, with the record in it.
func (l *objectLock[T]) compose(prev elector.Snapshot, next elector.Record) (T, error) {
	obj, err := l.base(prev)
	if err != nil {
		return obj, err
	}
	if err := l.form.encode(obj, next); err != nil {
		return obj, err
	}
	setMark(obj, next.Mark)
	return obj, nil
}

func (l *objectLock[T]) base(prev elector.Snapshot) (T, error) {
	if prev.Version == "" {
		return l.first(), nil
	}
	old, ok := prev.Object.(*stored[T])
	if !ok || version(old.object) != prev.Version || !named(old.object, l.place) {
		var none T
		return none, fmt.Errorf("the snapshot with version %q is not of this lock", prev.Version)
	}
	return old.object.DeepCopyObject().(T), nil
}

func (l *objectLock[T]) first() T {
	obj := l.form.fresh()
	obj.SetNamespace(l.place.namespace)
	obj.SetName(l.place.name)
	obj.SetLabels(maps.Clone(l.options.labels))
	obj.SetAnnotations(maps.Clone(l.options.annotations))
	return obj
}

// setMark keeps a record's mark. A record without one must not keep that of the record before it.
func setMark(obj metav1.Object, mark string) {
	if mark == "" {
		delete(obj.GetAnnotations(), MarkAnnotation)
		return
	}
	annotate(obj, MarkAnnotation, mark)
}

func annotate(obj metav1.Object, key, value string) {
	annotations := obj.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	obj.SetAnnotations(annotations)
}

// written checks the answer to a write: it must be the object that was sent, in a new version.
func (l *objectLock[T]) written(c *call, sent, got T) (elector.Snapshot, error) {
	if err := genuine(c, got); err != nil {
		return elector.Snapshot{}, err
	}
	if sent.GetUID() != "" && got.GetUID() != sent.GetUID() {
		return elector.Snapshot{}, c.undecodable(fmt.Errorf("it has the uid %q, not %q", got.GetUID(), sent.GetUID()))
	}
	if got.GetResourceVersion() == sent.GetResourceVersion() {
		return elector.Snapshot{}, c.undecodable(fmt.Errorf("it has the resourceVersion %s that was to be replaced", got.GetResourceVersion()))
	}
	snap, want := l.snapshot(got), l.snapshot(sent)
	if snap.Damage != nil || !sameRecord(snap.Record, want.Record) {
		return elector.Snapshot{}, c.undecodable(fmt.Errorf("it holds the record %+v, not %+v", snap.Record, want.Record))
	}
	return snap, nil
}

func sameRecord(a, b elector.Record) bool {
	sameTimes := a.AcquireTime.Equal(b.AcquireTime) && a.RenewTime.Equal(b.RenewTime)
	a.AcquireTime, a.RenewTime = time.Time{}, time.Time{}
	b.AcquireTime, b.RenewTime = time.Time{}, time.Time{}
	return sameTimes && a == b
}

func (l *objectLock[T]) snapshot(obj T) elector.Snapshot {
	record, stamp, err := l.form.decode(obj)
	snap := elector.Snapshot{
		Record: record, Version: version(obj), Stamp: stamp, Revision: revision(obj), Object: &stored[T]{obj},
	}
	snap.Record.Mark = obj.GetAnnotations()[MarkAnnotation]
	if err != nil {
		snap.Record = elector.Record{}
		snap.Damage = damaged(l.source, stamp, err)
	}
	return snap
}

// version names the object and its state. A uid is never used again, so that a version never recurs.
func version(obj metav1.Object) string { return string(obj.GetUID()) + "/" + obj.GetResourceVersion() }

// revision is the resourceVersion as the number it is: Kubernetes orders those of one kind, over deletions too.
func revision(obj metav1.Object) uint64 {
	n, err := strconv.ParseUint(obj.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func named(obj metav1.Object, p place) bool {
	return obj.GetNamespace() == p.namespace && obj.GetName() == p.name
}

var errFake = errors.New("it has neither uid nor resourceVersion: client-go's fake clientset checks no versions; " +
	"for tests, locks/lockstest has a clientset that does")

// genuine checks that an answer without an error is the lock's object. client-go decodes {}, null, a Pod or a Status of
// success into an empty object and reports no error.
func genuine[T object](c *call, obj T) error {
	var none T
	if obj == none {
		return c.undecodable(errors.New("it is nothing"))
	}
	gvk := obj.GetObjectKind().GroupVersionKind()
	switch {
	case gvk.Kind != "" && gvk.Kind != c.place.kind, gvk.Version != "" && gvk.Group != c.place.group:
		return c.undecodable(fmt.Errorf("it is a %s of %q", gvk.Kind, gvk.GroupVersion()))
	case !named(obj, c.place):
		return c.undecodable(fmt.Errorf("it is about %q in namespace %q", obj.GetName(), obj.GetNamespace()))
	case obj.GetUID() == "" && obj.GetResourceVersion() == "":
		return c.undecodable(errFake)
	case obj.GetUID() == "" || obj.GetResourceVersion() == "":
		return c.undecodable(fmt.Errorf("it has the uid %q and the resourceVersion %q", obj.GetUID(), obj.GetResourceVersion()))
	}
	return nil
}
