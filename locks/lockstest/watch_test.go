package lockstest_test

import (
	"fmt"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/seed2c765205/elect/locks/lockstest"
)

func open(t *testing.T, c kubernetes.Interface, version string) watch.Interface {
	t.Helper()
	w, err := c.CoordinationV1().Leases("default").Watch(ctx, metav1.ListOptions{
		FieldSelector: "metadata.name=demo", ResourceVersion: version,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	return w
}

// expect reads the next events and compares them with "TYPE name@version".
func expect(t *testing.T, w watch.Interface, want ...string) {
	t.Helper()
	for _, want := range want {
		e, open := <-w.ResultChan()
		got := "closed"
		switch obj := e.Object.(type) {
		case *coordinationv1.Lease:
			got = fmt.Sprintf("%s %s@%s", e.Type, obj.Name, obj.ResourceVersion)
		case *metav1.Status:
			got = fmt.Sprintf("%s %d %s", e.Type, obj.Code, obj.Reason)
		default:
			if open {
				got = fmt.Sprintf("%s %T", e.Type, obj)
			}
		}
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func edit(s *lockstest.Server, name, holder string) {
	s.EditLease("default", name, func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = &holder })
}

func TestAWatchTellsEveryChangeOfItsObjectOnly(t *testing.T) {
	everyWire(t, func(t *testing.T, s *lockstest.Server, c kubernetes.Interface) {
		w := open(t, c, "1")
		edit(s, "demo", "a")
		edit(s, "other", "a")
		edit(s, "demo", "b")
		edit(s, "demo", "b")
		s.DeleteLease("default", "demo")
		edit(s, "demo", "c")
		expect(t, w, "ADDED demo@2", "MODIFIED demo@4", "DELETED demo@5", "ADDED demo@6")
		s.CloseWatches()
		expect(t, w, "closed")
	})
}

func TestAWatchBeginsWithThePresentStateOrAfterAVersion(t *testing.T) {
	everyWire(t, func(t *testing.T, s *lockstest.Server, c kubernetes.Interface) {
		edit(s, "demo", "a")
		edit(s, "demo", "b")
		for _, version := range []string{"", "0"} {
			expect(t, open(t, c, version), "ADDED demo@3")
		}
		expect(t, open(t, c, "2"), "MODIFIED demo@3")
	})
}

func TestAWatchFromForgottenVersionsIsToldSo(t *testing.T) {
	everyWire(t, func(t *testing.T, s *lockstest.Server, c kubernetes.Interface) {
		edit(s, "demo", "a")
		edit(s, "demo", "b")
		s.Compact()
		expect(t, open(t, c, "2"), "ERROR 410 Expired", "closed")
		w := open(t, c, "3")
		edit(s, "demo", "c")
		expect(t, w, "MODIFIED demo@4")
	})
}

func TestHistoryIsBounded(t *testing.T) {
	s := lockstest.NewServer()
	for i := range 1002 {
		edit(s, "demo", fmt.Sprint(i))
	}
	expect(t, open(t, s.Client(), "2"), "ERROR 410 Expired")
	expect(t, open(t, s.Client(), "3"), "MODIFIED demo@4")
}

func TestAWatchOfAnUnreadableVersionIsRefused(t *testing.T) {
	_, err := lockstest.NewClientset().CoordinationV1().Leases("default").Watch(ctx, metav1.ListOptions{ResourceVersion: "x"})
	wantStatus(t, err, 400, metav1.StatusReasonBadRequest, "", "", "", "invalid resource version")
}
