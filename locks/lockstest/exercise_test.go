package lockstest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/events"
)

// A flaw is what is wrong with a shelf.
type flaw string

// flaws and the checks that must find them: each clause of the contract finds its own.
var flaws = map[flaw]string{
	"reads nothing as an empty record":             "C1 a read of nothing",
	"reads what was deleted":                       "C1 a read of what was deleted",
	"calls a missing place ErrNotFound":            "C1 a missing place",
	"calls a missing place a failure":              "C1 a missing place",
	"creates over something":                       "C2 a create over something",
	"creates unguarded":                            "C2 one of many creates",
	"ignores the version":                          "C3 a stale write",
	"creates over what was deleted":                "C3 a write over what was deleted conflicts",
	"forgets the incarnation":                      "C3 a write over what was deleted and made again",
	"writes unguarded":                             "C3 one of many writes",
	"changes the snapshot it replaces":             "C4 a write leaves",
	"hands out one damage":                         "C4 reads share nothing",
	"ignores an ended context":                     "C5 a context that has ended",
	"calls a cancelled context a failure":          "C5 a context that has ended",
	"calls a timeout a cancellation":               "C5 a context that has ended",
	"outlives its context":                         "C5 a hung call",
	"drops what is not its own":                    "C6 what is not",
	"stamps what is not the record":                "C6 what is not",
	"forgets the transitions":                      "C7 a record",
	"cuts the times":                               "C7 a record",
	"returns what was asked for, not what it kept": "C7 a record",
	"believes any answer":                          "C7 an answer",
	"takes any answer for nothing":                 "C7 an answer",
	"promises that an unread answer was no write":  "C7 an answer",
	"succeeds without a change":                    "C8 a successful write",
	"returns the old version":                      "C8 a successful write",
	"reads from a cache":                           "C9 a read sees",
	"versions by content":                          "C10 a version",
	"counts revisions backwards":                   "C10 a version",
	"counts revisions now and then":                "C10 a version",
	"stamps the version":                           "C10 a stamp",
	"stamps the holder only":                       "C10 a stamp",
	"says ErrNotFound of a write":                  "C11 a write",
	"fails on damage":                              "an unreadable record",
	"overlooks damage":                             "an unreadable record",
	"has no name":                                  "the lock has a name",
}

func TestARightLockPassesEveryCheck(t *testing.T) {
	ExerciseBackend(t, func(*testing.T) Backend { return newShelf("").backend() })
	for _, c := range checks {
		if r := observe(t, c, newShelf("").backend()); r.failed {
			t.Errorf("%s: %s", c.name, r.log)
		}
	}
}

func TestEveryClauseCatchesItsOwnBreak(t *testing.T) {
	clauses := map[string]bool{}
	for f, want := range flaws {
		t.Run(string(f), func(t *testing.T) {
			var caught []string
			for _, c := range checks {
				if observe(t, c, newShelf(f).backend()).failed {
					caught = append(caught, c.name)
				}
			}
			if !slices.ContainsFunc(caught, func(name string) bool { return strings.HasPrefix(name, want) }) {
				t.Errorf("a lock that %s is caught by %q only, want %q", f, caught, want)
			}
			t.Logf("caught by %q", caught)
		})
		clauses[strings.Fields(want)[0]] = true
	}
	for n := range 11 {
		if clause := fmt.Sprintf("C%d", n+1); !clauses[clause] {
			t.Errorf("no flaw is about %s", clause)
		}
	}
}

func TestWhatABackendCannotDoIsLeftOut(t *testing.T) {
	var leftOut []string
	for _, c := range checks {
		b := Backend{Lock: newShelf("").handle()}
		if c.missing(b) != "" {
			leftOut = append(leftOut, strings.Fields(c.name)[0])
			continue
		}
		if r := observe(t, c, b); r.failed {
			t.Errorf("%s: %s", c.name, r.log)
		}
	}
	if got, want := strings.Join(leftOut, " "), "C1 C1 C3 C3 C4 C5 C6 C7 C11 an"; got != want {
		t.Errorf("left out %s, want %s", got, want)
	}
}

func TestNothingIsLeftOutOfAWholeBackend(t *testing.T) {
	for _, c := range checks {
		if missing := c.missing(newShelf("").backend()); missing != "" {
			t.Errorf("%s misses %s", c.name, missing)
		}
	}
}

func TestALockNeedsNoOrder(t *testing.T) {
	for _, c := range checks {
		if r := observe(t, c, newShelf("has no order").backend()); r.failed {
			t.Errorf("%s: %s", c.name, r.log)
		}
	}
}

// recorder is a testing.T whose failures are the test's subject.
type recorder struct {
	mu     sync.Mutex
	failed bool
	log    string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = true
	r.log += fmt.Sprintf(format, args...) + "\n"
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

// observe runs a check in a bubble, where its patience costs no time.
func observe(t *testing.T, c check, b Backend) *recorder {
	r := &recorder{}
	synctest.Test(t, func(*testing.T) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.run(r, b)
		}()
		<-done
	})
	return r
}

// thing is what a shelf stores.
type thing struct {
	incarnation, revision int
	record                elector.Record
	foreign, damage       string
}

// A shelf is a lock in memory that can have one flaw, and all that a Backend offers.
type shelf struct {
	flaw flaw

	mu           sync.Mutex
	revision     int
	incarnations int
	stored       *thing
	garbled      bool
	hung         chan struct{} // calls hang, and tell of it here; nil: they do not
	resumed      chan struct{}
}

func newShelf(f flaw) *shelf { return &shelf{flaw: f} }

func (s *shelf) handle() *handle { return &handle{shelf: s} }

func (s *shelf) backend() Backend {
	return Backend{
		Lock:        s.handle(),
		Second:      func() elector.Lock { return s.handle() },
		Delete:      func() { s.stored = nil; s.revision++ },
		Decorate:    s.decorate,
		Corruptions: map[string]func(){"garbage": func() { s.edit(func(o *thing) { o.damage = "{" }) }},
		Garbles:     map[string]func(){"nonsense": func() { s.garbled = true }},
		Hang:        s.hang,
		Nowhere:     nowhere{s.flaw},
	}
}

func (s *shelf) edit(change func(*thing)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var next thing
	if s.stored != nil {
		next = *s.stored
	}
	change(&next)
	s.revision++
	next.revision = s.revision
	s.stored = &next
}

func (s *shelf) decorate() func() error {
	s.edit(func(o *thing) { o.foreign = "label" })
	return func() error {
		if s.stored.foreign != "label" {
			return errors.New("the label is gone")
		}
		return nil
	}
}

func (s *shelf) hang() (<-chan struct{}, func()) {
	s.hung, s.resumed = make(chan struct{}), make(chan struct{})
	return s.hung, func() { close(s.resumed) }
}

// A handle is one process's use of a shelf.
type handle struct {
	*shelf
	cache *elector.Snapshot
}

var (
	errStore  = errors.New("the store fails")
	theDamage = &elector.DecodeError{Source: "shelf", Err: errStore}
)

func (h *handle) String() string {
	if h.flaw == "has no name" {
		return ""
	}
	return "shelf"
}

// begin is the way to the store, which may hang or end with the context, and be answered by nonsense.
func (h *handle) begin(ctx context.Context) error {
	if ctx.Err() == nil && h.hung != nil {
		h.hung <- struct{}{}
		if h.flaw == "outlives its context" {
			<-h.resumed
			return errStore
		}
		<-ctx.Done()
	}
	if ctx.Err() == nil || h.flaw == "ignores an ended context" {
		return nil
	}
	call := &elector.CallError{Class: events.ClassCanceled, NotApplied: true, Err: context.Cause(ctx)}
	switch {
	case h.flaw == "calls a cancelled context a failure":
		return errStore
	case errors.Is(call.Err, context.DeadlineExceeded) && h.flaw != "calls a timeout a cancellation":
		call.Class = events.ClassTimeout
	}
	return call
}

// nonsense tells whether this call is answered by something that is not the object, and what the handle makes of it.
func (h *handle) nonsense() (error, bool) {
	garbled := h.garbled
	h.garbled = false
	err := error(&elector.DecodeError{Source: "shelf", Err: errStore})
	switch h.flaw {
	case "believes any answer":
		err = nil
	case "takes any answer for nothing":
		err = fmt.Errorf("%w: %w", elector.ErrNotFound, err)
	case "promises that an unread answer was no write":
		err = &elector.CallError{NotApplied: true, Err: err}
	}
	return err, garbled
}

func (h *handle) Read(ctx context.Context) (elector.Snapshot, error) {
	if err := h.begin(ctx); err != nil {
		return elector.Snapshot{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err, garbled := h.nonsense(); garbled {
		return elector.Snapshot{}, err
	}
	if h.cache != nil && (h.flaw == "reads from a cache" || h.flaw == "reads what was deleted" && h.stored == nil) {
		return *h.cache, nil
	}
	if h.stored == nil {
		if h.flaw == "reads nothing as an empty record" {
			return elector.Snapshot{}, nil
		}
		return elector.Snapshot{}, elector.ErrNotFound
	}
	return h.look(h.stored, h.stored.record)
}

// look is the snapshot of a thing, and how it is flawed.
func (h *handle) look(o *thing, record elector.Record) (elector.Snapshot, error) {
	snap := elector.Snapshot{
		Record: record, Version: fmt.Sprintf("%d/%d", o.incarnation, o.revision), Stamp: fmt.Sprint(record),
		Revision: uint64(o.revision), Object: o,
	}
	if o.damage != "" && h.flaw != "overlooks damage" {
		snap.Record, snap.Stamp, snap.Damage = elector.Record{}, o.damage, &elector.DecodeError{Source: "shelf", Err: errStore}
	}
	switch h.flaw {
	case "fails on damage":
		if snap.Damage != nil {
			return elector.Snapshot{}, snap.Damage
		}
	case "hands out one damage":
		if snap.Damage != nil {
			snap.Damage = theDamage
		}
	case "stamps what is not the record":
		snap.Stamp += o.foreign
	case "stamps the version":
		snap.Stamp += snap.Version
	case "stamps the holder only":
		snap.Stamp = record.Holder
	case "versions by content":
		snap.Version = fmt.Sprint(record)
	case "counts revisions backwards":
		snap.Revision = 1000 - snap.Revision
	case "counts revisions now and then":
		snap.Revision *= snap.Revision % 2
	case "has no order":
		snap.Revision = 0
	}
	h.cache = &snap
	return snap, nil
}

func (h *handle) Write(ctx context.Context, prev elector.Snapshot, next elector.Record) (elector.Snapshot, error) {
	if err := h.begin(ctx); err != nil {
		return elector.Snapshot{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err, garbled := h.nonsense(); garbled {
		return elector.Snapshot{}, err
	}
	old, _ := prev.Object.(*thing)
	if err := h.judge(old); err != nil {
		return elector.Snapshot{}, err
	}
	if h.flaw == "succeeds without a change" && old != nil && next == old.record {
		return prev, nil
	}
	h.store(old, next)
	snap, err := h.look(h.stored, h.returned(next))
	if h.flaw == "returns the old version" && old != nil {
		snap.Version = prev.Version
	}
	if h.flaw == "changes the snapshot it replaces" && old != nil {
		*old = *h.stored
	}
	return snap, err
}

func (h *handle) returned(next elector.Record) elector.Record {
	if h.flaw == "returns what was asked for, not what it kept" {
		return next
	}
	return h.stored.record
}

// judge refuses a write over a state that is not stored.
func (h *handle) judge(old *thing) error {
	now, allowed := h.stored, map[flaw]bool{
		"creates over something":        old == nil,
		"creates unguarded":             old == nil,
		"ignores the version":           old != nil && h.stored != nil,
		"writes unguarded":              old != nil && h.stored != nil,
		"creates over what was deleted": old != nil && h.stored == nil,
		"forgets the incarnation":       old != nil && h.stored != nil && h.stored.incarnation != old.incarnation,
	}[h.flaw]
	switch {
	case allowed, old == nil && now == nil:
		return nil
	case now == nil && h.flaw == "says ErrNotFound of a write":
		return elector.ErrNotFound
	case old == nil || now == nil || now.revision != old.revision || now.incarnation != old.incarnation:
		return elector.ErrConflict
	}
	return nil
}

func (h *handle) store(old *thing, next elector.Record) {
	switch h.flaw {
	case "forgets the transitions", "returns what was asked for, not what it kept":
		next.Transitions = 0
	case "cuts the times":
		next.RenewTime = next.RenewTime.Truncate(1e9)
	}
	h.revision++
	o := &thing{revision: h.revision, record: next}
	if h.stored != nil {
		o.incarnation = h.stored.incarnation
	} else {
		h.incarnations++
		o.incarnation = h.incarnations
	}
	if old != nil && h.flaw != "drops what is not its own" {
		o.foreign = old.foreign
	}
	h.shelf.stored = o
}

// nowhere is a lock in a place that does not exist.
type nowhere struct{ flaw flaw }

func (nowhere) String() string { return "nowhere" }

func (nowhere) Read(context.Context) (elector.Snapshot, error) {
	return elector.Snapshot{}, elector.ErrNotFound
}

func (n nowhere) Write(context.Context, elector.Snapshot, elector.Record) (elector.Snapshot, error) {
	switch n.flaw {
	case "calls a missing place ErrNotFound":
		return elector.Snapshot{}, elector.ErrNotFound
	case "calls a missing place a failure":
		return elector.Snapshot{}, errStore
	}
	return elector.Snapshot{}, &elector.CallError{Class: events.ClassNotFound, NotApplied: true, Err: errStore}
}
