package elector

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/seed2c765205/elect"
	"github.com/seed2c765205/elect/events"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// rig is a machine with a clock of its own and a memory of what it was asked to do.
type rig struct {
	t       testing.TB
	m       *machine
	now     instant
	version int
	stored  Record
	did     []string
	writes  []action
	cancels []error
}

var epoch = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

func newRig(t testing.TB, change ...func(*Config)) *rig {
	c := Config{Identity: "me"}
	for _, f := range change {
		f(&c)
	}
	c = c.withDefaults()
	p := pacer{policy: elect.Constant(time.Second), rand: rand.New(rand.NewPCG(1, 2))}
	return &rig{t: t, m: newMachine(c.rules(), p), now: instant{wall: epoch}}
}

// wait lets time pass on both hands.
func (r *rig) wait(d time.Duration) {
	r.now.mono += d
	r.now.wall = r.now.wall.Add(d)
}

// take notes what the machine asked for, and answers the question about holds with out.
func (r *rig) take(actions []action) {
	for _, a := range actions {
		r.did = append(r.did, r.m.describe(a))
		switch a.kind {
		case doWrite:
			r.writes = append(r.writes, a)
		case doCancel:
			r.cancels = append(r.cancels, a.err)
		case doError:
			if a.class == events.ClassInternal {
				r.t.Errorf("the machine reports a fault of its own: %v", a.err)
			}
		case doRead, doBegin, doExtend, doEnd, doLeader, doStop:
		}
	}
}

// describe is an action in a few words.
func (m *machine) describe(a action) string {
	switch a.kind {
	case doRead:
		return "read"
	case doWrite:
		holder := a.record.Holder
		if holder == "" {
			holder = "nobody"
		}
		return fmt.Sprintf("write(%s)", holder)
	case doCancel:
		return "cancel"
	case doBegin:
		return fmt.Sprintf("begin(%v)", a.how)
	case doExtend:
		return "extend"
	case doEnd:
		return fmt.Sprintf("end(%v)", a.reason)
	case doLeader:
		return fmt.Sprintf("leader(%s)", a.to)
	case doError:
		return fmt.Sprintf("error(%v %v)", a.op, a.class)
	case doStop:
		return fmt.Sprintf("stop(%v)", a.err)
	}
	return "?"
}

// drain returns what was done since the last call.
func (r *rig) drain() string {
	s := strings.Join(r.did, " ")
	r.did = nil
	return s
}

// snap is a fresh state of the lock.
func (r *rig) snap(rec Record) Snapshot {
	r.version++
	r.stored = rec
	return Snapshot{
		Record: rec, Version: fmt.Sprint(r.version), Stamp: fmt.Sprintf("%+v", rec), Revision: uint64(r.version),
	}
}

func (r *rig) foreign() Snapshot {
	return r.snap(Record{Holder: "other", LeaseDuration: 15 * time.Second, RenewTime: r.now.wall, AcquireTime: epoch})
}

func (r *rig) free() Snapshot {
	return r.snap(Record{RenewTime: r.now.wall.Add(time.Minute), Transitions: 3})
}

func (r *rig) damaged() Snapshot {
	s := r.snap(Record{})
	s.Stamp, s.Damage = "<html>", &DecodeError{Source: "test", Err: errors.New("not a record")}
	return s
}

func (r *rig) lastWrite() Record { return r.writes[len(r.writes)-1].record }

func (r *rig) read(s Snapshot, err error) { r.take(r.m.readAnswer(r.now, r.m.call.id, s, err)) }

func (r *rig) applied() {
	r.take(r.m.writeAnswer(r.now, r.m.call.id, r.snap(r.lastWrite()), nil))
}

func (r *rig) fails(err error) { r.take(r.m.writeAnswer(r.now, r.m.call.id, Snapshot{}, err)) }

// tickNext moves to the machine's next deadline.
func (r *rig) tickNext() {
	r.wait(max(r.m.next()-r.now.mono, 0))
	r.take(r.m.tick(r.now))
}

var (
	errRejected = &CallError{Class: events.ClassForbidden, NotApplied: true, Err: errors.New("forbidden")}
	errUnknown  = errors.New("EOF")
)

// states bring a fresh rig to where a row of the table begins.
var states = []struct {
	name  string
	state State
	reach func(*rig)
}{
	{"following, read in flight", StateFollowing, func(r *rig) { r.take(r.m.start(r.now)) }},
	{"following, another holds", StateFollowing, func(r *rig) { r.take(r.m.start(r.now)); r.read(r.foreign(), nil) }},
	{"following, its turn to write is near", StateFollowing, func(r *rig) {
		r.take(r.m.start(r.now))
		r.read(r.foreign(), nil)
		r.tickTo(opRead)
		r.read(r.free(), nil)
	}},
	{"following, cooling down", StateFollowing, func(r *rig) {
		reachReleasing(r)
		r.read(r.m.view.snap, nil)
		r.applied()
		r.read(r.m.view.snap, nil)
	}},
	{"following, a write abandoned", StateFollowing, func(r *rig) {
		r.take(r.m.start(r.now))
		r.read(Snapshot{}, ErrNotFound)
		r.tickNext()
	}},
	{"acquiring, stop asked", StateAcquiring, func(r *rig) {
		r.take(r.m.start(r.now))
		r.read(Snapshot{}, ErrNotFound)
		r.take(r.m.stop(r.now))
	}},
	{"acquiring, resign asked", StateAcquiring, func(r *rig) {
		r.take(r.m.start(r.now))
		r.read(Snapshot{}, ErrNotFound)
		r.take(r.m.resign(r.now))
	}},
	{"acquiring", StateAcquiring, func(r *rig) { r.take(r.m.start(r.now)); r.read(Snapshot{}, ErrNotFound) }},
	{"leading", StateLeading, reachLeading},
	{"leading, write in flight", StateLeading, func(r *rig) { reachLeading(r); r.tickTo(opRenew) }},
	{"leading, read in flight", StateLeading, func(r *rig) {
		reachLeading(r)
		r.tickTo(opRenew)
		r.fails(ErrConflict)
	}},
	{"leading, a write abandoned", StateLeading, func(r *rig) { reachLeading(r); r.tickTo(opRenew); r.tickNext() }},
	{"draining, holds unknown", StateDraining, func(r *rig) { reachLeading(r); r.take(r.m.resign(r.now)) }},
	{"draining, work out", StateDraining, func(r *rig) {
		reachLeading(r)
		r.take(r.m.resign(r.now))
		r.take(r.m.holds(r.now, true))
	}},
	{"draining, release read in flight", StateDraining, reachReleasing},
	{"draining, release write in flight", StateDraining, func(r *rig) { reachReleasing(r); r.read(r.m.view.snap, nil) }},
	{"draining, late", StateDraining, func(r *rig) {
		reachLeading(r)
		r.take(r.m.resign(r.now))
		r.take(r.m.holds(r.now, true))
		r.wait(30 * time.Second)
		r.take(r.m.tick(r.now))
	}},
	{"stopped", StateStopped, func(r *rig) {
		r.take(r.m.start(r.now))
		r.take(r.m.stop(r.now))
		r.read(Snapshot{}, context.Canceled)
	}},
}

func reachLeading(r *rig) {
	r.take(r.m.start(r.now))
	r.read(Snapshot{}, ErrNotFound)
	r.applied()
}

func reachReleasing(r *rig) {
	reachLeading(r)
	r.take(r.m.resign(r.now))
	r.take(r.m.holds(r.now, false))
}

// tickTo ticks until the given call is in flight.
func (r *rig) tickTo(o op) {
	for range 20 {
		if r.m.call.op == o {
			return
		}
		r.tickNext()
	}
	r.t.Fatalf("%v was never due", o)
}

// inputs are all that can be told to a machine.
var inputs = []struct {
	name string
	tell func(*rig)
}{
	{"tick at the next deadline", (*rig).tickNext},
	{"tick a minute later", func(r *rig) { r.wait(time.Minute); r.take(r.m.tick(r.now)) }},
	{"read: nothing stored", func(r *rig) { r.read(Snapshot{}, ErrNotFound) }},
	{"read: own record", func(r *rig) { r.read(r.snap(r.own()), nil) }},
	{"read: another holds", func(r *rig) { r.read(r.foreign(), nil) }},
	{"read: a twin holds", func(r *rig) { r.read(r.snap(Record{Holder: "me", RenewTime: epoch.Add(time.Hour)}), nil) }},
	{"read: released", func(r *rig) { r.read(r.free(), nil) }},
	{"read: holder cleared by hand", func(r *rig) { rec := r.own(); rec.Holder = ""; r.read(r.snap(rec), nil) }},
	{"read: damaged", func(r *rig) { r.read(r.damaged(), nil) }},
	{"read: failed", func(r *rig) { r.read(Snapshot{}, errUnknown) }},
	{"write: applied", func(r *rig) {
		if len(r.writes) > 0 {
			r.applied()
		}
	}},
	{"write: refused", func(r *rig) { r.fails(ErrConflict) }},
	{"write: rejected", func(r *rig) { r.fails(errRejected) }},
	{"write: unknown", func(r *rig) { r.fails(errUnknown) }},
	{"late: applied", func(r *rig) { r.late(r.snap(r.own()), nil) }},
	{"late: refused", func(r *rig) { r.late(Snapshot{}, ErrConflict) }},
	{"late: rejected", func(r *rig) { r.late(Snapshot{}, errRejected) }},
	{"an answer to no call", func(r *rig) { r.take(r.m.writeAnswer(r.now, 99, r.foreign(), nil)) }},
	{"stop", func(r *rig) { r.take(r.m.stop(r.now)) }},
	{"resign", func(r *rig) { r.take(r.m.resign(r.now)) }},
	{"work failed", func(r *rig) { r.take(r.m.workEnded(r.now, events.ReasonWorkFailed, errUnknown)) }},
	{"work is out", func(r *rig) { r.take(r.m.holds(r.now, true)) }},
	{"work is done", func(r *rig) { r.take(r.m.holds(r.now, false)) }},
	{"trust was seen to lapse", func(r *rig) { r.take(r.m.lapse(r.now)) }},
}

// late is the answer of the first abandoned call.
func (r *rig) late(s Snapshot, err error) { r.take(r.m.writeAnswer(r.now, r.m.hung[0].id, s, err)) }

// own is the last record of this candidate's that is known to be stored.
func (r *rig) own() Record {
	if r.m.writes.known {
		return r.m.writes.confirmed.record
	}
	return Record{Holder: "me"}
}

// untold: the machine waits for the driver to say at once whether work is out.
func (r *rig) untold() bool { return r.m.state == StateDraining && !r.m.drain.told }

// An answer of a kind that is not awaited cannot come: the loop tells of one call at a time.
func (r *rig) awaits(input string) bool {
	reading := r.m.call.op == opRead
	switch {
	case strings.HasPrefix(input, "read:"):
		return reading
	case strings.HasPrefix(input, "write:"):
		return r.m.call.id != 0 && !reading
	case strings.HasPrefix(input, "late:"):
		return len(r.m.hung) > 0
	}
	return true
}

// TestEveryStateMeetsEveryInput holds the whole machine against a table that a person can review.
func TestEveryStateMeetsEveryInput(t *testing.T) {
	var b strings.Builder
	for _, s := range states {
		fmt.Fprintf(&b, "%s\n", s.name)
		for _, in := range inputs {
			r := newRig(t)
			s.reach(r)
			if r.m.state != s.state {
				t.Fatalf("%s: the machine is %v, want %v", s.name, r.m.state, s.state)
			}
			r.drain()
			if !r.awaits(in.name) {
				continue
			}
			in.tell(r)
			fmt.Fprintf(&b, "  %-30s %-10v %s\n", in.name, r.m.state, r.drain())
			if next := r.m.next(); next <= r.now.mono && next != never && !r.untold() {
				t.Errorf("%s, %s: the next deadline %v is not after now %v", s.name, in.name, next, r.now.mono)
			}
		}
	}
	golden(t, "testdata/machine.txt", b.String())
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got:\n%s", file, got)
	}
}
