package locks_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/events"
	"github.com/seed2c765205/elect/locks"
	"github.com/seed2c765205/elect/locks/lockstest"
)

var leaseMakers = map[string]maker{
	"NewLease":          typedLease,
	"NewLeaseForConfig": privateLease,
}

// typedLease is a lock on a client such as a program has, on a transport of the test's own.
func typedLease(t *testing.T, cfg *rest.Config, namespace, name string) elector.Lock {
	t.Helper()
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	c, err := coordinationclient.NewForConfigAndClient(cfg, client)
	if err != nil {
		t.Fatal(err)
	}
	return locks.NewLease(c, namespace, name)
}

func privateLease(t *testing.T, cfg *rest.Config, namespace, name string) elector.Lock {
	t.Helper()
	l, err := locks.NewLeaseForConfig(cfg, namespace, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.CloseIdleConnections)
	return l
}

func TestLeaseKeepsTheContract(t *testing.T) { exerciseOnEveryWire(t, leaseMakers, leaseBackend) }

func TestLeaseKeepsTheContractInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := lockstest.NewServer()
		arrived, resume := hang(s)
		defer resume()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		start := time.Now()
		go func() { <-arrived }()
		_, err := privateLease(t, s.Config(), "default", "demo").Write(ctx, elector.Snapshot{}, record)
		check(t, "create", err, timeout)
		if got := time.Since(start); got != 5*time.Second {
			t.Errorf("the call took %v, want 5s", got)
		}
	})
}

func TestALeaseIsMadeWithTheOptionsGivenAndUpdatedWithoutThem(t *testing.T) {
	s := lockstest.NewServer()
	labels, annotations := map[string]string{"app": "shop"}, map[string]string{"note": ""}
	l := locks.NewLease(s.Client().CoordinationV1(), "default", "demo", locks.WithLabels(labels), locks.WithAnnotations(annotations))
	labels["app"], annotations["note"] = "changed", "changed"
	for range 2 {
		if _, err := l.Write(ctx, elector.Snapshot{}, record); err != nil {
			t.Fatal(err)
		}
		got := s.Lease("default", "demo")
		if got.Labels["app"] != "shop" || fmt.Sprint(got.Annotations) != "map["+ownMark+":a-1 note:]" {
			t.Errorf("created with labels %v and annotations %v", got.Labels, got.Annotations)
		}
		s.DeleteLease("default", "demo")
	}
	s.EditLease("default", "demo", func(*coordinationv1.Lease) {})
	prev, _ := l.Read(ctx)
	if _, err := l.Write(ctx, prev, record); err != nil {
		t.Fatal(err)
	}
	if got := s.Lease("default", "demo"); len(got.Labels) != 0 || fmt.Sprint(got.Annotations) != "map["+ownMark+":a-1]" {
		t.Errorf("updated with labels %v and annotations %v", got.Labels, got.Annotations)
	}
}

func TestTheMarkIsThatOfTheRecordOnly(t *testing.T) {
	s := lockstest.NewServer()
	l := locks.NewLease(s.Client().CoordinationV1(), "default", "demo")
	first, err := l.Write(ctx, elector.Snapshot{}, record)
	if err != nil || first.Record.Mark != "a-1" {
		t.Fatalf("mark %q, %v", first.Record.Mark, err)
	}
	unmarked := record
	unmarked.Mark, unmarked.Transitions = "", 4
	second, err := l.Write(ctx, first, unmarked)
	if _, kept := s.Lease("default", "demo").Annotations[ownMark]; err != nil || kept || second.Record.Mark != "" {
		t.Errorf("a record without a mark has the mark %q, %v", second.Record.Mark, err)
	}
	marked := s.EditLease("default", "demo", func(l *coordinationv1.Lease) { l.Annotations = map[string]string{ownMark: "x"} })
	third, err := l.Read(ctx)
	if err != nil || third.Stamp != second.Stamp || third.Version != string(marked.UID)+"/"+marked.ResourceVersion {
		t.Errorf("stamp %q at %q, %v", third.Stamp, third.Version, err)
	}
}

func TestStrategyAndPreferredHolderSurviveARenewal(t *testing.T) {
	s := lockstest.NewServer()
	s.EditLease("default", "demo", func(l *coordinationv1.Lease) {
		l.Spec.Strategy, l.Spec.PreferredHolder = ptr(coordinationv1.OldestEmulationVersion), ptr("c")
	})
	l := locks.NewLease(s.Client().CoordinationV1(), "default", "demo")
	prev, _ := l.Read(ctx)
	if _, err := l.Write(ctx, prev, record); err != nil {
		t.Fatal(err)
	}
	got := s.Lease("default", "demo").Spec
	if *got.Strategy != "OldestEmulationVersion" || *got.PreferredHolder != "c" || *got.HolderIdentity != "a" {
		t.Errorf("stored %+v", got)
	}
}

func TestARecordThatALeaseCannotHoldIsRefusedUnsent(t *testing.T) {
	s := lockstest.NewServer()
	l := locks.NewLease(s.Client().CoordinationV1(), "default", "demo")
	for want, edit := range map[string]func(*elector.Record){
		"LeaseDuration 0s: must be whole seconds, from 1 to 2147483647":     func(r *elector.Record) { r.LeaseDuration = 0 },
		"LeaseDuration -1s: must be whole seconds":                          func(r *elector.Record) { r.LeaseDuration = -time.Second },
		"LeaseDuration 1.5s: must be whole seconds":                         func(r *elector.Record) { r.LeaseDuration = 1500 * time.Millisecond },
		"LeaseDuration 2562047h47m16s: must be whole seconds":               func(r *elector.Record) { r.LeaseDuration = math.MaxInt64 / time.Second * time.Second },
		"Transitions -1: must be from 0 to 2147483647":                      func(r *elector.Record) { r.Transitions = -1 },
		"create lease default/demo: Transitions 2147483648: must be from 0": func(r *elector.Record) { r.Transitions = math.MaxInt32 + 1 },
	} {
		bad := record
		edit(&bad)
		_, err := l.Write(ctx, elector.Snapshot{}, bad)
		check(t, "create", err, invalid)
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if len(s.Requests()) != 0 {
		t.Error("a request was sent")
	}
}

func TestASnapshotOfAnotherLockIsRefusedUnsent(t *testing.T) {
	s := lockstest.NewServer()
	client := s.Client().CoordinationV1()
	l := locks.NewLease(client, "default", "demo")
	other, err := locks.NewLease(client, "default", "other").Write(ctx, elector.Snapshot{}, record)
	if err != nil {
		t.Fatal(err)
	}
	mine, _ := l.Write(ctx, elector.Snapshot{}, record)
	mixed := mine
	mixed.Version = other.Version
	s.ForgetRequests()
	for name, prev := range map[string]elector.Snapshot{"of another object": other, "of no lock": {Version: "u/7"}, "of two states": mixed} {
		_, err := l.Write(ctx, prev, record)
		check(t, "update over a snapshot "+name, err, invalid)
	}
	if len(s.Requests()) != 0 {
		t.Error("a request was sent")
	}
}

func TestEveryFieldOfASpecMayBeMissing(t *testing.T) {
	at := metav1.NewMicroTime(record.RenewTime)
	for name, c := range map[string]struct {
		spec  coordinationv1.LeaseSpec
		want  elector.Record
		stamp string
	}{
		"empty":       {coordinationv1.LeaseSpec{}, elector.Record{}, `{}`},
		"holder only": {coordinationv1.LeaseSpec{HolderIdentity: ptr("b")}, elector.Record{Holder: "b"}, `{"holderIdentity":"b"}`},
		"free":        {coordinationv1.LeaseSpec{HolderIdentity: ptr("")}, elector.Record{}, `{"holderIdentity":""}`},
		"odd numbers": {
			coordinationv1.LeaseSpec{HolderIdentity: ptr("b"), LeaseDurationSeconds: ptr(int32(-5)), LeaseTransitions: ptr(int32(-1))},
			elector.Record{Holder: "b", LeaseDuration: -5 * time.Second, Transitions: -1},
			`{"holderIdentity":"b","leaseDurationSeconds":-5,"leaseTransitions":-1}`,
		},
		"zero times": {
			coordinationv1.LeaseSpec{AcquireTime: &metav1.MicroTime{}, RenewTime: &at},
			elector.Record{RenewTime: record.RenewTime}, `{"renewTime":"2026-08-17T12:00:05.000000Z"}`,
		},
	} {
		for _, wire := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
			s := lockstest.NewServer()
			s.EditLease("default", "demo", func(l *coordinationv1.Lease) { l.Spec = c.spec })
			cfg := s.Config()
			cfg.ContentType = wire
			got, err := privateLease(t, cfg, "default", "demo").Read(ctx)
			if err != nil || got.Damage != nil || got.Record != c.want || got.Stamp != c.stamp || got.Revision != 2 {
				t.Errorf("%s in %s: %+v, %v", name, wire, got, err)
			}
		}
	}
}

func TestTimesThatARecordDoesNotSayAreWrittenAsAbsent(t *testing.T) {
	s := lockstest.NewServer()
	l := locks.NewLease(s.Client().CoordinationV1(), "default", "demo")
	got, err := l.Write(ctx, elector.Snapshot{}, elector.Record{Holder: "a", LeaseDuration: time.Second})
	want := `{"holderIdentity":"a","leaseDurationSeconds":1,"leaseTransitions":0}`
	if err != nil || got.Stamp != want || !got.Record.RenewTime.IsZero() {
		t.Errorf("stored %s, %v", got.Stamp, err)
	}
}

func TestAVersionThatIsNoNumberHasNoOrder(t *testing.T) {
	l := locks.NewLease(stub{answer: leaseOf("default", "demo", "u", "abc")}, "default", "demo")
	got, err := l.Read(ctx)
	if err != nil || got.Revision != 0 || got.Version != "u/abc" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// stub is a client that always answers the same, as those made by hand for tests do.
type stub struct {
	coordinationclient.LeaseInterface
	answer *coordinationv1.Lease
}

func (s stub) Leases(string) coordinationclient.LeaseInterface { return s }

func (s stub) Get(context.Context, string, metav1.GetOptions) (*coordinationv1.Lease, error) {
	return s.answer, nil
}

func (s stub) Create(context.Context, *coordinationv1.Lease, metav1.CreateOptions) (*coordinationv1.Lease, error) {
	return s.answer, nil
}

func (s stub) Update(context.Context, *coordinationv1.Lease, metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	return s.answer, nil
}

func leaseOf(namespace, name, uid, version string) *coordinationv1.Lease {
	l := &coordinationv1.Lease{}
	l.Namespace, l.Name, l.UID, l.ResourceVersion = namespace, name, uidOf(uid), version
	return l
}

func TestAnswersThatAreNotTheLease(t *testing.T) {
	kind := func(version, kind string) *coordinationv1.Lease {
		l := leaseOf("default", "demo", "u", "7")
		l.APIVersion, l.Kind = version, kind
		return l
	}
	for name, c := range map[string]struct {
		answer *coordinationv1.Lease
		want   string
	}{
		"nothing":        {nil, "it is nothing"},
		"another kind":   {kind("v1", "Pod"), `it is a Pod of "v1"`},
		"another group":  {kind("other.io/v1", "Lease"), `it is a Lease of "other.io/v1"`},
		"a fake's":       {leaseOf("default", "demo", "", ""), "client-go's fake clientset checks no versions; for tests, locks/lockstest has a clientset that does"},
		"without uid":    {leaseOf("default", "demo", "", "7"), `it has the uid "" and the resourceVersion "7"`},
		"all empty":      {leaseOf("", "", "", ""), `it is about "" in namespace ""`},
		"of another one": {leaseOf("default", "other", "u", "7"), `it is about "other" in namespace "default"`},
	} {
		l := locks.NewLease(stub{answer: c.answer}, "default", "demo")
		_, rerr := l.Read(ctx)
		_, werr := l.Write(ctx, elector.Snapshot{}, record)
		for op, err := range map[string]error{"read": rerr, "create": werr} {
			check(t, name+", "+op, err, unreadable(0))
			if !strings.Contains(fmt.Sprint(err), c.want) {
				t.Errorf("%s, %s: %v, want %q", name, op, err, c.want)
			}
		}
	}
}

func TestAnAnswerThatDoesNotShowTheWriteLeavesItsOutcomeUnknown(t *testing.T) {
	answer := func(edit func(*coordinationv1.Lease)) func(*lockstest.Server) {
		return func(s *lockstest.Server) {
			next(s, func(w http.ResponseWriter, r *http.Request) {
				c := &capture{header: http.Header{}}
				s.Answer(c, r)
				l := c.lease()
				edit(l)
				writeJSON(w, l)
			})
		}
	}
	for name, c := range map[string]struct {
		prepare func(*lockstest.Server)
		next    elector.Record
		want    string
	}{
		"nothing changed":      {func(*lockstest.Server) {}, record, "it has the resourceVersion 2 that was to be replaced"},
		"another uid":          {answer(func(l *coordinationv1.Lease) { l.UID = "other" }), changed, `it has the uid "other", not "0`},
		"another holder":       {answer(func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = ptr("x") }), changed, "it holds the record {Holder:x "},
		"another renewal":      {answer(func(l *coordinationv1.Lease) { l.Spec.RenewTime = nil }), changed, "it holds the record {Holder:b "},
		"another's mark":       {answer(func(l *coordinationv1.Lease) { l.Annotations[ownMark] = "x" }), changed, "it holds the record {Holder:b "},
		"no mark":              {answer(func(l *coordinationv1.Lease) { l.Annotations = nil }), changed, "it holds the record {Holder:b "},
		"labels of a webhook":  {answer(func(l *coordinationv1.Lease) { l.Labels = map[string]string{"x": "y"} }), changed, ""},
		"strategy was dropped": {answer(func(l *coordinationv1.Lease) { l.Spec.Strategy = nil }), changed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := lockstest.NewServer()
			cfg := s.Config()
			cfg.ContentType = "application/json"
			l := privateLease(t, cfg, "default", "demo")
			prev, err := l.Write(ctx, elector.Snapshot{}, record)
			if err != nil {
				t.Fatal(err)
			}
			c.prepare(s)
			_, err = l.Write(ctx, prev, c.next)
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			check(t, "update", err, unreadable(200))
			if !strings.Contains(fmt.Sprint(err), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

var changed = elector.Record{
	Holder: "b", LeaseDuration: 15 * time.Second, Transitions: 4, Mark: "b-1", AcquireTime: record.AcquireTime, RenewTime: record.RenewTime,
}

func TestErrorsNameTheCallAndTheLock(t *testing.T) {
	s := lockstest.NewServer()
	l := locks.NewLease(s.Client().CoordinationV1(), "default", "demo")
	if got := l.String(); got != "lease default/demo" {
		t.Errorf("name %q", got)
	}
	_, err := l.Read(ctx)
	want := `read lease default/demo: elector: the lock does not exist: leases.coordination.k8s.io "demo" not found`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	var call *elector.CallError
	_, err = locks.NewLease(s.Client().CoordinationV1(), "nowhere", "demo").Write(ctx, elector.Snapshot{}, record)
	if !errors.As(err, &call) || call.Class != events.ClassNotFound || err.Error() != `create lease nowhere/demo: namespaces "nowhere" not found` {
		t.Errorf("got %v", err)
	}
}
