package lockstest

import (
	"errors"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/events"
)

// The checks of this file are about what is stored: C1 to C3, and C11.

func readOfNothing(t tb, b Backend) { missing(t, b.Lock) }

func readOfDeleted(t tb, b Backend) {
	mustCreate(t, b.Lock)
	b.Delete()
	missing(t, b.Lock)
}

func missingPlace(t tb, b Backend) {
	_, err := write(b.Nowhere, elector.Snapshot{}, record(1))
	var call *elector.CallError
	if !errors.As(err, &call) || call.Class != events.ClassNotFound {
		t.Errorf("a create in a missing place: %v, want a CallError of class NotFound", err)
	}
	if errors.Is(err, elector.ErrNotFound) || errors.Is(err, elector.ErrConflict) {
		t.Errorf("a create in a missing place: %v, want neither ErrNotFound nor ErrConflict", err)
	}
}

func createOverSomething(t tb, b Backend) {
	first := mustCreate(t, b.Lock)
	_, err := write(b.second(), elector.Snapshot{}, record(2))
	refused(t, err)
	unchanged(t, b.Lock, first)
}

func oneCreateWins(t tb, b Backend) { oneWins(t, b, elector.Snapshot{}) }

func oneWriteWins(t tb, b Backend) { oneWins(t, b, mustCreate(t, b.Lock)) }

// oneWins lets eight writers write over the same state at the same time.
func oneWins(t tb, b Backend, prev elector.Snapshot) {
	t.Helper()
	type result struct {
		snap elector.Snapshot
		err  error
	}
	results := make(chan result)
	for i := range 8 {
		lock := b.Lock
		if i%2 == 1 {
			lock = b.second()
		}
		go func() {
			snap, err := write(lock, prev, record(2+i))
			results <- result{snap, err}
		}()
	}
	var won []elector.Snapshot
	for range 8 {
		if r := <-results; r.err == nil {
			won = append(won, r.snap)
		} else {
			refused(t, r.err)
		}
	}
	if len(won) != 1 {
		t.Fatalf("%d writes succeeded, want 1", len(won))
	}
	unchanged(t, b.Lock, won[0])
}

func staleWrite(t tb, b Backend) {
	first := mustCreate(t, b.Lock)
	second := mustWrite(t, b.second(), first, record(2))
	_, err := write(b.Lock, first, record(3))
	refused(t, err)
	unchanged(t, b.Lock, second)
}

func writeOverDeleted(t tb, b Backend) {
	first := mustCreate(t, b.Lock)
	b.Delete()
	_, err := write(b.Lock, first, record(2))
	refused(t, err)
	missing(t, b.Lock)
}

func writeOverRecreated(t tb, b Backend) {
	first := mustCreate(t, b.Lock)
	b.Delete()
	again := mustCreate(t, b.second())
	_, err := write(b.Lock, first, record(2))
	refused(t, err)
	unchanged(t, b.Lock, again)
}

func writeNeverNotFound(t tb, b Backend) {
	if b.Delete != nil {
		first := mustCreate(t, b.Lock)
		b.Delete()
		_, err := write(b.Lock, first, record(2))
		notNotFound(t, err)
	}
	if b.Nowhere != nil {
		_, err := write(b.Nowhere, elector.Snapshot{}, record(1))
		notNotFound(t, err)
	}
}

func notNotFound(t tb, err error) {
	t.Helper()
	if err == nil || errors.Is(err, elector.ErrNotFound) {
		t.Errorf("a write returned %v, want an error other than ErrNotFound", err)
	}
}
