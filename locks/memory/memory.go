// Package memory has a lock that lives in the memory of one process: for tests, for trying things out, and for
// programs that run as one process but are written for many. It needs neither Kubernetes nor client-go.
package memory

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/locks/internal/lockerr"
)

const name = "memory lock"

var errNoRecord = errors.New("the stored text is not a record")

// A Lock is an elector.Lock in memory. Candidates that share the pointer contend for it.
// The zero value is a lock at which nothing is stored. All methods are safe for concurrent use and never block.
//
// It behaves as a Lease does: times are kept to the microsecond and in UTC, a Revision grows with every change, also
// when the record is deleted and made again, and a Version never recurs. Read and Write fail with a CallError of class
// Canceled or Timeout, and change nothing, when their context has already ended.
type Lock struct {
	mu       sync.Mutex
	revision uint64 // of the latest change, deletions included
	stored   *state // nil: nothing is stored
}

// state is immutable once it is stored.
type state struct {
	revision uint64
	record   elector.Record
	damaged  bool
	text     string // of a damaged record
}

// New returns a lock at which nothing is stored.
func New() *Lock { return &Lock{} }

// String names the lock for people.
func (*Lock) String() string { return name }

// Read returns the stored state, or ErrNotFound.
func (l *Lock) Read(ctx context.Context) (elector.Snapshot, error) {
	if ctx.Err() != nil {
		return elector.Snapshot{}, lockerr.Context(ctx, "read "+name, true, nil)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stored == nil {
		return elector.Snapshot{}, fmt.Errorf("read %s: %w", name, elector.ErrNotFound)
	}
	return l.stored.snapshot(), nil
}

// Write replaces the state that prev names, or creates one if prev holds no Version. It returns ErrConflict if another
// state is stored, or none where prev names one.
func (l *Lock) Write(ctx context.Context, prev elector.Snapshot, next elector.Record) (elector.Snapshot, error) {
	if ctx.Err() != nil {
		return elector.Snapshot{}, lockerr.Context(ctx, "write "+name, true, nil)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stored.version() != prev.Version {
		return elector.Snapshot{}, fmt.Errorf("write %s: %w", name, elector.ErrConflict)
	}
	return l.store(state{record: wire(next)}).snapshot(), nil
}

// Set stores a record whatever was stored before, as an administrator would, and returns the new state.
func (l *Lock) Set(record elector.Record) elector.Snapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.store(state{record: wire(record)}).snapshot()
}

// Corrupt stores a text that is no record, and returns the new state, which has Damage. A Write over it repairs it.
func (l *Lock) Corrupt(text string) elector.Snapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.store(state{damaged: true, text: text}).snapshot()
}

// Delete removes what is stored, as an administrator would, and tells whether there was anything.
func (l *Lock) Delete() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	deleted := l.stored != nil
	if deleted {
		l.revision++
		l.stored = nil
	}
	return deleted
}

func (l *Lock) store(s state) *state {
	l.revision++
	s.revision = l.revision
	l.stored = &s
	return l.stored
}

// version of a nil state is "", that of nothing.
func (s *state) version() string {
	if s == nil {
		return ""
	}
	return strconv.FormatUint(s.revision, 10)
}

func (s *state) snapshot() elector.Snapshot {
	snap := elector.Snapshot{Record: s.record, Version: s.version(), Stamp: stamp(s.record), Revision: s.revision}
	if s.damaged {
		snap.Stamp = s.text
		snap.Damage = &elector.DecodeError{Source: name, Body: lockerr.Printable(s.text), Err: errNoRecord}
	}
	return snap
}

// stamp leaves the Mark out: like a Lease's, it stands beside the record, not in it.
func stamp(r elector.Record) string {
	return fmt.Sprintf("%q for %d, acquired %d, renewed %d, %d transitions",
		r.Holder, r.LeaseDuration, r.AcquireTime.UnixMicro(), r.RenewTime.UnixMicro(), r.Transitions)
}

// wire is the record as a Lease would give it back.
func wire(r elector.Record) elector.Record {
	r.AcquireTime = r.AcquireTime.UTC().Truncate(time.Microsecond)
	r.RenewTime = r.RenewTime.UTC().Truncate(time.Microsecond)
	return r
}
