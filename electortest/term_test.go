package electortest_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/electortest"
	"github.com/seed2c765205/elect/events"
)

func drained(term *electortest.Term) bool {
	select {
	case <-term.Drained():
		return true
	default:
		return false
	}
}

func TestATermTellsWhatItWasGiven(t *testing.T) {
	term := electortest.NewTerm("a", 7)
	if term.Identity() != "a" || term.Token() != 7 || term.Number() != 7 || !term.ValidUntil().IsZero() {
		t.Errorf("the term is %q, token %d, number %d, until %v", term.Identity(), term.Token(), term.Number(), term.ValidUntil())
	}
	until := time.Unix(1000, 0)
	term.Extend(until)
	if !term.ValidUntil().Equal(until) || !term.Valid() || term.Context().Err() != nil || drained(term) {
		t.Error("after Extend the term is not on until then")
	}
	term.Lapse()
	if term.Valid() || term.Context().Err() != nil {
		t.Errorf("after Lapse: valid %t, context %v", term.Valid(), term.Context().Err())
	}
}

func TestEnd(t *testing.T) {
	term := electortest.NewTerm("a", 1)
	valid := make(chan bool, 1)
	context.AfterFunc(term.Context(), func() { valid <- term.Valid() })
	term.End(errCause)
	term.End(nil)
	<-term.Drained()
	if cause := context.Cause(term.Context()); cause != errCause || <-valid {
		t.Errorf("the cause is %v, want the first; valid: %t", cause, term.Valid())
	}
	term.Hold()()
	term.Go(func(context.Context) error { t.Error("work was started after the end"); return nil })
	if term.Held() != 0 {
		t.Errorf("after the end, %d holds are out", term.Held())
	}
	term = electortest.NewTerm("a", 1)
	term.End(nil)
	if lost, ok := errors.AsType[*elector.LostError](context.Cause(term.Context())); !ok || lost.Reason != events.ReasonStopped {
		t.Errorf("End(nil) has the cause %v", context.Cause(term.Context()))
	}
}

func TestHoldsAreCountedUntilTheyAreDropped(t *testing.T) {
	term := electortest.NewTerm("a", 1)
	first, second := term.Hold(), term.Hold()
	first()
	first()
	if term.Held() != 1 {
		t.Errorf("%d holds are out, want 1", term.Held())
	}
	term.End(nil)
	if drained(term) {
		t.Error("the term is drained while a hold is out")
	}
	second()
	if term.Held() != 0 || !drained(term) {
		t.Errorf("%d holds are out; drained: %t", term.Held(), drained(term))
	}
}

func TestGo(t *testing.T) {
	tests := []struct {
		name string
		work func(context.Context) error
		want events.Reason // 0: the term goes on
		err  error
	}{
		{"nil only drops the hold", func(context.Context) error { return nil }, 0, nil},
		{"an error", func(context.Context) error { return errCause }, events.ReasonWorkFailed, errCause},
		{"a panic", func(context.Context) error { panic(errCause) }, events.ReasonWorkFailed, errCause},
		{"Goexit", func(context.Context) error { runtime.Goexit(); return nil }, events.ReasonWorkFailed, nil},
		{"resigning", func(context.Context) error { return elector.ErrResign }, events.ReasonResigned, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				term := electortest.NewTerm("a", 1)
				begin := make(chan struct{})
				term.Go(func(ctx context.Context) error { <-begin; return tt.work(ctx) })
				synctest.Wait()
				if term.Held() != 1 {
					t.Errorf("%d holds are out while work runs, want 1", term.Held())
				}
				close(begin)
				synctest.Wait()
				lost, _ := errors.AsType[*elector.LostError](context.Cause(term.Context()))
				switch {
				case tt.want == 0 && (lost != nil || !term.Valid() || drained(term)):
					t.Errorf("the term has ended: %v", lost)
				case tt.want != 0 && (lost == nil || lost.Reason != tt.want || !drained(term)):
					t.Errorf("the term has ended with %v; drained: %t", lost, drained(term))
				case tt.err != nil && !errors.Is(lost, tt.err):
					t.Errorf("the cause is %v, want %v in it", lost, tt.err)
				}
				if term.Held() != 0 {
					t.Errorf("%d holds are out", term.Held())
				}
				term.End(nil)
			})
		})
	}
}

func TestWorkThatFailsAfterTheEndChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		term := electortest.NewTerm("a", 1)
		term.Go(func(ctx context.Context) error { <-ctx.Done(); time.Sleep(time.Second); return errCause })
		term.End(nil)
		begin := time.Now()
		<-term.Drained()
		if lost, _ := errors.AsType[*elector.LostError](context.Cause(term.Context())); lost.Reason != events.ReasonStopped {
			t.Errorf("the cause is %v", lost)
		}
		if took := time.Since(begin); took != time.Second {
			t.Errorf("the term was drained after %v, want 1s", took)
		}
	})
}
