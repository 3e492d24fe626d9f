package locks_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/locks"
	"github.com/seed2c765205/elect/locks/lockstest"
)

var configMapMakers = map[string]maker{
	"NewConfigMap":          typedConfigMap,
	"NewConfigMapForConfig": privateConfigMap,
}

func typedConfigMap(t *testing.T, cfg *rest.Config, namespace, name string) elector.Lock {
	t.Helper()
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	c, err := coreclient.NewForConfigAndClient(cfg, client)
	if err != nil {
		t.Fatal(err)
	}
	return locks.NewConfigMap(c, namespace, name)
}

func privateConfigMap(t *testing.T, cfg *rest.Config, namespace, name string) elector.Lock {
	t.Helper()
	l, err := locks.NewConfigMapForConfig(cfg, namespace, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.CloseIdleConnections)
	return l
}

func TestConfigMapKeepsTheContract(t *testing.T) {
	exerciseOnEveryWire(t, configMapMakers, configMapBackend)
}

// corruptions are annotations that are no record.
var corruptions = map[string]string{
	"half an object":          "{",
	"null":                    "null",
	"a list":                  "[]",
	"a string":                `"a"`,
	"two objects":             `{} {}`,
	"text":                    "held by b",
	"a blank":                 " ",
	"a holder that is 5":      `{"holderIdentity":5}`,
	"a holder that is a list": `{"holderIdentity":["b"]}`,
	"a duration that is true": `{"holderIdentity":"b","leaseDurationSeconds":true}`,
	"an object as a duration": `{"holderIdentity":"b","leaseDuration":{}}`,
	"a time that is a number": `{"holderIdentity":"b","renewTime":1755432000}`,
	"transitions in a list":   `{"holderIdentity":"b","leaderTransitions":[1]}`,
	"a number beyond numbers": `{"holderIdentity":"b","leaseDurationSeconds":1e999}`,
	"200 KiB":                 strings.Repeat("x", 200<<10),
}

func configMapBackend(s *lockstest.Server, newLock func(namespace string) elector.Lock) lockstest.Backend {
	b := kubernetesBackend(s, newLock)
	b.Delete = func() { s.DeleteConfigMap("default", "demo") }
	b.Decorate = func() func() error {
		was := s.EditConfigMap("default", "demo", func(cm *corev1.ConfigMap) {
			decorate(&cm.ObjectMeta)
			cm.Data, cm.BinaryData = map[string]string{"k": "v\n"}, map[string][]byte{"b": {0, 255}}
			cm.Immutable = ptr(false)
		})
		return func() error {
			is := s.ConfigMap("default", "demo")
			if !reflect.DeepEqual(was.Data, is.Data) || !reflect.DeepEqual(was.BinaryData, is.BinaryData) || is.Immutable == nil {
				return fmt.Errorf("the data was %v, and is %v", was.Data, is.Data)
			}
			return metaLost(was.ObjectMeta, is.ObjectMeta)
		}
	}
	b.Corruptions = map[string]func(){}
	for name, text := range corruptions {
		b.Corruptions[name] = func() {
			s.EditConfigMap("default", "demo", func(cm *corev1.ConfigMap) { cm.Annotations[ownRecord] = text })
		}
	}
	return b
}

func TestACorruptedAnnotationIsDamageAndItsTextIsTheStamp(t *testing.T) {
	for name, text := range corruptions {
		s := lockstest.NewServer()
		s.EditConfigMap("default", "demo", func(cm *corev1.ConfigMap) {
			cm.Annotations = map[string]string{ownRecord: text, ownMark: "x"}
		})
		got, err := locks.NewConfigMap(s.Client().CoreV1(), "default", "demo").Read(ctx)
		if err != nil || got.Damage == nil || got.Stamp != text || got.Revision != 2 || got.Record != (elector.Record{}) {
			t.Errorf("%s: %+v, %v", name, got, err)
			continue
		}
		want := "annotation control-plane.alpha.kubernetes.io/leader of configmap default/demo"
		if d := got.Damage; d.Source != want || len(d.Body) > 512 || !strings.HasPrefix(text, d.Body) || d.Err == nil || d.Status != 0 {
			t.Errorf("%s: damage %+v", name, d)
		}
	}
}

func TestAConfigMapWithoutAnAnnotationIsFreeAndIsUpdated(t *testing.T) {
	for name, annotations := range map[string]map[string]string{
		"no annotations": nil,
		"another's":      {"example.com/note": "x"},
	} {
		t.Run(name, func(t *testing.T) {
			s := lockstest.NewServer()
			s.EditConfigMap("default", "demo", func(cm *corev1.ConfigMap) { cm.Annotations = annotations })
			l := locks.NewConfigMap(s.Client().CoreV1(), "default", "demo")
			got, err := l.Read(ctx)
			if err != nil || got.Version == "" || got.Stamp != "" || got.Damage != nil || got.Record != (elector.Record{}) {
				t.Fatalf("%+v, %v", got, err)
			}
			_, err = l.Write(ctx, elector.Snapshot{}, record)
			if !errors.Is(err, elector.ErrConflict) {
				t.Errorf("a create: %v, want ErrConflict", err)
			}
			if _, err = l.Write(ctx, got, record); err != nil {
				t.Fatal(err)
			}
			cm := s.ConfigMap("default", "demo")
			want := `{"holderIdentity":"a","leaseDurationSeconds":15,"acquireTime":"2026-08-17T12:00:00Z","renewTime":"2026-08-17T12:00:05Z","leaderTransitions":3}`
			if cm.Annotations[ownRecord] != want || cm.Annotations[ownMark] != "a-1" || cm.Annotations["example.com/note"] != annotations["example.com/note"] {
				t.Errorf("stored %v", cm.Annotations)
			}
		})
	}
}

func TestAConfigMapKeepsTimesToTheSecond(t *testing.T) {
	s := lockstest.NewServer()
	l := locks.NewConfigMap(s.Client().CoreV1(), "default", "demo")
	got, err := l.Write(ctx, elector.Snapshot{}, record)
	if err != nil || got.Record.AcquireTime != record.AcquireTime.Truncate(time.Second) || l.TimeResolution() != time.Second {
		t.Errorf("%+v, %v", got.Record, err)
	}
	unsaid, err := l.Write(ctx, got, elector.Record{LeaseDuration: time.Second})
	want := `{"holderIdentity":"","leaseDurationSeconds":1,"acquireTime":null,"renewTime":null,"leaderTransitions":0}`
	if err != nil || unsaid.Stamp != want || !unsaid.Record.RenewTime.IsZero() {
		t.Errorf("%s, %v", unsaid.Stamp, err)
	}
}

func TestARecordThatAnAnnotationCannotHoldIsRefusedUnsent(t *testing.T) {
	s := lockstest.NewServer()
	l := locks.NewConfigMap(s.Client().CoreV1(), "default", "demo")
	for _, bad := range []elector.Record{{}, {LeaseDuration: time.Second, Transitions: -1}} {
		_, err := l.Write(ctx, elector.Snapshot{}, bad)
		check(t, "create", err, invalid)
	}
	if len(s.Requests()) != 0 {
		t.Error("a request was sent")
	}
}

func TestWhatAConfigMapSaysOfAnswers(t *testing.T) {
	const about = `,"details":{"name":"demo","kind":"configmaps"}`
	for name, sc := range map[string]scenario{
		"404 Status about the ConfigMap": {answer: status(404, "NotFound", "", about),
			read: outcome{err: elector.ErrNotFound}, create: elsewhere, update: outcome{err: elector.ErrConflict}},
		"404 Status about a Lease":   each(status(404, "NotFound", "", aboutDemo), elsewhere),
		"404 HTML":                   each(page(404, "text/html", html), unreadable(404)),
		"409 Status about the lock":  {answer: status(409, "Conflict", "", about), read: odd, create: odd, update: outcome{err: elector.ErrConflict}},
		"409 Status about its being": {answer: status(409, "AlreadyExists", "", about), read: odd, create: outcome{err: elector.ErrConflict}, update: odd},
		"502 HTML":                   each(page(502, "text/html", html), unreadable(502)),
	} {
		t.Run(name, func(t *testing.T) {
			s := lockstest.NewServer()
			s.EditConfigMap("default", "demo", func(*corev1.ConfigMap) {})
			lock := privateConfigMap(t, s.Config(), "default", "demo")
			present, err := lock.Read(ctx)
			if err != nil {
				t.Fatal(err)
			}
			s.Intercept(answering(sc.answer))
			_, err = lock.Read(ctx)
			check(t, "read", err, sc.read)
			_, err = lock.Write(ctx, elector.Snapshot{}, record)
			check(t, "create", err, sc.create)
			_, err = lock.Write(ctx, present, record)
			check(t, "update", err, sc.update)
		})
	}
}

func TestConfigMapsThatCannotBeAreToldOf(t *testing.T) {
	s := lockstest.NewServer()
	want := `locks: name "A" of a ConfigMap must be an RFC 1123 subdomain: `
	if _, err := locks.NewConfigMapForConfig(s.Config(), "default", "A"); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v", err)
	}
	wantInvalid(t, locks.NewConfigMap(s.Client().CoreV1(), "default", "A"), want)
	wantInvalid(t, locks.NewConfigMap(nil, "default", "demo"), "client is nil")
	if _, err := locks.NewConfigMapForConfig(nil, "default", "demo"); err == nil || err.Error() != "locks: cfg is nil" {
		t.Errorf("got %v", err)
	}
	if _, err := locks.NewConfigMapForConfig(&rest.Config{Host: "::"}, "default", "demo"); err == nil {
		t.Error("a host that is none makes a client")
	}
	l := locks.NewConfigMap(s.Client().CoreV1(), "default", "demo")
	if l.Validate() != nil || l.String() != "configmap default/demo" {
		t.Errorf("%s: %v", l, l.Validate())
	}
}
