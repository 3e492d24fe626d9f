package electortest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed2c765205/elect/events"
)

// A Matcher is an event that Expect waits for. Make it with Acquired, Renewed, Lost, LeaderChanged, Error or Match.
type Matcher struct {
	want  string
	match func(events.Event) bool
}

// Match is an event for which is returns true. want describes it in a failure.
func Match(want string, is func(events.Event) bool) Matcher { return Matcher{want: want, match: is} }

// Acquired is an events.Acquired that was won in one of these ways; in any way if none is given.
func Acquired(how ...events.How) Matcher {
	return Match("acquired"+among(how), func(e events.Event) bool {
		a, ok := e.(events.Acquired)
		return ok && oneOf(how, a.How)
	})
}

// Renewed is any events.Renewed.
func Renewed() Matcher {
	return Match("renewed", func(e events.Event) bool {
		_, ok := e.(events.Renewed)
		return ok
	})
}

// Lost is an events.Lost for one of these reasons; for any reason if none is given.
func Lost(reason ...events.Reason) Matcher {
	return Match("lost"+among(reason), func(e events.Event) bool {
		l, ok := e.(events.Lost)
		return ok && oneOf(reason, l.Reason)
	})
}

// LeaderChanged is an events.LeaderChanged between these holders; "" is nobody.
func LeaderChanged(from, to string) Matcher {
	want := fmt.Sprintf("leader changed from %s to %s", somebody(from), somebody(to))
	return Match(want, func(e events.Event) bool {
		l, ok := e.(events.LeaderChanged)
		return ok && l.From == from && l.To == to
	})
}

// Error is an events.Error of one of these classes; of any class if none is given.
func Error(class ...events.Class) Matcher {
	return Match("error"+among(class), func(e events.Event) bool {
		f, ok := e.(events.Error)
		return ok && oneOf(class, f.Class)
	})
}

func oneOf[T comparable](allowed []T, v T) bool {
	return len(allowed) == 0 || slices.Contains(allowed, v)
}

func among[T fmt.Stringer](allowed []T) string {
	if len(allowed) == 0 {
		return ""
	}
	words := make([]string, len(allowed))
	for i, v := range allowed {
		words[i] = v.String()
	}
	return " (" + strings.Join(words, " or ") + ")"
}

func somebody(holder string) string {
	if holder == "" {
		return "nobody"
	}
	return strconv.Quote(holder)
}
