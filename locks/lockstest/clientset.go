package lockstest

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
)

// NewClientset returns a clientset for tests, with the Leases and ConfigMaps given; their namespaces exist, and so do
// Namespaces given. Any other object makes every call fail with an error that names it.
//
// Use it where client-go's fake.NewClientset would accept a stale update, which no election survives: the stock fake
// checks no resourceVersion and gives its objects neither uid nor resourceVersion. This one is not a fake with checks
// added, but client-go's real clientset on a Server in process: requests, answers and errors then have the shapes they
// have in production, on the wire and after. For the server's side (interceptors, an administrator's edits) make a
// NewServer and take its Client.
func NewClientset(objs ...runtime.Object) kubernetes.Interface {
	s := NewServer()
	for _, obj := range objs {
		s.add(obj)
	}
	return s.Client()
}

func (s *Server) add(obj runtime.Object) {
	if ns, ok := obj.(*corev1.Namespace); ok {
		s.AddNamespace(ns.Name)
		return
	}
	kind := kindOf(obj)
	if kind == nil {
		s.broken = fmt.Errorf("lockstest: cannot store a %T", obj)
		return
	}
	seed := obj.DeepCopyObject().(object)
	k := key{kind, seed.GetNamespace(), seed.GetName()}
	s.AddNamespace(k.namespace)
	if _, err := s.store.create(k, seed); err != nil {
		// Only its text: a wrapped Status would be answered as it is.
		s.broken = fmt.Errorf("lockstest: cannot store %s %s/%s: %s", kind.name, k.namespace, k.name, err.Error())
	}
}
