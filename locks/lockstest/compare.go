package lockstest

import (
	"errors"

	"github.com/seed2c765205/elect/elector"
)

// unchanged checks that what is stored is still the state of a snapshot.
func unchanged(t tb, l elector.Lock, want elector.Snapshot) {
	t.Helper()
	sameState(t, mustRead(t, l), want)
}

// sameState compares all of two snapshots but what is the lock's own.
func sameState(t tb, got, want elector.Snapshot) {
	t.Helper()
	sameRecord(t, got.Record, want.Record)
	if got.Version != want.Version || got.Stamp != want.Stamp || got.Revision != want.Revision {
		t.Errorf("the state is version %q, stamp %q, revision %d; want %q, %q, %d",
			got.Version, got.Stamp, got.Revision, want.Version, want.Stamp, want.Revision)
	}
}

// sameRecord compares records. A lock may be unable to keep a Mark; then it reads "".
func sameRecord(t tb, got, want elector.Record) {
	t.Helper()
	if got.Holder != want.Holder || got.LeaseDuration != want.LeaseDuration || got.Transitions != want.Transitions {
		t.Errorf("the record is %q for %v with %d transitions; want %q for %v with %d",
			got.Holder, got.LeaseDuration, got.Transitions, want.Holder, want.LeaseDuration, want.Transitions)
	}
	if !got.AcquireTime.Equal(want.AcquireTime) || !got.RenewTime.Equal(want.RenewTime) {
		t.Errorf("the record is acquired %v, renewed %v; want %v, %v",
			got.AcquireTime, got.RenewTime, want.AcquireTime, want.RenewTime)
	}
	if got.Mark != "" && got.Mark != want.Mark {
		t.Errorf("the mark is %q, want %q, or none", got.Mark, want.Mark)
	}
}

// refused checks that a write failed because something else is stored.
func refused(t tb, err error) {
	t.Helper()
	if !errors.Is(err, elector.ErrConflict) {
		t.Errorf("got %v, want ErrConflict", err)
	}
}

// missing checks that nothing is stored.
func missing(t tb, l elector.Lock) {
	t.Helper()
	if snap, err := read(l); !errors.Is(err, elector.ErrNotFound) {
		t.Errorf("a read returned version %q, %v; want ErrNotFound", snap.Version, err)
	}
}
