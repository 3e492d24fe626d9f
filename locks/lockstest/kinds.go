package lockstest

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// An object is what the server stores. Stored objects are never changed, only replaced.
type object interface {
	metav1.Object
	runtime.Object
}

// A kind is one of those that the server serves, with the rules in which they differ.
type kind struct {
	group, resource, name string
	createOnUpdate        bool // a PUT on a missing object creates it
	unconditionalUpdate   bool // a PUT without a resourceVersion overwrites
	fresh                 func() object
	validate              func(object) field.ErrorList
}

var leases = &kind{
	group: coordinationv1.GroupName, resource: "leases", name: "Lease",
	createOnUpdate: true,
	fresh:          func() object { return &coordinationv1.Lease{} },
	validate:       validateLease,
}

var configMaps = &kind{
	resource: "configmaps", name: "ConfigMap",
	unconditionalUpdate: true,
	fresh:               func() object { return &corev1.ConfigMap{} },
	validate:            func(object) field.ErrorList { return nil },
}

var kinds = []*kind{leases, configMaps}

func (k *kind) groupResource() schema.GroupResource {
	return schema.GroupResource{Group: k.group, Resource: k.resource}
}

func (k *kind) groupKind() schema.GroupKind { return schema.GroupKind{Group: k.group, Kind: k.name} }

func (k *kind) gvk() schema.GroupVersionKind { return k.groupKind().WithVersion("v1") }

// kindOf finds the kind of an object by its Go type; nil if the server does not serve it.
func kindOf(obj runtime.Object) *kind {
	switch obj.(type) {
	case *coordinationv1.Lease:
		return leases
	case *corev1.ConfigMap:
		return configMaps
	}
	return nil
}

// validateLease has the rules of the server for a Lease's spec, but for the syntax of strategies.
func validateLease(obj object) field.ErrorList {
	spec, at := obj.(*coordinationv1.Lease).Spec, field.NewPath("spec")
	var errs field.ErrorList
	if d := spec.LeaseDurationSeconds; d != nil && *d <= 0 {
		errs = append(errs, field.Invalid(at.Child("leaseDurationSeconds"), *d, "must be greater than 0"))
	}
	if n := spec.LeaseTransitions; n != nil && *n < 0 {
		errs = append(errs, field.Invalid(at.Child("leaseTransitions"), *n, "must be greater than or equal to 0"))
	}
	if s := spec.Strategy; s != nil && *s == "" {
		errs = append(errs, field.Invalid(at.Child("strategy"), *s, "must not be empty"))
	}
	if p := spec.PreferredHolder; p != nil && *p != "" && spec.Strategy == nil {
		errs = append(errs, field.Forbidden(at.Child("preferredHolder"), "may only be specified if `strategy` is defined"))
	}
	return errs
}

var scheme = newScheme()

// codecs speak JSON, YAML, protobuf and CBOR.
var codecs = serializer.NewCodecFactory(scheme, serializer.WithSerializer(cbor.NewSerializerInfo))

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	v1 := schema.GroupVersion{Version: "v1"}
	coordination := coordinationv1.SchemeGroupVersion
	s.AddKnownTypes(coordination, &coordinationv1.Lease{}, &coordinationv1.LeaseList{})
	s.AddKnownTypes(v1, &corev1.ConfigMap{}, &corev1.ConfigMapList{}, &corev1.Pod{}, &metav1.Status{})
	metav1.AddToGroupVersion(s, v1)
	metav1.AddToGroupVersion(s, coordination)
	return s
}
