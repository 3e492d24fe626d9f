//go:build unix

package controlplane_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/seed2c765205/elect/integration/controlplane"
)

var cluster *controlplane.ControlPlane

func TestMain(m *testing.M) {
	if os.Getenv(victimVariable) != "" {
		beVictim()
		return
	}
	controlplane.Main(m, &cluster)
}

// victimVariable makes this test program start a control plane, tell where it is, and wait for its own death.
const victimVariable = "CONTROLPLANE_TEST_VICTIM"

func beVictim() {
	c, err := controlplane.Start(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Config().Host)
	select {}
}

func namespace(t *testing.T) string {
	t.Helper()
	ns, err := cluster.NewNamespace(t.Context(), "controlplane")
	if err != nil {
		t.Fatal(err)
	}
	return ns
}

func limited(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func TestAUserMayDoOnlyWhatItsRoleSays(t *testing.T) {
	ns := namespace(t)
	user, err := cluster.NewUser()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := controlplane.WriteKubeconfig(path, user.Config); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	leases := kubernetes.NewForConfigOrDie(config).CoordinationV1().Leases(ns)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "l"}}
	if _, err := leases.Create(t.Context(), lease, metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("without a role, create says %v, want forbidden", err)
	}

	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "creator", Namespace: ns},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"create"}}},
	}
	if err := cluster.Grant(limited(t, time.Minute), user, role); err != nil {
		t.Fatal(err)
	}
	if _, err := leases.Create(t.Context(), lease, metav1.CreateOptions{}); err != nil {
		t.Errorf("with the role, create says %v", err)
	}
	if _, err := leases.Get(t.Context(), "l", metav1.GetOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("get, which the role does not have, says %v, want forbidden", err)
	}
}

func TestServersKeepPortsAndDataWhenRestarted(t *testing.T) {
	ns := namespace(t)
	leases := cluster.Client().CoordinationV1().Leases(ns)
	want, err := leases.Create(t.Context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "l"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, server := range []*controlplane.Server{cluster.Etcd, cluster.APIServer} {
		if err := server.Restart(limited(t, 2*time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	var got *coordinationv1.Lease
	ctx := limited(t, time.Minute)
	for { // the API server finds etcd again by and by
		if got, err = leases.Get(ctx, "l", metav1.GetOptions{}); err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil || got.UID != want.UID || got.ResourceVersion != want.ResourceVersion {
		t.Errorf("after the restart: %v, %v; want %v", got, err, want)
	}
}

func TestAPausedServerAnswersWhenResumed(t *testing.T) {
	for range 2 { // the second changes nothing
		if err := cluster.APIServer.Pause(); err != nil {
			t.Fatal(err)
		}
	}
	leases := cluster.Client().CoordinationV1().Leases("default")
	if _, err := leases.Get(limited(t, time.Second), "l", metav1.GetOptions{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while paused, get says %v, want no answer in time", err)
	}
	if err := cluster.APIServer.Resume(); err != nil {
		t.Fatal(err)
	}
	if _, err := leases.Get(limited(t, time.Minute), "l", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after the pause, get says %v, want not found", err)
	}
}

var errGaveUp = errors.New("the test gave up")

func TestAStartThatFailsShowsTheLogAndLeavesNothing(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { // gives up when the first server is launched
		for ctx.Err() == nil {
			if logs, _ := filepath.Glob(filepath.Join(temp, "*", "etcd.log")); len(logs) > 0 {
				cancel(errGaveUp)
			}
		}
	}()
	_, err := controlplane.Start(ctx)
	cancel(nil)
	if !errors.Is(err, errGaveUp) {
		t.Fatalf("start says %v, want why it was given up", err)
	}
	if !strings.Contains(err.Error(), "--- the last lines of ") {
		t.Errorf("start says %v, want the log of the server that was waited for", err)
	}
	left, err := os.ReadDir(temp)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
