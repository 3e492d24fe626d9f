package electortest_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed2c765205/elect/electortest"
	"github.com/seed2c765205/elect/events"
)

// failing is a test that records how it was failed.
type failing struct {
	testing.TB
	story string
}

func (*failing) Helper() {}

func (f *failing) Fatalf(format string, args ...any) {
	f.story = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// storyOf returns the story with which a test failed; "" if it passed.
func storyOf(test func(testing.TB)) string {
	var tb failing
	done := make(chan struct{})
	go func() {
		defer close(done)
		test(&tb)
	}()
	<-done
	return tb.story
}

func wantStory(t *testing.T, want string, test func(testing.TB)) {
	t.Helper()
	if got := storyOf(test); got != want {
		t.Errorf("the story is\n%s\nwant\n%s", got, want)
	}
}

var errDenied = errors.New("denied")

// history is five events, one a second.
func history() []events.Event {
	term := electortest.NewTerm("a", 7)
	return []events.Event{
		events.LeaderChanged{Time: noon, From: "b"},
		events.Acquired{Time: noon.Add(sec), Term: term, How: events.HowReleased},
		events.Renewed{Time: noon.Add(2 * sec), Term: term, ValidUntil: noon.Add(minute)},
		events.Error{Time: noon.Add(3 * sec), Op: events.OpWrite, Class: events.ClassDecode, Err: fmt.Errorf("no: %w", errDenied), Consecutive: 1},
		events.Lost{Time: noon.Add(4 * sec), Term: term, Reason: events.ReasonExpired},
	}
}

func streamOf(all ...events.Event) <-chan events.Event {
	c := make(chan events.Event, len(all))
	for _, e := range all {
		c <- e
	}
	close(c)
	return c
}

func TestExpectReturnsTheNextOfItsKindAndLeavesTheRest(t *testing.T) {
	all := history()
	stream := streamOf(all...)
	if got := electortest.Expect[events.Renewed](t, stream); got != all[2] {
		t.Errorf("the next Renewed is %v", got)
	}
	if got := <-stream; got != all[3] {
		t.Errorf("then comes %v, want the event after the one that was returned", got)
	}
}

func TestExpectHoldsAnEventAgainstEveryCondition(t *testing.T) {
	stream := streamOf(events.LeaderChanged{To: "a"}, events.LeaderChanged{From: "a"}, events.LeaderChanged{From: "a", To: "b"})
	fromA := func(e events.LeaderChanged) bool { return e.From == "a" }
	toSomebody := func(e events.LeaderChanged) bool { return e.To != "" }
	if got := electortest.Expect(t, stream, fromA, toSomebody); got.To != "b" {
		t.Errorf("it returns %v", got)
	}
}

func TestExpectTellsWhatCameInstead(t *testing.T) {
	all := history()
	wantStory(t, `the stream closed before Lost came; what came:
	        0s  leader changed from "b" to nobody
	        1s  acquired by "a": released, token 7, vacant 0s
	        2s  renewed by "a": token 7, valid until 2026-03-01T12:01:00Z, round trip 0s`,
		func(t testing.TB) { electortest.Expect[events.Lost](t, streamOf(all[:3]...)) })
	wantStory(t, `the stream closed before Lost came; nothing came`,
		func(t testing.TB) { electortest.Expect[events.Lost](t, streamOf()) })
	wantStory(t, `the stream closed before LeaderChanged with the condition came; what came:
	        0s  leader changed from "b" to nobody`,
		func(t testing.TB) {
			electortest.Expect(t, streamOf(all[0]), func(e events.LeaderChanged) bool { return e.To == "c" })
		})
}

func TestExpectExactlyComparesTheFieldsThatAreSet(t *testing.T) {
	all := history()
	electortest.ExpectExactly(t, streamOf(all...), all...)
	electortest.ExpectExactly(t, streamOf(all...), events.LeaderChanged{}, events.Acquired{}, events.Renewed{}, events.Error{}, events.Lost{})
	electortest.ExpectExactly(t, streamOf(all...))
	electortest.ExpectExactly(t, streamOf(all[3:]...), events.Error{Time: noon.Add(3 * sec).Local(), Err: errDenied})

	tests := []struct {
		place int
		want  events.Event
		field string
	}{
		{0, events.LeaderChanged{From: "c"}, "From"},
		{0, events.Acquired{}, "its kind"},
		{1, events.Acquired{Term: electortest.NewTerm("a", 7)}, "Term"},
		{1, events.Acquired{How: events.HowFree}, "How"},
		{2, events.Renewed{Time: noon}, "Time"},
		{3, events.Error{Err: errors.New("denied")}, "Err"},
		{3, events.Error{Consecutive: 2}, "Consecutive"},
		{4, events.Lost{Err: errDenied}, "Err"},
	}
	for _, tt := range tests {
		story := storyOf(func(t testing.TB) { electortest.ExpectExactly(t, streamOf(all[tt.place:]...), tt.want) })
		if !strings.Contains(story, "(see "+tt.field+")") {
			t.Errorf("event %d held against %+v: the story is %q, want it to name %s", tt.place, tt.want, story, tt.field)
		}
	}
}

func TestExpectExactlyTellsWhereItPartedFromWhatCame(t *testing.T) {
	all := history()
	wantStory(t, `event 2 is not Lost{Reason: expired} (see its kind); what came:
	        0s  renewed by "a": token 7, valid until 2026-03-01T12:01:00Z, round trip 0s
	        1s  error on write: decode, 1 in a row, final: no: denied`,
		func(t testing.TB) {
			electortest.ExpectExactly(t, streamOf(all[2:]...), events.Renewed{}, events.Lost{Reason: events.ReasonExpired})
		})
	wantStory(t, `the stream closed before event 2, LeaderChanged{From: a, To: b}, came; what came:
	        0s  lost by "a": expired, token 7`,
		func(t testing.TB) {
			electortest.ExpectExactly(t, streamOf(all[4]), events.Lost{}, events.LeaderChanged{From: "a", To: "b"})
		})
}

func TestAnEventThatNeverComesFailsTheTestInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silence := make(chan events.Event)
		wantStory(t, `24h0m0s went by before Lost came; nothing came`,
			func(t testing.TB) { electortest.Expect[events.Lost](t, silence) })
		wantStory(t, `24h0m0s went by before event 1, Lost{}, came; nothing came`,
			func(t testing.TB) { electortest.ExpectExactly(t, silence, events.Lost{}) })
	})
}

func TestExpectGivesUpOnAStreamWithoutEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stream := make(chan events.Event)
		go func() {
			for range 58 {
				stream <- events.Renewed{Time: time.Now()}
				time.Sleep(25 * minute)
			}
		}()
		story := storyOf(func(t testing.TB) { electortest.Expect[events.Lost](t, stream) })
		time.Sleep(time.Hour) // the stream ends
		lines := strings.Split(story, "\n")
		if len(lines) != 52 || lines[1] != "\t8 events, and then" || !strings.HasPrefix(lines[51], "\t  23h45m0s  renewed") {
			t.Errorf("the story has %d lines:\n%s", len(lines), story)
		}
	})
}
