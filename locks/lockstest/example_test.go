package lockstest_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/locks/lockstest"
	"github.com/seed2c765205/elect/locks/memory"
)

// The whole conformance suite for a lock of one's own is one call in a test.
func ExampleExerciseBackend() {
	_ = func(t *testing.T) {
		lockstest.ExerciseBackend(t, func(*testing.T) lockstest.Backend {
			lock := memory.New() // the lock to check, at which nothing is stored
			return lockstest.Backend{
				Lock:   lock,
				Second: func() elector.Lock { return lock },
				Delete: func() { lock.Delete() },
			}
		})
	}
}

// The clientset refuses what an API server refuses.
func ExampleNewClientset() {
	leases := lockstest.NewClientset().CoordinationV1().Leases("default")
	ctx := context.Background()
	stale, _ := leases.Create(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "leader"}}, metav1.CreateOptions{})
	fresh := stale.DeepCopy()
	fresh.Labels = map[string]string{"app": "shop"}
	_, err := leases.Update(ctx, fresh, metav1.UpdateOptions{})
	fmt.Println(err)
	_, err = leases.Update(ctx, stale, metav1.UpdateOptions{})
	fmt.Println(apierrors.IsConflict(err))
	// Output:
	// <nil>
	// true
}

// A test answers requests itself, here with what a proxy says when the API server is gone.
func ExampleServer_Intercept() {
	s := lockstest.NewServer()
	s.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		http.Error(w, "<h1>Bad Gateway</h1>", http.StatusBadGateway)
		return true
	})
	_, err := s.Client().CoordinationV1().Leases("default").Get(context.Background(), "leader", metav1.GetOptions{})
	fmt.Println(apierrors.IsUnexpectedServerError(err), s.Requests()[0].Method)
	// Output: true GET
}
