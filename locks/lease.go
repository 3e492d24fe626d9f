package locks

import (
	"context"

	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"

	"github.com/seed2c765205/elect/elector"
)

// A Lease is a lock on a coordination.k8s.io/v1 Lease. It is an elector.Lock; all methods are safe for concurrent use.
//
// Of the object it owns the five fields of the spec that client-go's elector writes (holderIdentity, leaseDurationSeconds,
// acquireTime, renewTime, leaseTransitions) and the annotation MarkAnnotation. Everything else survives a write as it was
// read, strategy and preferredHolder included. Times are kept to the microsecond, durations are whole seconds.
//
// A snapshot's Stamp covers the spec only: labels, annotations, managed fields and the Mark may change without it. Any
// field of the spec may be missing and then reads as its zero; a spec that names no holder is a free record. A Lease's
// record is never damaged: the API server refuses what it cannot read, and so does the client.
//
// The account needs get and update on the Lease, and create on leases in its namespace unless it exists already.
type Lease struct {
	lock objectLock[*coordinationv1.Lease]
}

// NewLease returns a lock on a Lease, by a client of the caller's: a clientset's CoordinationV1(). Its rate limit, its
// timeout and its repetitions are then the lock's too; NewLeaseForConfig has none.
//
// A nil client, or a name or namespace that no Lease can have, makes every Read and Write fail with a CallError of class
// Invalid. Validate tells of it at once.
func NewLease(client coordinationclient.LeasesGetter, namespace, name string, opts ...Option) *Lease {
	l := newLease(namespace, name, opts)
	if l.lock.invalid == nil && client == nil {
		l.lock.invalid = errNoClient
	}
	if l.lock.invalid == nil {
		l.lock.api = client.Leases(namespace)
	}
	return l
}

// NewLeaseForConfig returns a lock on a Lease, by a private client that is made from a copy of cfg; the package's
// documentation says how it differs. The error names the field and the rule if cfg is nil or not usable, or if no Lease
// can have the name or namespace.
func NewLeaseForConfig(cfg *rest.Config, namespace, name string, opts ...Option) (*Lease, error) {
	l := newLease(namespace, name, opts)
	if l.lock.invalid != nil {
		return nil, l.lock.invalid
	}
	private, err := newPrivateClient(cfg, l.lock.options)
	if err != nil {
		return nil, err
	}
	client, err := coordinationclient.NewForConfigAndClient(private.config, private.http)
	if err != nil {
		return nil, clientError(err)
	}
	l.lock.api, l.lock.connections = client.Leases(namespace), private.connections
	return l, nil
}

func newLease(namespace, name string, opts []Option) *Lease {
	p := place{
		kind: "Lease", group: coordinationv1.GroupName, resource: "leases", namespace: namespace, name: name,
	}
	return &Lease{lock: objectLock[*coordinationv1.Lease]{
		place: p, form: leaseForm{}, source: p.String(), options: newOptions(opts), invalid: p.validate(),
	}}
}

// Read gets the Lease from the API server: always its latest state, never a cache's.
func (l *Lease) Read(ctx context.Context) (elector.Snapshot, error) { return l.lock.read(ctx) }

// Write creates the Lease, or replaces exactly the state that prev was read or written as. LeaseDuration must be whole
// seconds, at least one; Transitions must not be negative; a zero time is written as absent.
func (l *Lease) Write(ctx context.Context, prev elector.Snapshot, next elector.Record) (elector.Snapshot, error) {
	return l.lock.write(ctx, prev, next)
}

// String is such as "lease shop/leader".
func (l *Lease) String() string { return l.lock.place.String() }

// Validate tells why the lock can never work, or returns nil.
func (l *Lease) Validate() error { return l.lock.invalid }

// CloseIdleConnections closes the connections of a private client that are not in use; the next call opens one again. It
// does nothing to a client of the caller's.
func (l *Lease) CloseIdleConnections() { l.lock.connections.closeIdle() }
