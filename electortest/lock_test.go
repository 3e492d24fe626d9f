package electortest_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/electortest"
	"github.com/seed2c765205/elect/events"
	"github.com/seed2c765205/elect/locks/memory"
)

var (
	errCause = errors.New("the test ends it")
	record   = elector.Record{Holder: "a", LeaseDuration: 15 * time.Second}
)

func stored(m *memory.Lock) bool {
	_, err := m.Read(context.Background())
	return err == nil
}

func wantCallError(t *testing.T, err error, class events.Class, notApplied bool) {
	t.Helper()
	call, ok := errors.AsType[*elector.CallError](err)
	if !ok {
		t.Fatalf("the error is %v, want a CallError", err)
	}
	if call.Class != class || call.NotApplied != notApplied {
		t.Errorf("the error is of class %v, not applied %t; want %v, %t: %v", call.Class, call.NotApplied, class, notApplied, err)
	}
}

func TestAHealthyLockPassesCallsOnAndCountsThem(t *testing.T) {
	l := electortest.NewLock(memory.New(), nil)
	var ops []events.Op
	l.OnCall(func(op events.Op) { ops = append(ops, op) })
	if _, err := l.Read(t.Context()); !errors.Is(err, elector.ErrNotFound) {
		t.Errorf("read of nothing: %v", err)
	}
	s, err := l.Write(t.Context(), elector.Snapshot{}, record)
	if err != nil || s.Record.Holder != "a" {
		t.Errorf("write: %+v, %v", s, err)
	}
	if s, err = l.Read(t.Context()); err != nil || s.Record.Holder != "a" {
		t.Errorf("read: %+v, %v", s, err)
	}
	if l.Reads() != 2 || l.Writes() != 1 {
		t.Errorf("%d reads and %d writes are counted, want 2 and 1", l.Reads(), l.Writes())
	}
	if len(ops) != 3 || ops[1] != events.OpWrite {
		t.Errorf("OnCall saw %v, want read, write, read", ops)
	}
	if l.String() != memory.New().String() {
		t.Errorf("the name is %q", l.String())
	}
}

func TestACutLockFailsAtOnceAndAppliesNothing(t *testing.T) {
	m := memory.New()
	l := electortest.NewLock(m, nil)
	l.Cut()
	_, err := l.Write(t.Context(), elector.Snapshot{}, record)
	wantCallError(t, err, events.ClassUnavailable, true)
	_, err = l.Read(t.Context())
	wantCallError(t, err, events.ClassUnavailable, true)
	if stored(m) || l.Reads()+l.Writes() != 0 {
		t.Error("a call has reached the inner lock")
	}
	l.Heal()
	if _, err := l.Write(t.Context(), elector.Snapshot{}, record); err != nil {
		t.Errorf("after Heal: %v", err)
	}
}

func TestABlackHoleAnswersWhenTheContextEnds(t *testing.T) {
	tests := []struct {
		name  string
		cause error
		class events.Class
	}{
		{"cancelled", errCause, events.ClassCanceled},
		{"timed out on another clock", context.DeadlineExceeded, events.ClassTimeout},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := memory.New()
				l := electortest.NewLock(m, nil)
				l.BlackHole()
				ctx, cancel := context.WithCancelCause(t.Context())
				begin := time.Now()
				time.AfterFunc(time.Hour, func() { cancel(tt.cause) })
				time.AfterFunc(time.Minute, l.Heal) // what is lost stays lost
				_, err := l.Write(ctx, elector.Snapshot{}, record)
				wantCallError(t, err, tt.class, false)
				if !errors.Is(err, tt.cause) || !errors.Is(err, context.Canceled) {
					t.Errorf("the error wraps neither cause nor ctx.Err(): %v", err)
				}
				if took := time.Since(begin); took != time.Hour || stored(m) {
					t.Errorf("it took %v, want 1h; stored: %t", took, stored(m))
				}
			})
		})
	}
}

func TestAHungCallReturnsOnlyWithHeal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New()
		l := electortest.NewLock(m, nil)
		l.Hang()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		begin := time.Now()
		time.AfterFunc(time.Minute, l.Cut) // it does not free the call
		time.AfterFunc(time.Hour, l.Heal)
		_, err := l.Write(ctx, elector.Snapshot{}, record)
		wantCallError(t, err, events.ClassUnavailable, true)
		if took := time.Since(begin); took != time.Hour || stored(m) {
			t.Errorf("it took %v, want 1h; stored: %t", took, stored(m))
		}
	})
}

func TestDelayBeforeAndAfter(t *testing.T) {
	tests := []struct {
		name    string
		timeout time.Duration
		took    time.Duration
		stored  bool
	}{
		{"in time", time.Minute, 5 * time.Second, true},
		{"ends before the lock is reached", time.Second, time.Second, false},
		{"ends before the answer is there", 4 * time.Second, 4 * time.Second, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := memory.New()
				l := electortest.NewLock(m, clock.RealClock{})
				l.Delay(3*time.Second, 2*time.Second)
				ctx, cancel := context.WithTimeout(t.Context(), tt.timeout)
				defer cancel()
				begin := time.Now()
				_, err := l.Write(ctx, elector.Snapshot{}, record)
				if tt.timeout == time.Minute {
					if err != nil {
						t.Error(err)
					}
				} else {
					wantCallError(t, err, events.ClassTimeout, false)
				}
				if took := time.Since(begin); took != tt.took || stored(m) != tt.stored {
					t.Errorf("it took %v, want %v; stored: %t, want %t", took, tt.took, stored(m), tt.stored)
				}
			})
		})
	}
}

func TestLostAnswersAreApplied(t *testing.T) {
	m := memory.New()
	l := electortest.NewLock(m, nil)
	l.LoseAnswers(2)
	l.RefuseWrites(errCause)
	_, _ = l.Write(t.Context(), elector.Snapshot{}, record) // does not count: it is not applied
	l.RefuseWrites(nil)
	for i := range 3 {
		prev, err := l.Read(t.Context())
		if err != nil && !errors.Is(err, elector.ErrNotFound) {
			t.Fatalf("reads lose no answer: %v", err)
		}
		_, err = l.Write(t.Context(), prev, record)
		_, isCall := errors.AsType[*elector.CallError](err)
		switch lost := i < 2; {
		case lost && (isCall || !errors.Is(err, io.ErrUnexpectedEOF)):
			t.Errorf("write %d: %v, want a plain error that wraps io.ErrUnexpectedEOF", i+1, err)
		case !lost && err != nil:
			t.Errorf("write %d: %v", i+1, err)
		}
	}
	if s, _ := m.Read(t.Context()); s.Revision != 3 {
		t.Errorf("%d writes are applied, want 3", s.Revision)
	}
}

func TestRefuse(t *testing.T) {
	forbidden := &elector.CallError{Class: events.ClassForbidden, NotApplied: true, Err: errors.New("no")}
	tests := []struct {
		name        string
		put         func(*electortest.Lock)
		read, write bool // is refused
	}{
		{"all", func(l *electortest.Lock) { l.Refuse(forbidden) }, true, true},
		{"reads", func(l *electortest.Lock) { l.RefuseReads(forbidden) }, true, false},
		{"writes", func(l *electortest.Lock) { l.RefuseWrites(forbidden) }, false, true},
		{"nothing any more", func(l *electortest.Lock) { l.Refuse(forbidden); l.Refuse(nil) }, false, false},
		{"healed", func(l *electortest.Lock) { l.Refuse(forbidden); l.Heal() }, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := electortest.NewLock(memory.New(), nil)
			tt.put(l)
			_, err := l.Write(t.Context(), elector.Snapshot{}, record)
			if got := errors.Is(err, forbidden); got != tt.write {
				t.Errorf("writes are refused: %t, want %t: %v", got, tt.write, err)
			}
			_, err = l.Read(t.Context())
			if got := errors.Is(err, forbidden); got != tt.read {
				t.Errorf("reads are refused: %t, want %t: %v", got, tt.read, err)
			}
			if r, w := l.Reads() == 0, l.Writes() == 0; r != tt.read || w != tt.write {
				t.Errorf("%d reads and %d writes have reached the inner lock", l.Reads(), l.Writes())
			}
		})
	}
}

func TestDamage(t *testing.T) {
	m := memory.New()
	s := electortest.NewLock(m, nil).Damage("{")
	if read, _ := m.Read(t.Context()); s.Damage == nil || read.Version != s.Version {
		t.Errorf("damaged is %+v, stored is %+v", s, read)
	}
	defer func() {
		if recover() == nil {
			t.Error("a lock that cannot be damaged: no panic")
		}
	}()
	electortest.NewLock(plain{m}, nil).Damage("{")
}

// plain hides all but the methods of elector.Lock.
type plain struct{ elector.Lock }

type picky struct{ elector.Lock }

func (picky) TimeResolution() time.Duration { return time.Second }
func (picky) Validate() error               { return errCause }

func TestWhatTheInnerLockTellsIsPassedOn(t *testing.T) {
	l := electortest.NewLock(picky{memory.New()}, nil)
	if l.TimeResolution() != time.Second || l.Validate() != errCause {
		t.Errorf("resolution %v, validate %v", l.TimeResolution(), l.Validate())
	}
	l = electortest.NewLock(memory.New(), nil)
	if l.TimeResolution() != 0 || l.Validate() != nil {
		t.Errorf("resolution %v, validate %v of a lock without", l.TimeResolution(), l.Validate())
	}
}
