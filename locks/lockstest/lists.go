package lockstest

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// The items of a list carry no kind of their own, as the real server's do not.

func leaseList(meta metav1.ListMeta, objs []object) runtime.Object {
	list := &coordinationv1.LeaseList{ListMeta: meta, Items: make([]coordinationv1.Lease, len(objs))}
	list.SetGroupVersionKind(coordinationv1.SchemeGroupVersion.WithKind("LeaseList"))
	for i, obj := range objs {
		obj.(*coordinationv1.Lease).DeepCopyInto(&list.Items[i])
		list.Items[i].TypeMeta = metav1.TypeMeta{}
	}
	return list
}

func configMapList(meta metav1.ListMeta, objs []object) runtime.Object {
	list := &corev1.ConfigMapList{ListMeta: meta, Items: make([]corev1.ConfigMap, len(objs))}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	for i, obj := range objs {
		obj.(*corev1.ConfigMap).DeepCopyInto(&list.Items[i])
		list.Items[i].TypeMeta = metav1.TypeMeta{}
	}
	return list
}
