package electortest

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/seed2c765205/elect/events"
)

// Expect reads from stream until an event of type E for which every condition holds, skipping others, and returns it.
// If the stream closes before, the test fails and shows what came instead. Expect blocks as long as it takes: in a
// testing/synctest bubble that lets virtual time pass.
func Expect[E events.Event](t testing.TB, stream <-chan events.Event, where ...func(E) bool) E {
	t.Helper()
	var story []events.Event
	for event := range stream {
		if e, ok := event.(E); ok && holds(e, where) {
			return e
		}
		story = append(story, event)
	}
	var none E
	t.Fatalf("the stream closed before %s came; it told:%s", kind(none), tell(story))
	return none
}

func holds[E events.Event](e E, where []func(E) bool) bool {
	for _, condition := range where {
		if !condition(e) {
			return false
		}
	}
	return true
}

// ExpectExactly reads as many events as are wanted, and fails the test unless each is of the wanted type and agrees
// with it in every field that is set there. A zero field says nothing: events.Lost{} is any Lost.
func ExpectExactly(t testing.TB, stream <-chan events.Event, want ...events.Event) {
	t.Helper()
	var story []events.Event
	for i, w := range want {
		event, open := <-stream
		if !open {
			t.Fatalf("the stream closed before event %d, %s, came; it told:%s", i+1, describe(w), tell(story))
		}
		story = append(story, event)
		if field := differs(event, w); field != "" {
			t.Fatalf("event %d is not %s (see %s); the stream told:%s", i+1, describe(w), field, tell(story))
		}
	}
}

// differs names the first set field of want in which got is another, or their types.
func differs(got, want events.Event) string {
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	if g.Type() != w.Type() {
		return "its kind"
	}
	for i := range w.NumField() {
		if !w.Field(i).IsZero() && !reflect.DeepEqual(g.Field(i).Interface(), w.Field(i).Interface()) {
			return w.Type().Field(i).Name
		}
	}
	return ""
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

// tell is a story of events, one a line, with the time since the first.
func tell(story []events.Event) string {
	if len(story) == 0 {
		return " nothing"
	}
	var b strings.Builder
	for _, e := range story {
		fmt.Fprintf(&b, "\n\t%10v  %v", e.When().Sub(story[0].When()), e)
	}
	return b.String()
}
