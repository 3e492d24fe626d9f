package lockstest

import (
	"errors"
	"time"

	"github.com/seed2c765205/elect/elector"
)

// The checks of this file are about snapshots and what they keep: C4, C6 to C10, and damage.

// snapshotsAreKept finds a lock that changes the Object of the snapshot it writes over: a second write over the same
// snapshot would then succeed.
func snapshotsAreKept(t tb, b Backend) {
	mustCreate(t, b.Lock)
	first := mustRead(t, b.Lock)
	second := mustWrite(t, b.Lock, first, record(2))
	_, err := write(b.Lock, first, record(3))
	refused(t, err)
	_, err = write(b.second(), first, record(3))
	refused(t, err)
	sameRecord(t, first.Record, record(1))
	unchanged(t, b.Lock, second)
}

func readsShareNothing(t tb, b Backend) {
	mustCreate(t, b.Lock)
	for name, corrupt := range b.Corruptions {
		corrupt()
		first, second := mustRead(t, b.Lock), mustRead(t, b.Lock)
		if first.Damage != nil && first.Damage == second.Damage {
			t.Errorf("%s: two reads return the same *DecodeError", name)
		}
	}
}

func foreignSurvives(t tb, b Backend) {
	first := mustCreate(t, b.Lock)
	lost := b.Decorate()
	decorated := mustRead(t, b.Lock)
	if decorated.Stamp != first.Stamp {
		t.Errorf("the stamp went from %q to %q with what is not the record", first.Stamp, decorated.Stamp)
	}
	sameRecord(t, decorated.Record, first.Record)
	for n := 2; n < 4; n++ {
		decorated = mustWrite(t, b.Lock, decorated, record(n))
		if err := lost(); err != nil {
			t.Errorf("after a write: %v", err)
		}
	}
	unchanged(t, b.second(), decorated)
}

func recordIsKept(t tb, b Backend) {
	want := record(1)
	want.RenewTime = began.Add(123456 * time.Microsecond).Truncate(resolution(b.Lock))
	created := mustWrite(t, b.Lock, elector.Snapshot{}, want)
	sameRecord(t, created.Record, want)
	unchanged(t, b.second(), created)

	want = released(want)
	updated := mustWrite(t, b.Lock, created, want)
	sameRecord(t, updated.Record, want)
	unchanged(t, b.second(), updated)
}

// released is the form in which electors give a lock back.
func released(r elector.Record) elector.Record {
	r.Holder, r.LeaseDuration, r.AcquireTime = "", time.Second, r.RenewTime
	return r
}

func resolution(l elector.Lock) time.Duration {
	if r, ok := l.(elector.TimeResolver); ok {
		return r.TimeResolution()
	}
	return time.Microsecond
}

func garbledAnswers(t tb, b Backend) {
	for name, garble := range b.Garbles {
		garble()
		_, err := write(b.Lock, elector.Snapshot{}, record(1))
		undecodable(t, name+", a create", err)
		stored := stored(t, b.Lock)
		garble()
		_, err = read(b.Lock)
		undecodable(t, name+", a read", err)
		garble()
		_, err = write(b.Lock, stored, record(2))
		undecodable(t, name+", an update", err)
	}
}

// stored is the present state, which is made if there is none.
func stored(t tb, l elector.Lock) elector.Snapshot {
	t.Helper()
	if _, err := read(l); errors.Is(err, elector.ErrNotFound) {
		return mustCreate(t, l)
	}
	return mustRead(t, l)
}

// undecodable checks an error that must neither allow a create nor promise that a write did not happen.
func undecodable(t tb, what string, err error) {
	t.Helper()
	var decode *elector.DecodeError
	var call *elector.CallError
	switch {
	case !errors.As(err, &decode):
		t.Errorf("%s: got %v, want a DecodeError", what, err)
	case errors.Is(err, elector.ErrNotFound) || errors.Is(err, elector.ErrConflict):
		t.Errorf("%s: %v is ErrNotFound or ErrConflict", what, err)
	case errors.As(err, &call) && call.NotApplied:
		t.Errorf("%s: %v claims that nothing was applied", what, err)
	}
}

func versionChanges(t tb, b Backend) {
	prev := mustCreate(t, b.Lock)
	if prev.Version == "" {
		t.Fatalf("a create returned no version")
	}
	for n := 2; n < 5; n++ {
		next := mustWrite(t, b.Lock, prev, record(n))
		if next.Version == "" || next.Version == prev.Version {
			t.Errorf("a write over version %q returned version %q", prev.Version, next.Version)
		}
		prev = next
	}
	if same, err := write(b.Lock, prev, record(4)); err == nil && same.Version == prev.Version {
		t.Errorf("a write that changed nothing succeeded at version %q", same.Version)
	}
}

func readSeesWrite(t tb, b Backend) {
	one, two := b.Lock, b.second()
	written := mustCreate(t, one)
	unchanged(t, two, written)
	for n := 2; n < 6; n++ {
		written = mustWrite(t, one, written, record(n))
		unchanged(t, two, written)
		one, two = two, one
	}
	if b.Delete != nil {
		b.Delete()
		missing(t, one)
		missing(t, two)
	}
}

func versionsNeverRecur(t tb, b Backend) {
	seen := map[string]bool{}
	var latest uint64
	look := func(s elector.Snapshot) elector.Snapshot {
		if seen[s.Version] {
			t.Errorf("version %q recurs", s.Version)
		}
		if ordered := s.Revision > latest || latest == 0 && s.Revision == 0; !ordered {
			t.Errorf("revision %d after %d", s.Revision, latest)
		}
		seen[s.Version], latest = true, s.Revision
		return s
	}
	for range 2 {
		s := look(mustCreate(t, b.Lock))
		for _, n := range []int{2, 1, 2} {
			s = look(mustWrite(t, b.Lock, s, record(n)))
		}
		if b.Delete == nil {
			return
		}
		b.Delete()
	}
}

func stamps(t tb, b Backend) {
	first := mustCreate(t, b.Lock)
	second := mustWrite(t, b.Lock, first, record(2))
	later := record(2)
	later.RenewTime = later.RenewTime.Add(resolution(b.Lock))
	third := mustWrite(t, b.Lock, second, later)
	again := mustWrite(t, b.Lock, third, record(1))
	if first.Stamp == second.Stamp || second.Stamp == third.Stamp {
		t.Errorf("different records have the stamps %q, %q, %q", first.Stamp, second.Stamp, third.Stamp)
	}
	if first.Stamp != again.Stamp {
		t.Errorf("the same record has the stamps %q and %q", first.Stamp, again.Stamp)
	}
}

func damage(t tb, b Backend) {
	for name, corrupt := range b.Corruptions {
		before := stored(t, b.Lock)
		corrupt()
		first, second := mustRead(t, b.Lock), mustRead(t, b.second())
		if first.Damage == nil || first.Version == "" || first.Stamp == before.Stamp {
			t.Errorf("%s: damage %v at version %q, stamp %q", name, first.Damage, first.Version, first.Stamp)
		}
		if first.Stamp != second.Stamp || first.Version != second.Version {
			t.Errorf("%s: two reads differ: %q at %q, %q at %q", name, first.Stamp, first.Version, second.Stamp, second.Version)
		}
		_, err := write(b.Lock, before, record(2))
		refused(t, err)
		repaired := mustWrite(t, b.Lock, first, record(3))
		if repaired.Damage != nil {
			t.Errorf("%s: after a write: %v", name, repaired.Damage)
		}
		sameRecord(t, repaired.Record, record(3))
	}
}

func hasName(t tb, b Backend) {
	if b.Lock.String() == "" {
		t.Errorf("String returns nothing")
	}
}
