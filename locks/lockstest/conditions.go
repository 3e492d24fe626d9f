package lockstest

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var namespaceResource = schema.GroupResource{Resource: "namespaces"}

var errModified = errors.New("the object has been modified; please apply your changes to the latest version and try again")

// updatable checks what a PUT says of the state that it replaces.
func updatable(k key, old, next object) error {
	if next.GetUID() != "" && next.GetUID() != old.GetUID() {
		return uidConflict(k, next.GetUID(), old.GetUID())
	}
	switch next.GetResourceVersion() {
	case old.GetResourceVersion():
		return nil
	case "", "0":
		if k.kind.unconditionalUpdate {
			return nil
		}
		at := field.NewPath("metadata", "resourceVersion")
		return apierrors.NewInvalid(schema.GroupKind{Group: k.kind.group, Kind: k.kind.resource}, k.name,
			field.ErrorList{field.Invalid(at, 0, "must be specified for an update")})
	}
	return apierrors.NewConflict(k.kind.groupResource(), k.name, errModified)
}

func uidConflict(k key, want, got types.UID) error {
	return apierrors.NewConflict(k.kind.groupResource(), k.name,
		fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", want, got))
}

// deletable checks the preconditions of a DELETE; pre may be nil.
func deletable(k key, old object, pre *metav1.Preconditions) error {
	if pre != nil && pre.UID != nil && *pre.UID != old.GetUID() {
		return uidConflict(k, *pre.UID, old.GetUID())
	}
	if pre != nil && pre.ResourceVersion != nil && *pre.ResourceVersion != old.GetResourceVersion() {
		return apierrors.NewConflict(k.kind.groupResource(), k.name, errModified)
	}
	return nil
}

// same tells whether a PUT would change nothing: then nothing is stored and the resourceVersion stays.
func same(old, next object) bool {
	next = next.DeepCopyObject().(object)
	next.SetUID(old.GetUID())
	next.SetResourceVersion(old.GetResourceVersion())
	next.SetCreationTimestamp(old.GetCreationTimestamp())
	next.SetSelfLink("")
	next.SetGeneration(0)
	next.GetObjectKind().SetGroupVersionKind(old.GetObjectKind().GroupVersionKind())
	return equality.Semantic.DeepEqual(old, next)
}
