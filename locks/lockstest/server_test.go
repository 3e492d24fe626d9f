package lockstest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/seed2c765205/elect/locks/lockstest"
)

var ctx = context.Background()

func ptr[T any](v T) *T { return &v }

// everyWire runs a test over each transport with each wire format.
func everyWire(t *testing.T, test func(t *testing.T, s *lockstest.Server, c kubernetes.Interface)) {
	t.Helper()
	transports := map[string]func(*testing.T, *lockstest.Server) *rest.Config{
		"http":       func(t *testing.T, s *lockstest.Server) *rest.Config { return s.Listen(t) },
		"in process": func(_ *testing.T, s *lockstest.Server) *rest.Config { return s.Config() },
	}
	for transport, config := range transports {
		for _, wire := range []string{"json", "vnd.kubernetes.protobuf", "cbor"} {
			t.Run(transport+"/"+wire, func(t *testing.T) {
				s := lockstest.NewServer()
				cfg := config(t, s)
				cfg.ContentType, cfg.AcceptContentTypes = "application/"+wire, "application/"+wire
				cfg.UserAgent = "a test"
				client, err := rest.HTTPClientFor(cfg)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(client.CloseIdleConnections)
				c, err := kubernetes.NewForConfigAndClient(cfg, client)
				if err != nil {
					t.Fatal(err)
				}
				test(t, s, c)
				for _, r := range s.Requests() {
					if got := r.Header.Get("Accept"); got != "application/"+wire {
						t.Fatalf("the client asked for %q", got)
					}
				}
			})
		}
	}
}

func lease(name string) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: ptr("a"), LeaseDurationSeconds: ptr(int32(15)), LeaseTransitions: ptr(int32(0)),
			RenewTime: ptr(metav1.NewMicroTime(time.Date(2026, 8, 17, 12, 0, 0, 123456000, time.UTC))),
		},
	}
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, Data: map[string]string{"k": "v"},
	}
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// wantStatus checks an error's Status, field by field.
func wantStatus(t *testing.T, err error, code int32, reason metav1.StatusReason, group, kind, name, text string) {
	t.Helper()
	status, ok := err.(apierrors.APIStatus)
	if !ok {
		t.Errorf("got %v, want a Status", err)
		return
	}
	got := status.Status()
	if got.Code != code || got.Reason != reason || !strings.Contains(got.Message, text) {
		t.Errorf("got %d %s %q, want %d %s %q", got.Code, got.Reason, got.Message, code, reason, text)
	}
	if apierrors.IsUnexpectedServerError(err) {
		t.Errorf("%v is not a Status of the server's own", err)
	}
	if d := got.Details; d != nil && (d.Group != group || d.Kind != kind || d.Name != name) {
		t.Errorf("details are %s %s %s, want %s %s %s", d.Group, d.Kind, d.Name, group, kind, name)
	}
}

const coordination = "coordination.k8s.io"

func TestAStaleUpdateConflictsAndChangesNothing(t *testing.T) {
	everyWire(t, func(t *testing.T, s *lockstest.Server, c kubernetes.Interface) {
		leases := c.CoordinationV1().Leases("default")
		first := must(leases.Create(ctx, lease("demo"), metav1.CreateOptions{}))(t)
		mine := first.DeepCopy()
		mine.Spec.HolderIdentity = ptr("b")
		second := must(leases.Update(ctx, mine, metav1.UpdateOptions{}))(t)

		stale := first.DeepCopy()
		stale.Spec.HolderIdentity = ptr("c")
		_, err := leases.Update(ctx, stale, metav1.UpdateOptions{})
		wantStatus(t, err, 409, metav1.StatusReasonConflict, coordination, "leases", "demo", "the object has been modified")
		got := must(leases.Get(ctx, "demo", metav1.GetOptions{}))(t)
		if *got.Spec.HolderIdentity != "b" || got.ResourceVersion != second.ResourceVersion || got.UID != first.UID {
			t.Errorf("stored is %s at %s, want b at %s", *got.Spec.HolderIdentity, got.ResourceVersion, second.ResourceVersion)
		}
		if first.ResourceVersion != "2" || second.ResourceVersion != "3" || first.UID != "00000000-0000-4000-8000-000000000001" {
			t.Errorf("versions %q, %q of %q", first.ResourceVersion, second.ResourceVersion, first.UID)
		}
	})
}

func TestAnUpdateThatChangesNothingKeepsTheVersion(t *testing.T) {
	everyWire(t, func(t *testing.T, s *lockstest.Server, c kubernetes.Interface) {
		leases := c.CoordinationV1().Leases("default")
		first := must(leases.Create(ctx, lease("demo"), metav1.CreateOptions{}))(t)
		same := must(leases.Update(ctx, first, metav1.UpdateOptions{}))(t)
		other := must(leases.Create(ctx, lease("other"), metav1.CreateOptions{}))(t)
		if same.ResourceVersion != "2" || other.ResourceVersion != "3" {
			t.Errorf("versions %q and %q, want 2 and 3", same.ResourceVersion, other.ResourceVersion)
		}
	})
}

func TestAllObjectsShareOneGrowingVersion(t *testing.T) {
	everyWire(t, func(t *testing.T, s *lockstest.Server, c kubernetes.Interface) {
		leases, cms := c.CoordinationV1().Leases("default"), c.CoreV1().ConfigMaps("default")
		a := must(leases.Create(ctx, lease("a"), metav1.CreateOptions{}))(t)
		b := must(cms.Create(ctx, configMap("b"), metav1.CreateOptions{}))(t)
		if err := leases.Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		again := must(leases.Create(ctx, lease("a"), metav1.CreateOptions{}))(t)
		if a.ResourceVersion != "2" || b.ResourceVersion != "3" || again.ResourceVersion != "5" {
			t.Errorf("versions %s, %s, %s, want 2, 3, 5", a.ResourceVersion, b.ResourceVersion, again.ResourceVersion)
		}
		if again.UID == a.UID || again.UID == "" || b.UID == a.UID {
			t.Errorf("uids %q, %q, %q are not all different", a.UID, b.UID, again.UID)
		}
	})
}

func TestWhatTheServerRefuses(t *testing.T) {
	everyWire(t, func(t *testing.T, s *lockstest.Server, c kubernetes.Interface) {
		leases, cms := c.CoordinationV1().Leases("default"), c.CoreV1().ConfigMaps("default")
		stored := must(leases.Create(ctx, lease("demo"), metav1.CreateOptions{}))(t)
		must(cms.Create(ctx, configMap("demo"), metav1.CreateOptions{}))(t)
		s.AddNamespace("dying")
		s.TerminateNamespace("dying")
		edited := func(edit func(*coordinationv1.Lease)) *coordinationv1.Lease {
			l := stored.DeepCopy()
			edit(l)
			return l
		}
		put := func(edit func(*coordinationv1.Lease)) error {
			l := edited(edit)
			_, err := c.CoordinationV1().Leases(l.Namespace).Update(ctx, l, metav1.UpdateOptions{})
			return err
		}
		post := func(namespace string, l *coordinationv1.Lease) error {
			_, err := c.CoordinationV1().Leases(namespace).Create(ctx, l, metav1.CreateOptions{})
			return err
		}
		in := func(namespace, name string) *coordinationv1.Lease {
			l := lease(name)
			l.Namespace = namespace
			return l
		}

		_, err := leases.Get(ctx, "none", metav1.GetOptions{})
		wantStatus(t, err, 404, metav1.StatusReasonNotFound, coordination, "leases", "none", `"none" not found`)
		_, err = cms.Get(ctx, "none", metav1.GetOptions{})
		wantStatus(t, err, 404, metav1.StatusReasonNotFound, "", "configmaps", "none", `configmaps "none" not found`)
		wantStatus(t, post("default", lease("demo")), 409, metav1.StatusReasonAlreadyExists, coordination, "leases", "demo", "already exists")
		wantStatus(t, post("nowhere", in("nowhere", "x")), 404, metav1.StatusReasonNotFound, "", "namespaces", "nowhere", `namespaces "nowhere" not found`)
		wantStatus(t, post("dying", in("dying", "x")), 403, metav1.StatusReasonForbidden, coordination, "leases", "x", "because it is being terminated")
		wantStatus(t, post("default", in("other", "x")), 400, metav1.StatusReasonBadRequest, "", "", "", "namespace of the provided object does not match")

		wantStatus(t, put(func(l *coordinationv1.Lease) { l.ResourceVersion = "" }), 422, metav1.StatusReasonInvalid,
			coordination, "leases", "demo", "metadata.resourceVersion: Invalid value: 0: must be specified for an update")
		wantStatus(t, put(func(l *coordinationv1.Lease) { l.UID = "other" }), 409, metav1.StatusReasonConflict,
			coordination, "leases", "demo", "Precondition failed: UID in precondition: other")
		wantStatus(t, put(func(l *coordinationv1.Lease) { l.Name = "gone" }), 409, metav1.StatusReasonConflict,
			coordination, "leases", "gone", "UID in object meta: ")
		wantStatus(t, put(func(l *coordinationv1.Lease) { l.Spec.LeaseDurationSeconds = ptr(int32(0)) }), 422, metav1.StatusReasonInvalid,
			coordination, "Lease", "demo", "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0")
		wantStatus(t, put(func(l *coordinationv1.Lease) { l.Spec.LeaseTransitions = ptr(int32(-1)) }), 422, metav1.StatusReasonInvalid,
			coordination, "Lease", "demo", "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0")
		wantStatus(t, put(func(l *coordinationv1.Lease) { l.Spec.PreferredHolder = ptr("b") }), 422, metav1.StatusReasonInvalid,
			coordination, "Lease", "demo", "spec.preferredHolder: Forbidden")
		wantStatus(t, put(func(l *coordinationv1.Lease) { l.Spec.Strategy = ptr(coordinationv1.CoordinatedLeaseStrategy("")) }), 422,
			metav1.StatusReasonInvalid, coordination, "Lease", "demo", "spec.strategy: Invalid value")

		cm := configMap("none")
		cm.UID = "some"
		_, err = cms.Update(ctx, cm, metav1.UpdateOptions{})
		wantStatus(t, err, 404, metav1.StatusReasonNotFound, "", "configmaps", "none", "not found")
		_, err = cms.Patch(ctx, "demo", types.MergePatchType, []byte("{}"), metav1.PatchOptions{})
		wantStatus(t, err, 405, metav1.StatusReasonMethodNotAllowed, "", "configmaps", "", "not supported")
		_, err = leases.List(ctx, metav1.ListOptions{FieldSelector: "spec.x=1"})
		wantStatus(t, err, 400, metav1.StatusReasonBadRequest, "", "", "", "only the field selector metadata.name=… is supported")
		_, err = cms.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "big"},
			Data: map[string]string{"k": strings.Repeat("x", 3<<20)}}, metav1.CreateOptions{})
		wantStatus(t, err, 413, metav1.StatusReasonRequestEntityTooLarge, "", "", "", "limit is 3145728")

		got := must(leases.Get(ctx, "demo", metav1.GetOptions{}))(t)
		if got.ResourceVersion != stored.ResourceVersion {
			t.Errorf("a refused request changed the version from %s to %s", stored.ResourceVersion, got.ResourceVersion)
		}
	})
}

func TestWhatTheServerAllows(t *testing.T) {
	everyWire(t, func(t *testing.T, s *lockstest.Server, c kubernetes.Interface) {
		leases, cms := c.CoordinationV1().Leases("default"), c.CoreV1().ConfigMaps("default")
		made := must(leases.Update(ctx, lease("made"), metav1.UpdateOptions{}))(t)
		if made.ResourceVersion != "2" || made.UID == "" || made.CreationTimestamp.IsZero() {
			t.Errorf("a PUT on a missing Lease made %+v", made.ObjectMeta)
		}
		stale := lease("again")
		stale.ResourceVersion = "99"
		if again := must(leases.Update(ctx, stale, metav1.UpdateOptions{}))(t); again.ResourceVersion != "3" {
			t.Errorf("a PUT with a version but no uid on a missing Lease made version %s, want 3", again.ResourceVersion)
		}
		must(cms.Create(ctx, configMap("demo"), metav1.CreateOptions{}))(t)
		blind := configMap("demo")
		blind.Data["k"] = "w"
		got := must(cms.Update(ctx, blind, metav1.UpdateOptions{}))(t)
		if got.ResourceVersion != "5" || got.Data["k"] != "w" {
			t.Errorf("an unconditional update stored %v at %s", got.Data, got.ResourceVersion)
		}
		free := must(leases.Update(ctx, &coordinationv1.Lease{ObjectMeta: made.ObjectMeta}, metav1.UpdateOptions{}))(t)
		if free.Spec != (coordinationv1.LeaseSpec{}) {
			t.Errorf("an empty spec became %+v", free.Spec)
		}
	})
}

func TestDeletionHonoursItsPreconditions(t *testing.T) {
	everyWire(t, func(t *testing.T, s *lockstest.Server, c kubernetes.Interface) {
		leases := c.CoordinationV1().Leases("default")
		stored := must(leases.Create(ctx, lease("demo"), metav1.CreateOptions{}))(t)
		for _, pre := range []*metav1.Preconditions{{UID: ptr(types.UID("other"))}, {ResourceVersion: ptr("1")}} {
			err := leases.Delete(ctx, "demo", metav1.DeleteOptions{Preconditions: pre})
			wantStatus(t, err, 409, metav1.StatusReasonConflict, coordination, "leases", "demo", "Operation cannot be fulfilled")
		}
		right := &metav1.Preconditions{UID: &stored.UID, ResourceVersion: &stored.ResourceVersion}
		if err := leases.Delete(ctx, "demo", metav1.DeleteOptions{Preconditions: right}); err != nil {
			t.Error(err)
		}
		err := leases.Delete(ctx, "demo", metav1.DeleteOptions{})
		wantStatus(t, err, 404, metav1.StatusReasonNotFound, coordination, "leases", "demo", "not found")
	})
}

func TestListsAreSelectedByNameAndNamespace(t *testing.T) {
	everyWire(t, func(t *testing.T, s *lockstest.Server, c kubernetes.Interface) {
		s.EditLease("default", "b", func(*coordinationv1.Lease) {})
		s.EditLease("default", "a", func(*coordinationv1.Lease) {})
		s.EditLease("other", "a", func(*coordinationv1.Lease) {})
		s.EditConfigMap("default", "a", func(*corev1.ConfigMap) {})
		for _, q := range []struct{ namespace, selector, want string }{
			{"", "", "default/a default/b other/a"},
			{"default", "", "default/a default/b"},
			{"default", "metadata.name=b", "default/b"},
			{"nowhere", "", ""},
		} {
			list := must(c.CoordinationV1().Leases(q.namespace).List(ctx, metav1.ListOptions{FieldSelector: q.selector}))(t)
			var got []string
			for _, l := range list.Items {
				got = append(got, l.Namespace+"/"+l.Name)
			}
			if strings.Join(got, " ") != q.want || list.ResourceVersion != "5" {
				t.Errorf("%+v: got %q at %s", q, got, list.ResourceVersion)
			}
		}
		if list := must(c.CoreV1().ConfigMaps("").List(ctx, metav1.ListOptions{}))(t); len(list.Items) != 1 || list.Items[0].Name != "a" {
			t.Errorf("got %v", list.Items)
		}
	})
}

func TestAReadOfVersionZeroMayBeStale(t *testing.T) {
	s := lockstest.NewServer()
	leases := s.Client().CoordinationV1().Leases("default")
	stored := must(leases.Create(ctx, lease("demo"), metav1.CreateOptions{}))(t)
	stored.Spec.HolderIdentity = ptr("b")
	must(leases.Update(ctx, stored, metav1.UpdateOptions{}))(t)
	if got := must(leases.Get(ctx, "demo", metav1.GetOptions{ResourceVersion: "0"}))(t); *got.Spec.HolderIdentity != "a" {
		t.Errorf("the cache has %q, want a", *got.Spec.HolderIdentity)
	}
	s.DeleteLease("default", "demo")
	if got := must(leases.Get(ctx, "demo", metav1.GetOptions{ResourceVersion: "0"}))(t); *got.Spec.HolderIdentity != "b" {
		t.Errorf("the cache has %q, want b", *got.Spec.HolderIdentity)
	}
}

func TestBodiesTheServerCannotRead(t *testing.T) {
	s := lockstest.NewServer()
	cfg := s.Listen(t)
	path := cfg.Host + "/apis/coordination.k8s.io/v1/namespaces/default/leases"
	post := func(contentType, body string) (int, string) {
		r := must(http.Post(path, contentType, strings.NewReader(body)))(t)
		defer r.Body.Close()
		buf := make([]byte, 4096)
		n, _ := r.Body.Read(buf)
		return r.StatusCode, string(buf[:n])
	}
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	const head = `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"x"},"spec":`
	for _, c := range []struct {
		name, contentType, body string
		code                    int
		text                    string
	}{
		{"a time without six digits", "application/json", head + `{"renewTime":"2026-08-17T12:00:05Z"}}`, 400, `cannot parse`},
		{"a time with six digits", "application/json", head + `{"renewTime":"2026-08-17T12:00:05.000000Z"}}`, 201, `"renewTime":"2026-08-17T12:00:05.000000Z"`},
		{"another kind", "application/json", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"}}`, 400, "the body is a *v1.Pod"},
		{"no JSON", "application/json", `{`, 400, "cannot be handled as a Lease"},
		{"an unknown format", "text/html", `<html>`, 415, "unknown format"},
		{"no name", "application/json", `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease"}`, 400, "name must be provided"},
	} {
		if code, body := post(c.contentType, c.body); code != c.code || !strings.Contains(body, c.text) {
			t.Errorf("%s: %d %s, want %d %s", c.name, code, body, c.code, c.text)
		}
	}
	r := must(http.Get(cfg.Host + "/apis/apps/v1/deployments"))(t)
	r.Body.Close()
	if r.StatusCode != 404 || r.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("an API that is not served: %d %s", r.StatusCode, r.Header.Get("Content-Type"))
	}
}

func TestNamespacesComeAndGo(t *testing.T) {
	s := lockstest.NewServer()
	c := s.Client()
	s.EditLease("shop", "demo", func(l *coordinationv1.Lease) { l.Spec = lease("").Spec })
	s.TerminateNamespace("shop")
	if s.Lease("shop", "demo") == nil {
		t.Error("a terminating namespace lost its objects at once")
	}
	s.RemoveNamespace("shop")
	_, err := c.CoordinationV1().Leases("shop").Get(ctx, "demo", metav1.GetOptions{})
	wantStatus(t, err, 404, metav1.StatusReasonNotFound, coordination, "leases", "demo", "not found")
	s.AddNamespace("shop")
	l := lease("demo")
	l.Namespace = "shop"
	if l = must(c.CoordinationV1().Leases("shop").Create(ctx, l, metav1.CreateOptions{}))(t); l.ResourceVersion != "4" {
		t.Errorf("created at %s, want 4", l.ResourceVersion)
	}
}

func TestAnAdministratorEditsWithoutValidation(t *testing.T) {
	s := lockstest.NewServer()
	first := s.EditLease("default", "demo", func(l *coordinationv1.Lease) { l.Spec.LeaseDurationSeconds = ptr(int32(-1)) })
	same := s.EditLease("default", "demo", func(*coordinationv1.Lease) {})
	second := s.EditLease("default", "demo", func(l *coordinationv1.Lease) { l.Labels = map[string]string{"a": "b"} })
	if first.ResourceVersion != "2" || same.ResourceVersion != "2" || second.ResourceVersion != "3" {
		t.Errorf("versions %s, %s, %s", first.ResourceVersion, same.ResourceVersion, second.ResourceVersion)
	}
	if *s.Lease("default", "demo").Spec.LeaseDurationSeconds != -1 {
		t.Error("the edit was not stored")
	}
	cm := s.EditConfigMap("default", "demo", func(c *corev1.ConfigMap) { c.Annotations = map[string]string{"a": ""} })
	cm.Annotations["a"] = "changed"
	if got := s.ConfigMap("default", "demo"); got.Annotations["a"] != "" {
		t.Error("what EditConfigMap returned aliases what is stored")
	}
	if !s.DeleteConfigMap("default", "demo") || s.DeleteConfigMap("default", "demo") || s.ConfigMap("default", "demo") != nil {
		t.Error("the deletion is not told right")
	}
	s.SetRevision(100)
	if got := s.EditLease("default", "new", func(*coordinationv1.Lease) {}); got.ResourceVersion != "101" {
		t.Errorf("after SetRevision(100): %s", got.ResourceVersion)
	}
}

func TestRequestsAreSeenAndCanBeAnsweredByTheTest(t *testing.T) {
	everyWire(t, func(t *testing.T, s *lockstest.Server, c kubernetes.Interface) {
		s.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodPost {
				return false
			}
			http.Error(w, "<h1>Bad Gateway</h1>", http.StatusBadGateway)
			return true
		})
		_, err := c.CoordinationV1().Leases("default").Create(ctx, lease("demo"), metav1.CreateOptions{})
		if !apierrors.IsUnexpectedServerError(err) || s.Lease("default", "demo") != nil {
			t.Errorf("the intercepted request: %v", err)
		}
		s.Intercept(nil)
		must(c.CoordinationV1().Leases("default").Create(ctx, lease("demo"), metav1.CreateOptions{}))(t)
		got := s.Requests()
		if len(got) != 2 || got[0].Method != "POST" || got[0].Path != "/apis/coordination.k8s.io/v1/namespaces/default/leases" ||
			got[0].UserAgent != "a test" {
			t.Errorf("requests %+v", got)
		}
		s.ForgetRequests()
		if got := s.Requests(); len(got) != 0 {
			t.Errorf("requests %+v after ForgetRequests", got)
		}
	})
}

func TestNewClientsetRefusesWhatItCannotStore(t *testing.T) {
	c := lockstest.NewClientset(lease("demo"), configMap("demo"), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}})
	l := must(c.CoordinationV1().Leases("default").Get(ctx, "demo", metav1.GetOptions{}))(t)
	if l.UID == "" || l.ResourceVersion != "2" {
		t.Errorf("uid %q, version %q", l.UID, l.ResourceVersion)
	}
	if _, err := c.CoordinationV1().Leases("shop").Create(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
	for want, obj := range map[string]kubernetes.Interface{
		"cannot store a *v1.Pod":                lockstest.NewClientset(&corev1.Pod{}),
		"cannot store Lease default/demo: leas": lockstest.NewClientset(lease("demo"), lease("demo")),
	} {
		if _, err := obj.CoordinationV1().Leases("default").Get(ctx, "demo", metav1.GetOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
