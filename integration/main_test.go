//go:build unix

package integration

import (
	"context"
	"testing"
	"time"

	"github.com/seed2c765205/elect/integration/controlplane"
)

var cluster *controlplane.ControlPlane

func TestMain(m *testing.M) { controlplane.Main(m, &cluster) }

// newNamespace makes a namespace for one test.
func newNamespace(t *testing.T) string {
	t.Helper()
	ns, err := cluster.NewNamespace(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	return ns
}

// within is a context that ends the test's waiting. It is generous: a machine may be busy.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
