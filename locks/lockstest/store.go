package lockstest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// key names one object.
type key struct {
	kind            *kind
	namespace, name string
}

// An event is one change, as watches tell of it. Its object is never changed.
type event struct {
	revision uint64
	kind     watch.EventType
	key      key
	object   object
}

// phase is how far a namespace has come; its zero value is a namespace that does not exist.
type phase int

const (
	active phase = iota + 1
	terminating
)

// historyLimit is how many changes the server remembers for watches that resume.
const historyLimit = 1000

// epoch is where creation timestamps begin; they grow by a second with each revision, since the server has no clock.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// store is etcd: one revision over all objects, compare-and-swap, and a history.
type store struct {
	mu         sync.Mutex
	revision   uint64 // of the latest change to anything
	uids       int
	objects    map[key]object
	previous   map[key]object // what each object was before its latest change: what a stale cache would tell
	namespaces map[string]phase
	history    []event
	compacted  uint64        // changes up to this revision are forgotten
	changed    chan struct{} // closed, and replaced, at each change
}

func newStore() *store {
	return &store{
		revision:   1,
		objects:    map[key]object{},
		previous:   map[key]object{},
		namespaces: map[string]phase{"default": active},
		changed:    make(chan struct{}),
	}
}

func (s *store) get(k key) (object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.find(k)
}

// cached answers as a watch cache may: with what was there before the latest change.
func (s *store) cached(k key) (object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.previous[k]; old != nil {
		return old, nil
	}
	return s.find(k)
}

func (s *store) find(k key) (object, error) {
	if obj := s.objects[k]; obj != nil {
		return obj, nil
	}
	return nil, apierrors.NewNotFound(k.kind.groupResource(), k.name)
}

func (s *store) create(k key, obj object) (object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.insert(k, obj)
}

func (s *store) insert(k key, obj object) (object, error) {
	if err := s.creatable(k); err != nil {
		return nil, err
	}
	if errs := k.kind.validate(obj); len(errs) > 0 {
		return nil, apierrors.NewInvalid(k.kind.groupKind(), k.name, errs)
	}
	if s.objects[k] != nil {
		return nil, apierrors.NewAlreadyExists(k.kind.groupResource(), k.name)
	}
	return s.put(k, obj), nil
}

// creatable is the admission of new objects by their namespace's life.
func (s *store) creatable(k key) error {
	switch s.namespaces[k.namespace] {
	case active:
		return nil
	case terminating:
		err := apierrors.NewForbidden(k.kind.groupResource(), k.name,
			fmt.Errorf("unable to create new content in namespace %s because it is being terminated", k.namespace))
		err.ErrStatus.Details.Causes = []metav1.StatusCause{{
			Type:    "NamespaceTerminating",
			Message: fmt.Sprintf("namespace %s is being terminated", k.namespace),
			Field:   "metadata.namespace",
		}}
		return err
	}
	return apierrors.NewNotFound(namespaceResource, k.namespace)
}

// update answers a PUT. created tells that it made the object.
func (s *store) update(k key, obj object) (stored object, created bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.objects[k]
	if old == nil {
		return s.createOnUpdate(k, obj)
	}
	if err := updatable(k, old, obj); err != nil {
		return nil, false, err
	}
	if errs := k.kind.validate(obj); len(errs) > 0 {
		return nil, false, apierrors.NewInvalid(k.kind.groupKind(), k.name, errs)
	}
	if same(old, obj) {
		return old, false, nil
	}
	return s.put(k, obj), false, nil
}

func (s *store) createOnUpdate(k key, obj object) (object, bool, error) {
	if !k.kind.createOnUpdate {
		return nil, false, apierrors.NewNotFound(k.kind.groupResource(), k.name)
	}
	if obj.GetUID() != "" {
		return nil, false, uidConflict(k, obj.GetUID(), "")
	}
	stored, err := s.insert(k, obj)
	return stored, err == nil, err
}

// put stores an object as a new state. It is the only place that adds to objects.
func (s *store) put(k key, obj object) object {
	s.revision++
	kind := watch.Modified
	if old := s.objects[k]; old == nil {
		kind = watch.Added
		s.uids++
		obj.SetUID(types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", s.uids)))
		obj.SetCreationTimestamp(metav1.NewTime(epoch.Add(time.Duration(s.revision) * time.Second)))
	} else {
		s.previous[k] = old
		obj.SetUID(old.GetUID())
		obj.SetCreationTimestamp(old.GetCreationTimestamp())
	}
	name(obj, k, s.revision)
	s.objects[k] = obj
	s.record(event{s.revision, kind, k, obj})
	return obj
}

// name writes what the server writes into every object.
func name(obj object, k key, revision uint64) {
	obj.SetNamespace(k.namespace)
	obj.SetName(k.name)
	obj.SetSelfLink("")
	obj.SetGeneration(0)
	obj.SetResourceVersion(strconv.FormatUint(revision, 10))
	obj.GetObjectKind().SetGroupVersionKind(k.kind.gvk())
}

func (s *store) delete(k key, pre *metav1.Preconditions) (object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, err := s.find(k)
	if err != nil {
		return nil, err
	}
	if err := deletable(k, old, pre); err != nil {
		return nil, err
	}
	s.remove(k)
	return old, nil
}

// remove deletes an object. The event carries its last state, with the revision of the deletion.
func (s *store) remove(k key) {
	s.revision++
	last := s.objects[k].DeepCopyObject().(object)
	last.SetResourceVersion(strconv.FormatUint(s.revision, 10))
	s.previous[k] = s.objects[k]
	delete(s.objects, k)
	s.record(event{s.revision, watch.Deleted, k, last})
}

func (s *store) record(e event) {
	s.history = append(s.history, e)
	if extra := len(s.history) - historyLimit; extra > 0 {
		s.compacted = s.history[extra-1].revision
		s.history = slices.Delete(s.history, 0, extra)
	}
	s.wake()
}

func (s *store) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// list returns the objects that match, in the order of their names, and the revision they are of.
func (s *store) list(match func(key) bool) ([]object, uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.matching(match), s.revision
}

func (s *store) matching(match func(key) bool) []object {
	keys := slices.SortedFunc(maps.Keys(s.objects), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
	})
	var found []object
	for _, k := range keys {
		if match(k) {
			found = append(found, s.objects[k])
		}
	}
	return found
}

// since returns the changes after a revision and a channel that is closed at the next one; ok is false if they are
// forgotten.
func (s *store) since(revision uint64, match func(key) bool) (events []event, changed <-chan struct{}, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.history {
		if e.revision > revision && match(e.key) {
			events = append(events, e)
		}
	}
	return events, s.changed, revision >= s.compacted
}
