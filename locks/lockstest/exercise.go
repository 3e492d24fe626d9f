package lockstest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/seed2c765205/elect/elector"
)

// Exercise checks that a lock keeps the contract of elector.Lock, as far as that can be seen through one handle: C1 to C3,
// C5 and C7 to C11, without what takes a deletion, a second handle or a faulty store. newLock is called for each subtest
// and returns a lock at which nothing is stored. Subtests are named after the clause that they check.
//
// ExerciseBackend checks the whole.
func Exercise(t *testing.T, newLock func(t *testing.T) elector.Lock) {
	t.Helper()
	ExerciseBackend(t, func(t *testing.T) Backend { return Backend{Lock: newLock(t)} })
}

// ExerciseBackend checks that a lock keeps the contract of elector.Lock, C1 to C11. newBackend is called for each subtest.
// A subtest for which the backend offers too little is left out, and the log says what it would take.
//
// It may be called inside a testing/synctest bubble, where a lock that hangs costs no time.
func ExerciseBackend(t *testing.T, newBackend func(t *testing.T) Backend) {
	t.Helper()
	offered := newBackend(t)
	for _, c := range checks {
		if missing := c.missing(offered); missing != "" {
			t.Logf("left out, for the backend offers no %s: %s", missing, c.name)
			continue
		}
		t.Run(c.name, func(t *testing.T) { c.run(t, newBackend(t)) })
	}
}

// A Backend is a lock at which nothing is stored yet, and what a test can do behind its back. Only Lock is required.
type Backend struct {
	// Lock is the lock to exercise.
	Lock elector.Lock
	// Second returns another, independent handle on the same lock, such as another process would have.
	// nil: the tests use Lock for both, which cannot find a handle that caches.
	Second func() elector.Lock
	// Delete removes what is stored, as an administrator would.
	Delete func()
	// Decorate changes all of the stored object that is not the lock's own: labels, other fields. It returns a function
	// that tells what of that is no longer there, byte for byte; nil if all of it is.
	Decorate func() (lost func() error)
	// Corruptions each replace the stored record by one that cannot be read, in an object that stays genuine.
	Corruptions map[string]func()
	// Garbles each make the store answer the next call, and only that, with a success that is not the lock's object.
	Garbles map[string]func()
	// Hang makes calls hang until their context ends. arrived tells of each call that does; resume ends it.
	Hang func() (arrived <-chan struct{}, resume func())
	// Nowhere is a lock in a place that does not exist, such as a missing namespace.
	Nowhere elector.Lock
}

func (b Backend) second() elector.Lock {
	if b.Second == nil {
		return b.Lock
	}
	return b.Second()
}

// tb is what the checks need of a *testing.T, so that their own tests can watch them fail.
type tb interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// A check is one subtest. Its name begins with the clause of the contract that it is about.
type check struct {
	name  string
	run   func(tb, Backend)
	takes need // of the backend; nil: only the lock
}

// A need tells whether a backend offers something, and its name.
type need func(Backend) (offered bool, what string)

func needDelete(b Backend) (bool, string)      { return b.Delete != nil, "Delete" }
func needNowhere(b Backend) (bool, string)     { return b.Nowhere != nil, "Nowhere" }
func needHang(b Backend) (bool, string)        { return b.Hang != nil, "Hang" }
func needDecorate(b Backend) (bool, string)    { return b.Decorate != nil, "Decorate" }
func needGarbles(b Backend) (bool, string)     { return len(b.Garbles) > 0, "Garbles" }
func needCorruptions(b Backend) (bool, string) { return len(b.Corruptions) > 0, "Corruptions" }

func needDeleteOrNowhere(b Backend) (bool, string) {
	return b.Delete != nil || b.Nowhere != nil, "Delete or Nowhere"
}

// missing is what the check takes and the backend does not offer; "" if there is nothing.
func (c check) missing(b Backend) string {
	if c.takes == nil {
		return ""
	}
	if offered, what := c.takes(b); !offered {
		return what
	}
	return ""
}

var checks = []check{
	{"C1 a read of nothing is ErrNotFound", readOfNothing, nil},
	{"C1 a read of what was deleted is ErrNotFound", readOfDeleted, needDelete},
	{"C1 a missing place is class NotFound but not ErrNotFound", missingPlace, needNowhere},
	{"C2 a create over something conflicts and changes nothing", createOverSomething, nil},
	{"C2 one of many creates wins", oneCreateWins, nil},
	{"C3 a stale write conflicts and changes nothing", staleWrite, nil},
	{"C3 a write over what was deleted conflicts and creates nothing", writeOverDeleted, needDelete},
	{"C3 a write over what was deleted and made again conflicts", writeOverRecreated, needDelete},
	{"C3 one of many writes over the same state wins", oneWriteWins, nil},
	{"C4 a write leaves the snapshot it replaces as it was", snapshotsAreKept, nil},
	{"C4 reads share nothing", readsShareNothing, needCorruptions},
	{"C5 a context that has ended changes nothing", endedContext, nil},
	{"C5 a hung call returns when its context ends", hungCall, needHang},
	{"C6 what is not the lock's own survives a write", foreignSurvives, needDecorate},
	{"C7 a record is read as it was written", recordIsKept, nil},
	{"C7 an answer that is not the lock's object is a DecodeError", garbledAnswers, needGarbles},
	{"C8 a successful write changes the version", versionChanges, nil},
	{"C9 a read sees the latest write", readSeesWrite, nil},
	{"C10 a version never recurs and revisions grow", versionsNeverRecur, nil},
	{"C10 a stamp tells records apart and nothing else", stamps, nil},
	{"C11 a write never fails with ErrNotFound", writeNeverNotFound, needDeleteOrNowhere},
	{"an unreadable record is told as damage and can be written over", damage, needCorruptions},
	{"the lock has a name", hasName, nil},
}

// patience is how long a call may take before a check gives up on it.
const patience = 10 * time.Second

// began is an arbitrary instant; records count seconds from it.
var began = time.Date(2026, time.August, 17, 12, 0, 0, 0, time.UTC)

// record is the nth of records that differ in every field. Its times are whole seconds, which every lock can keep.
func record(n int) elector.Record {
	at := began.Add(time.Duration(n) * time.Minute)
	return elector.Record{
		Holder: "holder-" + strings.Repeat("x", n), LeaseDuration: time.Duration(10+n) * time.Second,
		AcquireTime: at, RenewTime: at.Add(time.Second), Transitions: int64(n), Mark: "mark-" + strings.Repeat("x", n),
	}
}

// bounded is a context that no correct call outlives.
func bounded() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), patience)
}

func read(l elector.Lock) (elector.Snapshot, error) {
	ctx, cancel := bounded()
	defer cancel()
	return l.Read(ctx)
}

func write(l elector.Lock, prev elector.Snapshot, next elector.Record) (elector.Snapshot, error) {
	ctx, cancel := bounded()
	defer cancel()
	return l.Write(ctx, prev, next)
}

// mustRead and mustWrite end the check if the call fails.
func mustRead(t tb, l elector.Lock) elector.Snapshot {
	t.Helper()
	snap, err := read(l)
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	return snap
}

func mustWrite(t tb, l elector.Lock, prev elector.Snapshot, next elector.Record) elector.Snapshot {
	t.Helper()
	snap, err := write(l, prev, next)
	if err != nil {
		t.Fatalf("write: %v", err)
	}
	return snap
}

func mustCreate(t tb, l elector.Lock) elector.Snapshot {
	t.Helper()
	return mustWrite(t, l, elector.Snapshot{}, record(1))
}
