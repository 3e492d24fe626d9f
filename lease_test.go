package elect_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/events"
	"github.com/seed2c765205/elect/locks"
	"github.com/seed2c765205/elect/locks/lockstest"
)

// onLease runs a test with candidates for a Lease, on an API server in the same bubble.
func onLease(t *testing.T, test func(*stage, *lockstest.Server, func(*elector.Config))) {
	onStage(t, func(s *stage) {
		server := lockstest.NewServer()
		test(s, server, func(c *elector.Config) {
			lock, err := locks.NewLeaseForConfig(server.Config(), "default", "leader")
			if err != nil {
				s.t.Fatal(err)
			}
			c.Lock = lock
		})
	})
}

func TestALeaseIsAcquiredRenewedAndHandedOver(t *testing.T) {
	onLease(t, func(s *stage, server *lockstest.Server, lease func(*elector.Config)) {
		a := s.enter("a", lease)
		b := s.enter("b", lease)
		s.pass(12 * time.Second)
		spec := server.Lease("default", "leader").Spec
		if *spec.HolderIdentity != "a" || *spec.LeaseDurationSeconds != 15 || *spec.LeaseTransitions != 0 ||
			!spec.AcquireTime.Equal(timeAt(s, 0)) || !spec.RenewTime.Equal(timeAt(s, 10*time.Second)) {
			s.t.Errorf("the Lease is %+v", spec)
		}
		token := a.mustTerm(s.t).Token()
		a.stop()
		<-a.done
		spec = server.Lease("default", "leader").Spec
		if *spec.HolderIdentity != "" || *spec.LeaseDurationSeconds != 1 {
			s.t.Errorf("the released Lease is %+v", spec)
		}
		s.pass(3 * time.Second)
		term := b.mustTerm(s.t)
		if term.Token() <= token || term.Number() != 1 {
			s.t.Errorf("the next term has token %d after %d, and number %d", term.Token(), token, term.Number())
		}
	})
}

func timeAt(s *stage, d time.Duration) *metav1.MicroTime {
	return &metav1.MicroTime{Time: s.start.Add(d)}
}

func TestARenewalIsOneConditionalWriteAndNoRead(t *testing.T) {
	onLease(t, func(s *stage, server *lockstest.Server, lease func(*elector.Config)) {
		s.enter("a", lease)
		server.ForgetRequests()
		s.pass(time.Minute)
		var got []string
		for _, r := range server.Requests() {
			got = append(got, r.Method)
		}
		if want := strings.Repeat("PUT ", 12); strings.Join(got, " ")+" " != want {
			s.t.Errorf("a minute of leading took %v, want 12 PUT", got)
		}
	})
}

// What a proxy or another program answers ends a term on time at the most, and never the election.
func TestRubbishInsteadOfAnswersNeverEndsTheElection(t *testing.T) {
	for name, answer := range map[string]struct {
		status int
		kind   string
		body   string
	}{
		"502 HTML":              {502, "text/html", "<html>Bad Gateway</html>"},
		"503 empty":             {503, "", ""},
		"200 HTML":              {200, "text/html", "<html>log in</html>"},
		"404 HTML":              {404, "text/html", "<html>not found</html>"},
		"409 HTML":              {409, "text/html", "<html>conflict</html>"},
		"200 {}":                {200, "application/json", "{}"},
		"200 null":              {200, "application/json", "null"},
		"200 cut":               {200, "application/json", `{"kind":"Lease","apiVers`},
		"200 a Pod":             {200, "application/json", `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"leader","uid":"1","resourceVersion":"7"}}`},
		"200 a Status":          {200, "application/json", `{"kind":"Status","apiVersion":"v1","status":"Success"}`},
		"302":                   {302, "text/html", "<html>elsewhere</html>"},
		"10 MB of HTML":         {500, "text/html", strings.Repeat("<p>", 3<<20)},
		"etcd without a leader": {500, "application/json", `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"etcdserver: no leader","code":500}`},
	} {
		onLeaseByRunAndByStep(t, name, func(s *stage, server *lockstest.Server, enter func(string) *candidate) {
			a := enter("a")
			s.pass(time.Second)
			before := server.Lease("default", "leader").Spec
			server.Intercept(func(w http.ResponseWriter, _ *http.Request) bool {
				w.Header().Set("Content-Type", answer.kind)
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(answer.status)
				_, _ = io.WriteString(w, answer.body)
				return true
			})
			s.pass(9*time.Second - time.Millisecond)
			if !a.IsLeader() {
				s.t.Fatalf("the term ended before its trust: %v", a.events())
			}
			s.pass(time.Millisecond)
			if at := heardAt[events.Lost](a); a.IsLeader() || at != 10*time.Second {
				s.t.Fatalf("lost at %v, want exactly 10s", at)
			}
			fault := last[events.Error](s.t, a)
			if !fault.Retryable || !fault.RetryAt.After(fault.Time) {
				s.t.Errorf("the fault is %+v", fault)
			}
			if d, ok := errors.AsType[*elector.DecodeError](fault.Err); (fault.Class == events.ClassDecode) != ok || ok && d.Status != answer.status {
				s.t.Errorf("the fault has the decode error %+v", d)
			}
			if after := server.Lease("default", "leader").Spec; *after.RenewTime != *before.RenewTime {
				s.t.Error("something was written although no request got through")
			}
			server.Intercept(nil)
			s.pass(20 * time.Second)
			if !a.IsLeader() {
				s.t.Errorf("it does not lead again within lease and retry: %v", a.Status())
			}
		})
	}
}

func onLeaseByRunAndByStep(t *testing.T, name string, test func(*stage, *lockstest.Server, func(string) *candidate)) {
	t.Run(name+", by Run", func(t *testing.T) {
		onLease(t, func(s *stage, server *lockstest.Server, lease func(*elector.Config)) {
			test(s, server, func(name string) *candidate { return s.enter(name, lease) })
		})
	})
	t.Run(name+", by Step", func(t *testing.T) {
		onLease(t, func(s *stage, server *lockstest.Server, lease func(*elector.Config)) {
			test(s, server, func(name string) *candidate { return s.enterByStep(name, lease) })
		})
	})
}

// An HTML 404 is no proof that the Lease does not exist.
func TestAnUncleanNotFoundCreatesNothing(t *testing.T) {
	onLease(t, func(s *stage, server *lockstest.Server, lease func(*elector.Config)) {
		var methods []string
		server.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
			methods = append(methods, r.Method)
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, "<html>no such site</html>")
			return true
		})
		a := s.enter("a", lease)
		s.pass(time.Minute)
		for _, m := range methods {
			if m != http.MethodGet {
				s.t.Fatalf("the requests were %v, want reads only", methods)
			}
		}
		if e := last[events.Error](s.t, a); e.Class != events.ClassDecode || !strings.Contains(e.Err.Error(), "404") {
			s.t.Errorf("the error is %v", e)
		}
	})
}

func TestWhatIsNotOursSurvivesAThousandRenewals(t *testing.T) {
	onLease(t, func(s *stage, server *lockstest.Server, lease func(*elector.Config)) {
		a := s.enter("a", lease)
		strategy := coordinationv1.CoordinatedLeaseStrategy("example.com/theirs")
		edit := func(l *coordinationv1.Lease) {
			l.Labels = map[string]string{"theirs": "yes"}
			l.Annotations["theirs"] = "a note"
			l.Finalizers = []string{"example.com/theirs"}
			l.Spec.Strategy = &strategy
		}
		server.EditLease("default", "leader", edit)
		want := server.Lease("default", "leader")
		s.pass(5000 * time.Second)
		got := server.Lease("default", "leader")
		if len(all[events.Lost](a)) != 0 {
			s.t.Errorf("the edit cost the term: %v", all[events.Lost](a))
		}
		for _, l := range []*coordinationv1.Lease{want, got} {
			delete(l.Annotations, locks.MarkAnnotation)
		}
		if fmt.Sprint(got.Labels, got.Annotations, got.Finalizers, *got.Spec.Strategy) !=
			fmt.Sprint(want.Labels, want.Annotations, want.Finalizers, *want.Spec.Strategy) {
			s.t.Errorf("the Lease is\n%+v\nwant\n%+v", got, want)
		}
	})
}

func TestTwoOfOneIdentityNeverBothLeadALease(t *testing.T) {
	onLease(t, func(s *stage, _ *lockstest.Server, lease func(*elector.Config)) {
		a := s.enter("same", lease)
		b := s.enter("same", lease)
		for range 600 {
			s.pass(100 * time.Millisecond)
			if a.IsLeader() && b.IsLeader() {
				s.t.Fatal("both lead")
			}
		}
		if e := last[events.Error](s.t, b); e.Class != events.ClassDuplicate {
			s.t.Errorf("the second was told %v, want that its identity is taken", e)
		}
	})
}

func TestAConfigWithoutAUsableLockIsRefusedByNew(t *testing.T) {
	_, err := elector.New(elector.Config{Lock: locks.NewLease(nil, "default", "leader")})
	if err == nil || !strings.Contains(err.Error(), "Config.Lock") {
		t.Errorf("New returned %v", err)
	}
}
