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
// Subtests for which the backend offers too little are skipped and say what they miss.
//
// It may be called inside a testing/synctest bubble, where a lock that hangs costs no time.
func ExerciseBackend(t *testing.T, newBackend func(t *testing.T) Backend) {
	t.Helper()
	for _, c := range checks {
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
	Skipf(format string, args ...any)
}

// A check is one subtest. Its name begins with the clause of the contract that it is about.
type check struct {
	name string
	run  func(tb, Backend)
}

var checks = []check{
	{"C1 a read of nothing is ErrNotFound", readOfNothing},
	{"C1 a read of what was deleted is ErrNotFound", readOfDeleted},
	{"C1 a missing place is class NotFound but not ErrNotFound", missingPlace},
	{"C2 a create over something conflicts and changes nothing", createOverSomething},
	{"C2 one of many creates wins", oneCreateWins},
	{"C3 a stale write conflicts and changes nothing", staleWrite},
	{"C3 a write over what was deleted conflicts and creates nothing", writeOverDeleted},
	{"C3 a write over what was deleted and made again conflicts", writeOverRecreated},
	{"C3 one of many writes over the same state wins", oneWriteWins},
	{"C4 a write leaves the snapshot it replaces as it was", snapshotsAreKept},
	{"C4 reads share nothing", readsShareNothing},
	{"C5 a context that has ended changes nothing", endedContext},
	{"C5 a hung call returns when its context ends", hungCall},
	{"C6 what is not the lock's own survives a write", foreignSurvives},
	{"C7 a record is read as it was written", recordIsKept},
	{"C7 an answer that is not the lock's object is a DecodeError", garbledAnswers},
	{"C8 a successful write changes the version", versionChanges},
	{"C9 a read sees the latest write", readSeesWrite},
	{"C10 a version never recurs and revisions grow", versionsNeverRecur},
	{"C10 a stamp tells records apart and nothing else", stamps},
	{"C11 a write never fails with ErrNotFound", writeNeverNotFound},
	{"an unreadable record is told as damage and can be written over", damage},
	{"the lock has a name", hasName},
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
