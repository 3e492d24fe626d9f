package electortest

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/seed2c765205/elect/events"
)

// patience is far beyond what any election takes. In a testing/synctest bubble it is virtual: an event that never comes
// fails the test with a story, at once. Elsewhere the time limit of go test comes first.
const patience = 24 * time.Hour

// Expect reads from stream until an event of the kind E for which every condition holds, skipping others, and returns
// it. If the stream closes before, the test fails at once and shows what came instead.
//
// Expect blocks until then: in a testing/synctest bubble that lets virtual time pass, a day at most; elsewhere go test's
// own time limit holds. It moves no Clock. It must be called from the goroutine of the test.
func Expect[E events.Event](t testing.TB, stream <-chan events.Event, where ...func(E) bool) E {
	t.Helper()
	var found E
	s := newStory(stream)
	defer s.end()
	for {
		event, why := s.next()
		if why != "" {
			t.Fatalf("%s before %s came; %s", why, expected(found, where), s)
		}
		if e, ok := event.(E); ok && holds(e, where) {
			return e
		}
	}
}

// ExpectExactly reads as many events as are wanted, and fails the test unless each is of the wanted kind and agrees
// with it in every field that is set there: instants by Equal, errors by errors.Is. A zero field says nothing:
// events.Lost{} is any Lost. ExpectExactly skips nothing, but does not look at what comes afterwards. It blocks as Expect
// does.
func ExpectExactly(t testing.TB, stream <-chan events.Event, want ...events.Event) {
	t.Helper()
	s := newStory(stream)
	defer s.end()
	for i, w := range want {
		event, why := s.next()
		if why != "" {
			t.Fatalf("%s before event %d, %s, came; %s", why, i+1, describe(w), s)
		}
		if field := differs(event, w); field != "" {
			t.Fatalf("event %d is not %s (see %s); %s", i+1, describe(w), field, s)
		}
	}
}

func holds[E events.Event](e E, where []func(E) bool) bool {
	for _, condition := range where {
		if !condition(e) {
			return false
		}
	}
	return true
}

func expected[E events.Event](e E, where []func(E) bool) string {
	if len(where) == 0 {
		return kind(e)
	}
	return kind(e) + " with the condition"
}

// differs names the first set field of want in which got is another, or their kinds.
func differs(got, want events.Event) string {
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	if g.Type() != w.Type() {
		return "its kind"
	}
	for i := range w.NumField() {
		if !w.Field(i).IsZero() && !equal(g.Field(i).Interface(), w.Field(i).Interface()) {
			return w.Type().Field(i).Name
		}
	}
	return ""
}

func equal(got, want any) bool {
	switch want := want.(type) {
	case time.Time:
		at, _ := got.(time.Time)
		return at.Equal(want)
	case error:
		err, _ := got.(error)
		return errors.Is(err, want)
	}
	return got == want
}

// describe shows an event by its set fields.
func describe(e events.Event) string {
	v := reflect.ValueOf(e)
	var set []string
	for i := range v.NumField() {
		if !v.Field(i).IsZero() {
			set = append(set, fmt.Sprintf("%s: %v", v.Type().Field(i).Name, v.Field(i).Interface()))
		}
	}
	return kind(e) + "{" + strings.Join(set, ", ") + "}"
}

func kind(e events.Event) string {
	return strings.TrimPrefix(fmt.Sprintf("%T", e), "events.")
}
