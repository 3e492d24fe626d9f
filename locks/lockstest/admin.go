package lockstest

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
)

// Lease returns a copy of a stored Lease, or nil.
func (s *Server) Lease(namespace, name string) *coordinationv1.Lease {
	lease, _ := s.look(key{leases, namespace, name}).(*coordinationv1.Lease)
	return lease
}

// ConfigMap returns a copy of a stored ConfigMap, or nil.
func (s *Server) ConfigMap(namespace, name string) *corev1.ConfigMap {
	cm, _ := s.look(key{configMaps, namespace, name}).(*corev1.ConfigMap)
	return cm
}

func (s *Server) look(k key) object {
	obj, err := s.store.get(k)
	if err != nil {
		return nil
	}
	return obj.DeepCopyObject().(object)
}

// EditLease changes a Lease as an administrator would who has read it this instant; a missing one, its namespace
// included, is created first. Nothing is validated, and an edit that changes nothing stores nothing. It returns a copy of
// what is stored then.
func (s *Server) EditLease(namespace, name string, edit func(*coordinationv1.Lease)) *coordinationv1.Lease {
	return s.edit(key{leases, namespace, name}, func(obj object) { edit(obj.(*coordinationv1.Lease)) }).(*coordinationv1.Lease)
}

// EditConfigMap changes a ConfigMap in the way of EditLease.
func (s *Server) EditConfigMap(namespace, name string, edit func(*corev1.ConfigMap)) *corev1.ConfigMap {
	return s.edit(key{configMaps, namespace, name}, func(obj object) { edit(obj.(*corev1.ConfigMap)) }).(*corev1.ConfigMap)
}

func (s *Server) edit(k key, change func(object)) object {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	if s.store.namespaces[k.namespace] == 0 {
		s.store.namespaces[k.namespace] = active
	}
	old := s.store.objects[k]
	next := k.kind.fresh()
	if old != nil {
		next = old.DeepCopyObject().(object)
	}
	change(next)
	if old == nil || !same(old, next) {
		old = s.store.put(k, next)
	}
	return old.DeepCopyObject().(object)
}

// DeleteLease deletes a Lease and tells whether there was one.
func (s *Server) DeleteLease(namespace, name string) bool {
	_, err := s.store.delete(key{leases, namespace, name}, nil)
	return err == nil
}

// DeleteConfigMap deletes a ConfigMap and tells whether there was one.
func (s *Server) DeleteConfigMap(namespace, name string) bool {
	_, err := s.store.delete(key{configMaps, namespace, name}, nil)
	return err == nil
}

// AddNamespace makes a namespace exist.
func (s *Server) AddNamespace(name string) { s.setNamespace(name, active) }

// TerminateNamespace makes a namespace one that is being deleted: nothing can be created in it any more.
func (s *Server) TerminateNamespace(name string) { s.setNamespace(name, terminating) }

// RemoveNamespace deletes a namespace with all that is in it.
func (s *Server) RemoveNamespace(name string) { s.setNamespace(name, 0) }

func (s *Server) setNamespace(name string, to phase) {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	s.store.namespaces[name] = to
	if to != 0 {
		return
	}
	for _, obj := range s.store.matching(func(k key) bool { return k.namespace == name }) {
		s.store.remove(key{kindOf(obj), name, obj.GetName()})
	}
}

// Compact makes the server forget its past changes, as etcd does every few minutes: a watch that would resume from before
// the latest one is told that its resourceVersion is too old.
func (s *Server) Compact() {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	s.store.compacted, s.store.history = s.store.revision, nil
}

// SetRevision makes the next change have a resourceVersion greater than revision; one that is lower than the present is a
// cluster restored from a backup.
func (s *Server) SetRevision(revision uint64) {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	s.store.revision = revision
}
