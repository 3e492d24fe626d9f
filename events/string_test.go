package events_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/seed2c765205/elect/events"
)

func TestStringIsOneLineForPeople(t *testing.T) {
	full, empty := full(), empty()
	tests := []struct {
		event events.Event
		want  string
	}{
		{full[0], `acquired by "a": expired, token 9223372036854775813, vacant 3.000000005s, after "b", skipped 2`},
		{full[1], `renewed by "a": token 9223372036854775813, valid until 2026-03-01T12:00:15Z, round trip 3ms, skipped 2`},
		{full[2], `lost by "a": taken, token 9223372036854775813, to "b": read another holder`},
		{full[3], `leader changed from "a" to "b"`},
		{full[4], `error on write: timeout, 2 in a row, 4s of trust left, again at 2026-03-01T12:00:02Z, skipped 1: "no answer\nin 3s"`},
		{empty[0], `acquired by nobody: unknown, token 0, vacant 0s`},
		{empty[1], `renewed by nobody: token 0, valid until 0001-01-01T00:00:00Z, round trip 0s`},
		{empty[2], `lost by nobody: unknown, token 0`},
		{empty[3], `leader changed from nobody to nobody`},
		{empty[4], `error on unknown: unknown, 0 in a row, final`},
		{events.Error{Retryable: true, Err: errors.New("x")}, `error on unknown: unknown, 0 in a row: x`},
		{events.LeaderChanged{To: "two\nlines"}, `leader changed from nobody to "two\nlines"`},
		{events.Renewed{ValidUntil: noon.In(time.FixedZone("x", 3600))}, `renewed by nobody: token 0, valid until 2026-03-01T12:00:00Z, round trip 0s`},
	}
	for _, tt := range tests {
		if got := tt.event.String(); got != tt.want {
			t.Errorf("%T says\n%s, want\n%s", tt.event, got, tt.want)
		}
		if strings.ContainsAny(tt.event.String(), "\n\r") {
			t.Errorf("%q is not one line", tt.event.String())
		}
	}
}

func TestWhenIsTime(t *testing.T) {
	for _, e := range []events.Event{
		events.Acquired{Time: noon}, events.Renewed{Time: noon}, events.Lost{Time: noon},
		events.LeaderChanged{Time: noon}, events.Error{Time: noon},
	} {
		if got := e.When(); got != noon {
			t.Errorf("%T.When() is %v, want %v", e, got, noon)
		}
	}
}
