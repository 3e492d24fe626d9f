package locks

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/seed2c765205/elect/elector"
)

// LeaderAnnotation is the annotation in which a ConfigMap keeps the record of an election, for all electors.
const LeaderAnnotation = "control-plane.alpha.kubernetes.io/leader"

// A ConfigMap is a lock on the annotation LeaderAnnotation of a v1 ConfigMap, as electors used before there were Leases
// and as some still do. It is an elector.Lock and an elector.TimeResolver; all methods are safe for concurrent use. Where
// nothing else decides, use a Lease: it is smaller, and API servers serve it apart from the traffic of ConfigMaps.
//
// Of the object it owns LeaderAnnotation, whole, and MarkAnnotation. Everything else survives a write as it was read: data,
// labels, other annotations, owner references, finalizers.
//
// It writes the record that client-go's ConfigMapLock wrote: times to the second, in UTC. It reads what client-go, the
// Python, Java and C# clients and fabric8 write: durations as a number or a string of seconds or in the form of ISO 8601,
// times with or without a fraction and a zone (without one, they are taken for UTC), and any field missing. A time or a
// duration that is a string without sense reads as missing.
//
// An annotation that is missing, on a ConfigMap that exists, is an empty Record with the empty Stamp: nobody holds the
// lock, and a Write updates the object. An annotation that is no JSON object, the empty text included, or has a field of
// a wrong type, is a Snapshot with Damage whose Stamp is the annotation's text.
//
// The account needs get and update on the ConfigMap, and create on configmaps in its namespace unless it exists already.
type ConfigMap struct {
	lock objectLock[*corev1.ConfigMap]
}

// NewConfigMap returns a lock on a ConfigMap, by a client of the caller's: a clientset's CoreV1(). Its rate limit, its
// timeout and its repetitions are then the lock's too; NewConfigMapForConfig has none.
//
// A nil client, or a name or namespace that no ConfigMap can have, makes every Read and Write fail with a CallError of
// class Invalid. Validate tells of it at once.
func NewConfigMap(client coreclient.ConfigMapsGetter, namespace, name string, opts ...Option) *ConfigMap {
	l := newConfigMap(namespace, name, opts)
	if l.lock.invalid == nil && client == nil {
		l.lock.invalid = errNoClient
	}
	if l.lock.invalid == nil {
		l.lock.api = client.ConfigMaps(namespace)
	}
	return l
}

// NewConfigMapForConfig returns a lock on a ConfigMap, by a private client that is made from a copy of cfg; the package's
// documentation says how it differs. The error names the field and the rule if cfg is nil or not usable, or if no
// ConfigMap can have the name or namespace.
func NewConfigMapForConfig(cfg *rest.Config, namespace, name string, opts ...Option) (*ConfigMap, error) {
	l := newConfigMap(namespace, name, opts)
	if l.lock.invalid != nil {
		return nil, l.lock.invalid
	}
	private, err := newPrivateClient(cfg, l.lock.options)
	if err != nil {
		return nil, err
	}
	client, err := coreclient.NewForConfigAndClient(private.config, private.http)
	if err != nil {
		return nil, clientError(err)
	}
	l.lock.api, l.lock.connections = client.ConfigMaps(namespace), private.connections
	return l, nil
}

func newConfigMap(namespace, name string, opts []Option) *ConfigMap {
	p := place{kind: "ConfigMap", resource: "configmaps", namespace: namespace, name: name}
	return &ConfigMap{lock: objectLock[*corev1.ConfigMap]{
		place: p, form: annotationForm{}, source: "annotation " + LeaderAnnotation + " of " + p.String(),
		options: newOptions(opts), invalid: p.validate(),
	}}
}

// Read gets the ConfigMap from the API server: always its latest state, never a cache's.
func (l *ConfigMap) Read(ctx context.Context) (elector.Snapshot, error) { return l.lock.read(ctx) }

// Write creates the ConfigMap, or replaces exactly the state that prev was read or written as. LeaseDuration must be
// whole seconds, at least one; Transitions must not be negative; a zero time is written as null.
func (l *ConfigMap) Write(ctx context.Context, prev elector.Snapshot, next elector.Record) (elector.Snapshot, error) {
	return l.lock.write(ctx, prev, next)
}

// String is such as "configmap shop/leader".
func (l *ConfigMap) String() string { return l.lock.place.String() }

// TimeResolution is a second: what is finer is cut off.
func (l *ConfigMap) TimeResolution() time.Duration { return time.Second }

// Validate tells why the lock can never work, or returns nil.
func (l *ConfigMap) Validate() error { return l.lock.invalid }

// CloseIdleConnections closes the connections of a private client that are not in use; the next call opens one again. It
// does nothing to a client of the caller's.
func (l *ConfigMap) CloseIdleConnections() { l.lock.connections.closeIdle() }
