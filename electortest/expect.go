package electortest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed2c765205/elect/events"
)

// patience is far beyond what any election takes. In a synctest bubble it is virtual, so that an event that never comes
// fails the test with a story, at once; elsewhere the time limit of go test comes first.
const patience = 24 * time.Hour

// most is how many events a story tells at most: the last ones.
const most = 50

// Expect reads events until each matcher has matched one, in this order, and returns those. It skips events that the
// matcher in turn does not match. If the channel closes before, or nothing more comes, it ends the test and tells what
// came. It must be called from the test's goroutine.
//
// It blocks without a time limit of its own: in a testing/synctest bubble, that lets virtual time pass, up to a day;
// elsewhere, the time limit of go test holds. It moves no Clock.
func Expect(t testing.TB, from <-chan events.Event, want ...Matcher) []events.Event {
	t.Helper()
	return tell(t, from, want, func(s *story) {
		for !s.complete() && s.read() {
			s.match()
		}
	})
}

// ExpectExactly is Expect, except that it skips nothing: the next events must be these. It does not look at what comes
// after them.
func ExpectExactly(t testing.TB, from <-chan events.Event, want ...Matcher) []events.Event {
	t.Helper()
	return tell(t, from, want, func(s *story) {
		for !s.complete() && s.read() && s.match() {
		}
	})
}

// Next is Expect for one event of the kind E, whatever it says, such as Next[events.Lost](t, ch).
func Next[E events.Event](t testing.TB, from <-chan events.Event) E {
	t.Helper()
	var zero E
	kind := strings.TrimPrefix(fmt.Sprintf("%T", zero), "events.")
	e, _ := Expect(t, from, Match("an event of the kind "+kind, func(e events.Event) bool { _, ok := e.(E); return ok }))[0].(E)
	return e
}

// tell lets a story happen, and ends the test if it is not complete then.
func tell(t testing.TB, from <-chan events.Event, want []Matcher, happen func(*story)) []events.Event {
	t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	s := story{from: from, limit: limit.C, want: want}
	happen(&s)
	if !s.complete() {
		t.Fatal(s.String())
	}
	return s.matched
}

// A story is what was expected and what came.
type story struct {
	from    <-chan events.Event
	limit   <-chan time.Time
	want    []Matcher
	matched []events.Event
	came    []line
	why     string // it broke off
}

// A line is an event that came, and whether it was expected.
type line struct {
	event events.Event
	by    string // the matcher that took it; "" if it was skipped
}

func (s *story) complete() bool { return len(s.matched) == len(s.want) }

// read takes in the next event, and reports false if there is none.
func (s *story) read() bool {
	select {
	case e, ok := <-s.from:
		if !ok {
			s.why = "then the channel closed"
			return false
		}
		s.came = append(s.came, line{event: e})
		return true
	case <-s.limit:
		s.why = fmt.Sprintf("it did not come within %v", patience)
		return false
	}
}

// match reports whether the last event is what is expected next.
func (s *story) match() bool {
	last := &s.came[len(s.came)-1]
	next := s.want[len(s.matched)]
	if !next.match(last.event) {
		return false
	}
	last.by = next.want
	s.matched = append(s.matched, last.event)
	return true
}

// String is, for example:
//
//	events: want lost (expired), event 2 of 2 that are expected; what came:
//	  12:00:00.000  acquired by "a": free, token 1, vacant 0s  <- acquired
//	  12:00:05.000  renewed by "a": token 1, …
//	  then the channel closed
func (s *story) String() string {
	var b strings.Builder
	n := len(s.matched)
	fmt.Fprintf(&b, "events: want %s, event %d of %d that are expected; what came:\n", s.want[n].want, n+1, len(s.want))
	came := s.came
	if more := len(came) - most; more > 0 {
		fmt.Fprintf(&b, "  %d events, and then\n", more)
		came = came[more:]
	}
	for _, l := range came {
		fmt.Fprintf(&b, "  %s\n", l)
	}
	if s.why == "" {
		s.why = "the last of them is not it"
	}
	fmt.Fprintf(&b, "  %s", s.why)
	return b.String()
}

func (l line) String() string {
	text := l.event.When().UTC().Format("15:04:05.000") + "  " + l.event.String()
	if l.by != "" {
		text += "  <- " + l.by
	}
	return text
}
