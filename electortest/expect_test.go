package electortest_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
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

func (f *failing) Fatal(args ...any) {
	f.story = fmt.Sprint(args...)
	runtime.Goexit()
}

// run returns the story with which f failed; "" if it passed.
func run(f func(testing.TB)) string {
	var tb failing
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(&tb)
	}()
	<-done
	return tb.story
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// history is five events, one a second.
func history() []events.Event {
	term := electortest.NewTerm("a", 7)
	return []events.Event{
		events.LeaderChanged{Time: noon, From: "b", To: ""},
		events.Acquired{Time: noon.Add(time.Second), Term: term, How: events.HowReleased},
		events.Renewed{Time: noon.Add(2 * time.Second), Term: term, ValidUntil: noon.Add(time.Minute)},
		events.Error{Time: noon.Add(3 * time.Second), Op: events.OpWrite, Class: events.ClassDecode, Err: errors.New("no"), Consecutive: 1},
		events.Lost{Time: noon.Add(4 * time.Second), Term: term, Reason: events.ReasonExpired},
	}
}

func channel(all []events.Event) <-chan events.Event {
	c := make(chan events.Event, len(all))
	for _, e := range all {
		c <- e
	}
	close(c)
	return c
}

func TestMatchers(t *testing.T) {
	type m = electortest.Matcher
	tests := []struct {
		name string
		m    m
		want int // the place of the event that matches; -1: none
	}{
		{"Acquired", electortest.Acquired(), 1},
		{"Acquired in this way", electortest.Acquired(events.HowFree, events.HowReleased), 1},
		{"Acquired in another way", electortest.Acquired(events.HowFree), -1},
		{"Renewed", electortest.Renewed(), 2},
		{"Lost", electortest.Lost(), 4},
		{"Lost for this reason", electortest.Lost(events.ReasonExpired), 4},
		{"Lost for another reason", electortest.Lost(events.ReasonTaken), -1},
		{"LeaderChanged", electortest.LeaderChanged("b", ""), 0},
		{"LeaderChanged to another", electortest.LeaderChanged("b", "c"), -1},
		{"LeaderChanged from another", electortest.LeaderChanged("", ""), -1},
		{"Error", electortest.Error(), 3},
		{"Error of this class", electortest.Error(events.ClassDecode), 3},
		{"Error of another class", electortest.Error(events.ClassTimeout), -1},
		{"Match", electortest.Match("late", func(e events.Event) bool { return e.When().After(noon.Add(time.Second)) }), 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			all := history()
			var got []events.Event
			story := run(func(t testing.TB) { got = electortest.Expect(t, channel(all), tt.m) })
			if tt.want < 0 {
				if story == "" {
					t.Errorf("it matched %v", got)
				}
				return
			}
			if story != "" || len(got) != 1 || got[0] != all[tt.want] {
				t.Errorf("it matched %v, want %v; %s", got, all[tt.want], story)
			}
		})
	}
}

func TestExpectSkipsWhatItIsNotToldOf(t *testing.T) {
	all := history()
	c := channel(all)
	got := electortest.Expect(t, c, electortest.Acquired(), electortest.Error())
	if !slices.Equal(got, []events.Event{all[1], all[3]}) {
		t.Errorf("Expect returns %v", got)
	}
	if e := <-c; e != all[4] {
		t.Errorf("after Expect comes %v, want the event after the last match", e)
	}
	if got := electortest.Expect(t, c); len(got) != 0 {
		t.Errorf("nothing is expected and %v is returned", got)
	}
}

func TestExpectExactlySkipsNothing(t *testing.T) {
	all := history()
	c := channel(all)
	got := electortest.ExpectExactly(t, c, electortest.LeaderChanged("b", ""), electortest.Acquired())
	if !slices.Equal(got, all[:2]) {
		t.Errorf("ExpectExactly returns %v", got)
	}
	story := run(func(t testing.TB) { electortest.ExpectExactly(t, c, electortest.Renewed(), electortest.Lost()) })
	want := `events: want lost, event 2 of 2 that are expected; what came:
  12:00:02.000  renewed by "a": token 7, valid until 2026-03-01T12:01:00Z, round trip 0s  <- renewed
  12:00:03.000  error on write: decode, 1 in a row, final: no
  the last of them is not it`
	if story != want {
		t.Errorf("the story is\n%s\nwant\n%s", story, want)
	}
}

func TestNextIsTheNextOfItsKind(t *testing.T) {
	all := history()
	if lost := electortest.Next[events.Lost](t, channel(all)); lost != all[4] {
		t.Errorf("the next Lost is %v", lost)
	}
	story := run(func(t testing.TB) { electortest.Next[events.Lost](t, channel(all[:2])) })
	if !strings.Contains(story, "want an event of the kind Lost") {
		t.Errorf("the story is\n%s", story)
	}
}

func TestAFailureTellsWhatCame(t *testing.T) {
	story := run(func(t testing.TB) {
		electortest.Expect(t, channel(history()[:2]), electortest.Acquired(), electortest.Lost(events.ReasonTaken, events.ReasonExpired))
	})
	want := `events: want lost (taken or expired), event 2 of 2 that are expected; what came:
  12:00:00.000  leader changed from "b" to nobody
  12:00:01.000  acquired by "a": released, token 7, vacant 0s  <- acquired
  then the channel closed`
	if story != want {
		t.Errorf("the story is\n%s\nwant\n%s", story, want)
	}
}

func TestAnEventThatNeverComesFailsTheTestInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		story := run(func(t testing.TB) { electortest.Expect(t, make(chan events.Event), electortest.LeaderChanged("", "a")) })
		want := `events: want leader changed from nobody to "a", event 1 of 1 that are expected; what came:
  it did not come within 24h0m0s`
		if story != want {
			t.Errorf("the story is\n%s\nwant\n%s", story, want)
		}
	})
}

func TestExpectGivesUpOnAStreamThatNeverEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := make(chan events.Event)
		stop := make(chan struct{})
		go func() {
			for tick := time.Tick(time.Minute); ; <-tick {
				select {
				case c <- events.Renewed{Time: time.Now()}:
				case <-stop:
					return
				}
			}
		}()
		story := run(func(t testing.TB) { electortest.Expect(t, c, electortest.Lost()) })
		close(stop)
		if lines := strings.Count(story, "\n"); lines > 60 {
			t.Errorf("the story has %d lines", lines)
		}
		if !strings.Contains(story, "want lost") || !strings.HasSuffix(story, "within 24h0m0s") {
			t.Errorf("the story is\n%s", story)
		}
	})
}
