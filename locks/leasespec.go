package locks

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seed2c765205/elect/elector"
)

// leaseForm keeps a record in a Lease's spec.
type leaseForm struct{}

func (leaseForm) fresh() *coordinationv1.Lease { return &coordinationv1.Lease{} }

// encode never leaves holderIdentity out: a nil holder crashes a coordinated-election controller of Kubernetes 1.37.
func (leaseForm) encode(lease *coordinationv1.Lease, r elector.Record) error {
	seconds, err := wholeSeconds(r.LeaseDuration)
	if err != nil {
		return err
	}
	transitions, err := count(r.Transitions)
	if err != nil {
		return err
	}
	spec := &lease.Spec
	spec.HolderIdentity, spec.LeaseDurationSeconds, spec.LeaseTransitions = &r.Holder, &seconds, &transitions
	spec.AcquireTime, spec.RenewTime = microTime(r.AcquireTime), microTime(r.RenewTime)
	return nil
}

func (leaseForm) decode(lease *coordinationv1.Lease) (elector.Record, string, error) {
	spec := normal(lease.Spec)
	stamp, err := json.Marshal(spec)
	return elector.Record{
		Holder:        deref(spec.HolderIdentity),
		LeaseDuration: time.Duration(deref(spec.LeaseDurationSeconds)) * time.Second,
		AcquireTime:   deref(spec.AcquireTime).UTC(),
		RenewTime:     deref(spec.RenewTime).UTC(),
		Transitions:   int64(deref(spec.LeaseTransitions)),
	}, string(stamp), err
}

// normal makes one of the two forms of a missing time: JSON has null, which is read as nil, and protobuf an empty message,
// which is read as a zero time.
func normal(spec coordinationv1.LeaseSpec) coordinationv1.LeaseSpec {
	if spec.AcquireTime.IsZero() {
		spec.AcquireTime = nil
	}
	if spec.RenewTime.IsZero() {
		spec.RenewTime = nil
	}
	return spec
}

func deref[V any](p *V) V {
	var v V
	if p != nil {
		v = *p
	}
	return v
}

func microTime(t time.Time) *metav1.MicroTime {
	if t.IsZero() {
		return nil
	}
	return &metav1.MicroTime{Time: t.UTC().Truncate(time.Microsecond)}
}

func wholeSeconds(d time.Duration) (int32, error) {
	if d < time.Second || d%time.Second != 0 || d/time.Second > math.MaxInt32 {
		return 0, fmt.Errorf("LeaseDuration %v: must be whole seconds, from 1 to %d", d, math.MaxInt32)
	}
	return int32(d / time.Second), nil
}

func count(n int64) (int32, error) {
	if n < 0 || n > math.MaxInt32 {
		return 0, fmt.Errorf("Transitions %d: must be from 0 to %d", n, math.MaxInt32)
	}
	return int32(n), nil
}
