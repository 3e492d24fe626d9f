//go:build unix

package integration

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

const (
	success  = "success"
	conflict = "409 Conflict of leases.coordination.k8s.io demo"
	// A refused delete names the kind, where a refused update names the resource.
	deleteConflict = "409 Conflict of Lease.coordination.k8s.io demo"
	notFound       = "404 NotFound of leases.coordination.k8s.io demo"
	alreadyExists  = "409 AlreadyExists of leases.coordination.k8s.io demo"
	noNamespace    = "404 NotFound of namespaces. nowhere"
	invalid        = "422 Invalid of Lease.coordination.k8s.io demo; "
)

// differences are what lockstest answers where it is known to differ. No lock depends on it.
var differences = map[string]string{
	"a delete of a stale version conflicts and changes nothing": conflict,
	"a delete of another uid conflicts and changes nothing":     conflict,
	"a strategy without a slash is invalid":                     success,
	"a name that DNS does not allow is invalid":                 success,
}

var apiChecks = []apiCheck{
	{"a stale update conflicts and changes nothing", conflict, func(p *probe) error {
		stale := p.create(lease())
		want := p.update(held(stale, "a"))
		_, err := p.leases.Update(p.Context(), held(stale, "b"), update)
		p.wantStored(want)
		return err
	}},
	{"an update of another uid conflicts and changes nothing", conflict, func(p *probe) error {
		want := p.create(lease())
		other := held(want, "b")
		other.UID = types.UID("00000000-0000-0000-0000-000000000000")
		_, err := p.leases.Update(p.Context(), other, update)
		p.wantStored(want)
		return err
	}},
	{"an update without resourceVersion is invalid and changes nothing",
		"422 Invalid of leases.coordination.k8s.io demo; FieldValueInvalid metadata.resourceVersion",
		func(p *probe) error {
			want := p.create(lease())
			_, err := p.leases.Update(p.Context(), held(lease(), "b"), update)
			p.wantStored(want)
			return err
		}},
	{"an update of a ConfigMap needs no resourceVersion", success, func(p *probe) error {
		must(p, func() (*corev1.ConfigMap, error) { return p.configMaps.Create(p.Context(), configMap("1"), create) })
		_, err := p.configMaps.Update(p.Context(), configMap("2"), update)
		return err
	}},
	{"a stale update of a ConfigMap conflicts", "409 Conflict of configmaps. demo", func(p *probe) error {
		stale := must(p, func() (*corev1.ConfigMap, error) { return p.configMaps.Create(p.Context(), configMap("1"), create) })
		must(p, func() (*corev1.ConfigMap, error) { return p.configMaps.Update(p.Context(), configMap("2"), update) })
		stale.Data["k"] = "3"
		_, err := p.configMaps.Update(p.Context(), stale, update)
		return err
	}},
	{"an update of a deleted object with its uid conflicts and creates nothing", conflict, func(p *probe) error {
		gone := p.create(lease())
		p.delete()
		_, err := p.leases.Update(p.Context(), held(gone, "b"), update)
		p.wantStored(nil)
		return err
	}},
	{"an update of a deleted object without uid creates it", success, func(p *probe) error {
		gone := p.create(lease())
		p.delete()
		gone.UID = ""
		_, err := p.leases.Update(p.Context(), held(gone, "b"), update)
		return err
	}},
	{"an update of nothing creates it", success, func(p *probe) error {
		_, err := p.leases.Update(p.Context(), lease(), update)
		return err
	}},
	{"a create over something is refused and changes nothing", alreadyExists, func(p *probe) error {
		want := p.create(lease())
		_, err := p.leases.Create(p.Context(), held(lease(), "b"), create)
		p.wantStored(want)
		return err
	}},

	{"a get of nothing names the object", notFound, func(p *probe) error {
		_, err := p.leases.Get(p.Context(), "demo", get)
		return err
	}},
	{"a get in a missing namespace names the object", notFound, func(p *probe) error {
		_, err := p.client.CoordinationV1().Leases("nowhere").Get(p.Context(), "demo", get)
		return err
	}},
	{"a create in a missing namespace names the namespace", noNamespace, func(p *probe) error {
		_, err := p.client.CoordinationV1().Leases("nowhere").Create(p.Context(), lease(), create)
		return err
	}},
	{"an update in a missing namespace names the namespace", noNamespace, func(p *probe) error {
		_, err := p.client.CoordinationV1().Leases("nowhere").Update(p.Context(), lease(), update)
		return err
	}},
	{"an unknown API is not found and names nothing", "404 NotFound of . ; UnexpectedServerResponse ", func(p *probe) error {
		return p.client.CoordinationV1().RESTClient().Get().AbsPath("/apis/unknown.example.com/v1/namespaces/default/things/demo").
			Do(p.Context()).Error()
	}},

	{"a delete of nothing is not found", notFound, func(p *probe) error {
		return p.leases.Delete(p.Context(), "demo", remove)
	}},
	{"a delete of a stale version conflicts and changes nothing", deleteConflict, func(p *probe) error {
		stale := p.create(lease())
		want := p.update(held(stale, "a"))
		err := p.leases.Delete(p.Context(), "demo", metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{ResourceVersion: &stale.ResourceVersion},
		})
		p.wantStored(want)
		return err
	}},
	{"a delete of another uid conflicts and changes nothing", deleteConflict, func(p *probe) error {
		want := p.create(lease())
		other := types.UID("00000000-0000-0000-0000-000000000000")
		err := p.leases.Delete(p.Context(), "demo", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &other}})
		p.wantStored(want)
		return err
	}},

	{"a duration of zero is invalid", invalid + "FieldValueInvalid spec.leaseDurationSeconds", func(p *probe) error {
		return p.createWith(func(s *coordinationv1.LeaseSpec) { s.LeaseDurationSeconds = new(int32(0)) })
	}},
	{"a negative number of transitions is invalid", invalid + "FieldValueInvalid spec.leaseTransitions", func(p *probe) error {
		return p.createWith(func(s *coordinationv1.LeaseSpec) { s.LeaseTransitions = new(int32(-1)) })
	}},
	{"a strategy without a slash is invalid", invalid + "FieldValueNotSupported spec.strategy.strategy", func(p *probe) error {
		return p.createWith(func(s *coordinationv1.LeaseSpec) { s.Strategy = new(coordinationv1.CoordinatedLeaseStrategy("mine")) })
	}},
	{"a preferred holder without a strategy is invalid", invalid + "FieldValueForbidden spec.preferredHolder", func(p *probe) error {
		return p.createWith(func(s *coordinationv1.LeaseSpec) { s.PreferredHolder = new("b") })
	}},
	{"strategy and preferred holder are kept together", success, func(p *probe) error {
		sent := lease()
		sent.Spec.Strategy, sent.Spec.PreferredHolder = new(coordinationv1.CoordinatedLeaseStrategy("example.com/x")), new("b")
		got, err := p.leases.Create(p.Context(), sent, create)
		if err == nil && (got.Spec.Strategy == nil || got.Spec.PreferredHolder == nil) {
			p.Errorf("stored %v, want both", got.Spec)
		}
		return err
	}},
	{"an empty spec is valid", success, func(p *probe) error {
		return p.createWith(func(s *coordinationv1.LeaseSpec) { *s = coordinationv1.LeaseSpec{} })
	}},
	{"an empty holder is kept as it is", success, func(p *probe) error {
		got := p.create(held(lease(), ""))
		if got.Spec.HolderIdentity == nil || *got.Spec.HolderIdentity != "" {
			p.Errorf("the holder is %v, want a pointer to an empty text", got.Spec.HolderIdentity)
		}
		return nil
	}},
	{"a name that DNS does not allow is invalid",
		"422 Invalid of Lease.coordination.k8s.io Not_A_Name; FieldValueInvalid metadata.name",
		func(p *probe) error {
			bad := lease()
			bad.Name = "Not_A_Name"
			_, err := p.leases.Create(p.Context(), bad, create)
			return err
		}},

	{"a PUT that changes nothing keeps the resourceVersion and tells no watcher", success, func(p *probe) error {
		old := p.create(lease())
		events := p.watch(old.ResourceVersion)
		same, err := p.leases.Update(p.Context(), old, update)
		if err == nil && same.ResourceVersion != old.ResourceVersion {
			p.Errorf("the resourceVersion went from %s to %s", old.ResourceVersion, same.ResourceVersion)
		}
		next := p.update(held(old, "b"))
		p.wantEvent(events, watch.Modified, next.ResourceVersion) // and none before it
		return err
	}},
	{"a change of an annotation changes the resourceVersion", success, func(p *probe) error {
		old := p.create(lease())
		old.Annotations = map[string]string{"k": "v"}
		p.wantOlder(old, p.update(old))
		return nil
	}},
	{"times are truncated to microseconds", success, func(p *probe) error {
		sent := lease()
		at := time.Date(2026, 3, 1, 12, 0, 0, 123456999, time.UTC)
		sent.Spec.RenewTime = &metav1.MicroTime{Time: at}
		p.create(sent)
		got := must(p, func() (*coordinationv1.Lease, error) { return p.leases.Get(p.Context(), "demo", get) })
		if want := at.Truncate(time.Microsecond); !got.Spec.RenewTime.Time.Equal(want) {
			p.Errorf("renewTime is %v, want %v", got.Spec.RenewTime, want)
		}
		return nil
	}},
	{"an object made again has another uid and a greater resourceVersion", success, func(p *probe) error {
		first := p.create(lease())
		p.delete()
		second := p.create(lease())
		p.wantOlder(first, second)
		if first.UID == second.UID {
			p.Errorf("both have the uid %s", first.UID)
		}
		return nil
	}},
	{"a ConfigMap and a Lease count one resourceVersion", success, func(p *probe) error {
		l := p.create(lease())
		cm := must(p, func() (*corev1.ConfigMap, error) { return p.configMaps.Create(p.Context(), configMap("1"), create) })
		p.wantOlder(l, cm)
		p.wantOlder(cm, p.update(held(l, "b")))
		return nil
	}},

	{"a watch from a version tells every later change in order", success, func(p *probe) error {
		first := p.create(lease())
		second := p.update(held(first, "a"))
		events := p.watch(first.ResourceVersion)
		third := p.update(held(second, "b"))
		p.wantEvent(events, watch.Modified, second.ResourceVersion)
		p.wantEvent(events, watch.Modified, third.ResourceVersion)
		p.delete()
		deleted := p.event(events, watch.Deleted)
		p.wantOlder(third, deleted)
		fourth := p.create(lease())
		p.wantOlder(deleted, fourth)
		p.wantEvent(events, watch.Added, fourth.ResourceVersion)
		return nil
	}},
	{"a watch from nowhere begins with what is stored", success, func(p *probe) error {
		stored := p.create(lease())
		p.wantEvent(p.watch(""), watch.Added, stored.ResourceVersion)
		return nil
	}},
	{"a watch of one object tells nothing of others", success, func(p *probe) error {
		stored := p.create(lease())
		events := p.watch(stored.ResourceVersion)
		other := lease()
		other.Name = "other"
		p.create(other)
		p.wantEvent(events, watch.Modified, p.update(held(stored, "b")).ResourceVersion)
		return nil
	}},
}
