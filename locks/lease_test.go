package locks_test

import (
	"testing"

	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/locks"
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
