package locks

import (
	"encoding/json"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/seed2c765205/elect/elector"
)

// What anyone may have stored is read without harm: the text is the stamp, damage leaves no record, and a record that was
// read and can be written is read again as it was.
func FuzzAnnotation(f *testing.F) {
	for _, seed := range []string{
		``, `{`, `null`, `[]`, `{}`, `{"holderIdentity":5}`, `{"holderIdentity":"b"}`, `{"a":1,"a":2}`, "\x00", `{"holderIdentity":"\ud800"}`,
		`{"holderIdentity":"go","leaseDurationSeconds":15,"acquireTime":"2026-11-30T23:46:33Z","renewTime":"2026-11-30T23:46:33Z","leaderTransitions":3}`,
		`{"holderIdentity": "py", "leaseDurationSeconds": "17", "acquireTime": "2026-08-17 12:00:00.123456", "renewTime": "2026-08-17 12:00:00"}`,
		`{"holderIdentity":"f8","leaseDuration":"PT15S","acquireTime":"2026-08-17T12:00:00.123456Z","leaderTransitions":0}`,
		`{"leaseDurationSeconds":1e308}`, `{"leaseDuration":"P999999999WT999999999999.999999999S"}`, `{"leaderTransitions":"1e400"}`,
		`{"renewTime":"9999-12-31T23:59:59.999999999+14:00"}`, `{"renewTime":"0000-01-01T00:00:00Z"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		cm := &corev1.ConfigMap{}
		cm.Annotations = map[string]string{LeaderAnnotation: text}
		record, stamp, err := annotationForm{}.decode(cm)
		if stamp != text || err != nil && record != (elector.Record{}) {
			t.Fatalf("stamp %q, record %+v, %v", stamp, record, err)
		}
		again, encodeErr := encodeAnnotation(record)
		if err != nil || encodeErr != nil {
			return
		}
		got, err := decodeAnnotation(again)
		if want := truncated(record, time.Second); err != nil || !sameRecord(got, want) {
			t.Fatalf("%s\nbecame %s\nread as %+v, %v, want %+v", text, again, got, err, want)
		}
	})
}

// The same for a Lease's spec, whatever the server made of it.
func FuzzLeaseSpec(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `{"holderIdentity":null,"leaseDurationSeconds":null}`, `{"leaseDurationSeconds":-1,"leaseTransitions":-1}`,
		`{"holderIdentity":"go","leaseDurationSeconds":15,"acquireTime":"2026-11-30T23:46:33.576975Z","renewTime":"2026-11-30T23:46:33.576975Z","leaseTransitions":3}`,
		`{"holderIdentity":"a","acquireTime":"0001-01-01T00:00:00.000000Z","strategy":"OldestEmulationVersion","preferredHolder":"b"}`,
		`{"renewTime":"2026-08-17T12:00:00.123456+00:00","leaseDurationSeconds":2147483647,"leaseTransitions":2147483647}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lease := &coordinationv1.Lease{}
		if json.Unmarshal([]byte(text), &lease.Spec) != nil {
			return
		}
		record, stamp, err := leaseForm{}.decode(lease)
		if err != nil || !json.Valid([]byte(stamp)) {
			t.Fatalf("stamp %q, %v", stamp, err)
		}
		strategy, preferred := lease.Spec.Strategy, lease.Spec.PreferredHolder
		if (leaseForm{}).encode(lease, record) != nil {
			return
		}
		got, _, err := leaseForm{}.decode(lease)
		if err != nil || !sameRecord(got, record) || lease.Spec.Strategy != strategy || lease.Spec.PreferredHolder != preferred {
			t.Fatalf("%s\nbecame %+v\nread as %+v, %v, want %+v", text, lease.Spec, got, err, record)
		}
	})
}

// What an elector writes is read as it was written, in both forms.
func FuzzRecord(f *testing.F) {
	f.Add("a", int64(15), int64(1_787_000_000_123_456), int64(0), int64(3))
	f.Add("", int64(1), int64(0), int64(-62135596800_000_000), int64(0))
	f.Add("<&\u2028\">", int64(1<<31-1), int64(253402300799_999_999), int64(1), int64(1<<31-1))
	f.Fuzz(func(t *testing.T, holder string, seconds, acquired, renewed, transitions int64) {
		const first, last = -62135596800_000_000, 253402300799_999_999 // years 1 to 9999
		if acquired < first || acquired > last || renewed < first || renewed > last || seconds > 1<<32 || seconds < 0 {
			return
		}
		record := elector.Record{
			Holder: string([]rune(holder)), LeaseDuration: time.Duration(seconds) * time.Second,
			AcquireTime: time.UnixMicro(acquired), RenewTime: time.UnixMicro(renewed), Transitions: transitions,
		}
		lease := &coordinationv1.Lease{}
		leaseErr := leaseForm{}.encode(lease, record)
		text, err := encodeAnnotation(record)
		if (leaseErr == nil) != (err == nil) {
			t.Fatalf("a Lease says %v, an annotation %v", leaseErr, err)
		}
		if err != nil {
			return
		}
		if got, _, err := (leaseForm{}).decode(lease); err != nil || !sameRecord(got, record) {
			t.Errorf("a Lease reads %+v, %v, want %+v", got, err, record)
		}
		if got, err := decodeAnnotation(text); err != nil || !sameRecord(got, truncated(record, time.Second)) {
			t.Errorf("an annotation reads %+v, %v, want %+v", got, err, record)
		}
	})
}

func truncated(r elector.Record, to time.Duration) elector.Record {
	r.AcquireTime, r.RenewTime = r.AcquireTime.Truncate(to), r.RenewTime.Truncate(to)
	return r
}
