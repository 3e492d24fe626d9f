package lockstest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var noResource schema.GroupResource

// Answer answers a request as the API server does, past any interceptor and unseen by Requests: an interceptor that
// wants a write to be applied but its answer lost calls it with an httptest.ResponseRecorder.
func (s *Server) Answer(w http.ResponseWriter, r *http.Request) {
	k, ok := parsePath(r.URL.Path)
	if !ok {
		http.NotFound(w, r)
		return
	}
	if err := s.broken; err != nil {
		refuse(w, r, err)
		return
	}
	switch {
	case r.Method == http.MethodGet && k.name != "":
		s.get(w, r, k)
	case r.Method == http.MethodGet:
		s.listOrWatch(w, r, k)
	case r.Method == http.MethodPost && k.name == "" && k.namespace != "":
		s.post(w, r, k)
	case r.Method == http.MethodPut && k.name != "":
		s.put(w, r, k)
	case r.Method == http.MethodDelete && k.name != "":
		s.delete(w, r, k)
	default:
		refuse(w, r, apierrors.NewMethodNotSupported(k.kind.groupResource(), r.Method))
	}
}

// parsePath reads …/namespaces/{namespace}/{resource}[/{name}] and …/{resource}.
func parsePath(path string) (key, bool) {
	for _, kind := range kinds {
		prefix := "/api/v1/"
		if kind.group != "" {
			prefix = "/apis/" + kind.group + "/v1/"
		}
		rest, ok := strings.CutPrefix(path, prefix)
		if !ok {
			continue
		}
		k := key{kind: kind}
		if inNamespace, ok := strings.CutPrefix(rest, "namespaces/"); ok {
			k.namespace, rest, _ = strings.Cut(inNamespace, "/")
		}
		resource, name, _ := strings.Cut(rest, "/")
		k.name = name
		if resource == kind.resource && !strings.Contains(name, "/") {
			return k, true
		}
	}
	return key{}, false
}

// get honours resourceVersion="0" by answering with what was stored before the latest change, as a cache is allowed to.
func (s *Server) get(w http.ResponseWriter, r *http.Request, k key) {
	read := s.store.get
	if r.URL.Query().Get("resourceVersion") == "0" {
		read = s.store.cached
	}
	obj, err := read(k)
	reply(w, r, http.StatusOK, obj, err)
}

func (s *Server) post(w http.ResponseWriter, r *http.Request, k key) {
	obj := k.kind.fresh()
	if err := body(r, obj); err != nil {
		refuse(w, r, err)
		return
	}
	k.name = obj.GetName()
	if err := belongs(obj, k); err != nil {
		refuse(w, r, err)
		return
	}
	stored, err := s.store.create(k, obj)
	reply(w, r, http.StatusCreated, stored, err)
}

func (s *Server) put(w http.ResponseWriter, r *http.Request, k key) {
	obj := k.kind.fresh()
	if err := body(r, obj); err != nil {
		refuse(w, r, err)
		return
	}
	if err := belongs(obj, k); err != nil {
		refuse(w, r, err)
		return
	}
	stored, created, err := s.store.update(k, obj)
	code := http.StatusOK
	if created {
		code = http.StatusCreated
	}
	reply(w, r, code, stored, err)
}

func (s *Server) delete(w http.ResponseWriter, r *http.Request, k key) {
	options := &metav1.DeleteOptions{}
	if r.ContentLength != 0 {
		if err := body(r, options); err != nil {
			refuse(w, r, err)
			return
		}
	}
	old, err := s.store.delete(k, options.Preconditions)
	if err != nil {
		refuse(w, r, err)
		return
	}
	answerStatus(w, r, &metav1.Status{Status: metav1.StatusSuccess, Code: http.StatusOK, Details: &metav1.StatusDetails{
		Name: k.name, Group: k.kind.group, Kind: k.kind.resource, UID: old.GetUID(),
	}})
}

func reply(w http.ResponseWriter, r *http.Request, code int, obj object, err error) {
	if err != nil {
		refuse(w, r, err)
		return
	}
	answer(w, r, code, obj)
}

// belongs checks that a body is about the object that the path names.
func belongs(obj object, k key) error {
	switch {
	case obj.GetNamespace() != "" && obj.GetNamespace() != k.namespace:
		return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	case k.name == "":
		return apierrors.NewBadRequest("name must be provided")
	case obj.GetName() != k.name:
		return apierrors.NewBadRequest(fmt.Sprintf(
			"the name of the object (%s) does not match the name on the URL (%s)", obj.GetName(), k.name))
	}
	return nil
}

func (s *Server) listOrWatch(w http.ResponseWriter, r *http.Request, k key) {
	name, err := selectedName(r)
	if err != nil {
		refuse(w, r, err)
		return
	}
	match := func(other key) bool {
		return other.kind == k.kind &&
			(k.namespace == "" || other.namespace == k.namespace) && (name == "" || other.name == name)
	}
	if watching, _ := strconv.ParseBool(r.URL.Query().Get("watch")); watching {
		s.watch(w, r, k.kind, match)
		return
	}
	objs, revision := s.store.list(match)
	answer(w, r, http.StatusOK, list(k.kind, objs, revision))
}

// selectedName is the name that the request's field selector asks for; "" asks for all.
func selectedName(r *http.Request) (string, error) {
	selector, err := fields.ParseSelector(r.URL.Query().Get("fieldSelector"))
	if err != nil {
		return "", apierrors.NewBadRequest(err.Error())
	}
	name, ok := selector.RequiresExactMatch("metadata.name")
	if len(selector.Requirements()) > 1 || !ok && !selector.Empty() {
		return "", apierrors.NewBadRequest("only the field selector metadata.name=… is supported")
	}
	return name, nil
}

func list(k *kind, objs []object, revision uint64) runtime.Object {
	meta := metav1.ListMeta{ResourceVersion: strconv.FormatUint(revision, 10)}
	if k == leases {
		return leaseList(meta, objs)
	}
	return configMapList(meta, objs)
}
