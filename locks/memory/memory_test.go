package memory_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/events"
	"github.com/seed2c765205/elect/locks/memory"
)

var ctx = context.Background()

func TestTimesAreKeptToTheMicrosecondInUTC(t *testing.T) {
	l := memory.New()
	at := time.Date(2026, 8, 17, 12, 0, 0, 123456789, time.FixedZone("", 7200))
	got, err := l.Write(ctx, elector.Snapshot{}, elector.Record{Holder: "a", AcquireTime: at, RenewTime: at})
	if err != nil {
		t.Fatal(err)
	}
	want := time.Date(2026, 8, 17, 10, 0, 0, 123456000, time.UTC)
	if got.Record.RenewTime != want || got.Record.AcquireTime != want {
		t.Errorf("got %v and %v, want %v", got.Record.AcquireTime, got.Record.RenewTime, want)
	}
}

func TestRevisionsGrowOverDeletionAndVersionsNeverRecur(t *testing.T) {
	var l memory.Lock
	rec := elector.Record{Holder: "a"}
	first, _ := l.Write(ctx, elector.Snapshot{}, rec)
	second, _ := l.Write(ctx, first, rec)
	if !l.Delete() || l.Delete() {
		t.Error("Delete does not tell whether there was anything")
	}
	if _, err := l.Write(ctx, second, rec); !errors.Is(err, elector.ErrConflict) {
		t.Errorf("a write over a deleted state: %v, want ErrConflict", err)
	}
	third, _ := l.Write(ctx, elector.Snapshot{}, rec)
	if first.Revision != 1 || second.Revision != 2 || third.Revision != 4 {
		t.Errorf("revisions %d, %d, %d, want 1, 2, 4", first.Revision, second.Revision, third.Revision)
	}
	if _, err := l.Write(ctx, second, rec); !errors.Is(err, elector.ErrConflict) {
		t.Errorf("a write over a state before the deletion: %v, want ErrConflict", err)
	}
}

func TestSetAndCorruptAreAnAdministratorsWrites(t *testing.T) {
	l := memory.New()
	mine, _ := l.Write(ctx, elector.Snapshot{}, elector.Record{Holder: "a"})
	set := l.Set(elector.Record{Holder: "b", Mark: "m"})
	if _, err := l.Write(ctx, mine, elector.Record{Holder: "a"}); !errors.Is(err, elector.ErrConflict) {
		t.Errorf("a write over what was before Set: %v, want ErrConflict", err)
	}
	if got, _ := l.Read(ctx); got != set || got.Record.Holder != "b" || got.Record.Mark != "m" {
		t.Errorf("read %+v, want %+v", got, set)
	}
	l.Corrupt("{")
	got, err := l.Read(ctx)
	if err != nil || got.Damage == nil || got.Stamp != "{" || got.Version != "3" || got.Record != (elector.Record{}) {
		t.Errorf("read of a corrupted record: %+v, %v", got, err)
	}
	if want := `cannot decode memory lock: the stored text is not a record: "{"`; got.Damage.Error() != want {
		t.Errorf("damage %q, want %q", got.Damage, want)
	}
	if got, err = l.Write(ctx, got, elector.Record{Holder: "a"}); err != nil || got.Damage != nil {
		t.Errorf("repair: %+v, %v", got, err)
	}
}

func TestAnEndedContextChangesNothing(t *testing.T) {
	l := memory.New()
	ended, cancel := context.WithCancelCause(ctx)
	cancel(context.DeadlineExceeded)
	_, rerr := l.Read(ended)
	_, werr := l.Write(ended, elector.Snapshot{}, elector.Record{})
	for _, err := range []error{rerr, werr} {
		var call *elector.CallError
		if !errors.As(err, &call) || call.Class != events.ClassTimeout || !call.NotApplied {
			t.Errorf("got %#v, want a Timeout that applied nothing", err)
		}
	}
	if _, err := l.Read(ctx); !errors.Is(err, elector.ErrNotFound) {
		t.Errorf("read %v, want ErrNotFound", err)
	}
}
