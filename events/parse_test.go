package events_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/seed2c765205/elect/events"
)

func TestAParsedTermOnlyTells(t *testing.T) {
	e, err := events.Parse([]byte(`{"kind":"acquired","term":{"identity":"a","validUntil":"2999-01-01T00:00:00Z"}}`))
	if err != nil {
		t.Fatal(err)
	}
	term := e.(events.Acquired).Term
	if term.Valid() {
		t.Error("it is valid")
	}
	if ctx := term.Context(); ctx.Err() != context.Canceled || context.Cause(ctx) != events.ErrDetached {
		t.Errorf("its context says %v because of %v", ctx.Err(), context.Cause(ctx))
	}
	done := term.Hold()
	done()
	done()
	term.Go(func(context.Context) error { t.Error("Go started its function"); return nil })
	if until := term.ValidUntil(); !until.Equal(time.Date(2999, 1, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("it is valid until %v", until)
	}
}

func TestWhatIsMissingOrNullIsZeroAndWhatIsUnknownIsIgnored(t *testing.T) {
	zero := empty()
	tests := []struct {
		text string
		want events.Event
	}{
		{`{"kind":"acquired"}`, zero[0]},
		{`{"kind":"acquired","time":null,"term":null,"previous":null,"vacant":null,"how":null,"skipped":null}`, zero[0]},
		{`{"kind":"renewed","validUntil":null}`, zero[1]},
		{`{"kind":"lost","error":"","reason":null}`, zero[2]},
		{`{"kind":"leaderChanged","from":null}`, zero[3]},
		{` {"colour":{"x":[1]}, "kind":"error"} `, zero[4]},
		{`{"kind":"error","remaining":"0s","retryAt":"0001-01-01T00:00:00Z"}`, zero[4]},
		{`{"kind":"renewed","term":null,"validUntil":"2026-03-01T13:00:00+01:00"}`, events.Renewed{ValidUntil: noon}},
	}
	for _, tt := range tests {
		if got, err := events.Parse([]byte(tt.text)); got != tt.want || err != nil {
			t.Errorf("%s is read as\n%#v, %v, want\n%#v", tt.text, got, err, tt.want)
		}
	}
}

func TestAParsedRenewedTakesItsEndFromTheTermIfItHasNone(t *testing.T) {
	e, err := events.Parse([]byte(`{"kind":"renewed","term":{"validUntil":"2026-03-01T12:00:00Z"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := e.(events.Renewed).ValidUntil; got != noon {
		t.Errorf("ValidUntil is %v, want %v", got, noon)
	}
}

func TestParseNamesFieldValueAndRule(t *testing.T) {
	tests := []struct{ text, want string }{
		{`{}`, `events: field kind is "": want one of acquired, renewed, lost, leaderChanged, error`},
		{`{"kind":null}`, `events: field kind is "": want one of acquired, renewed, lost, leaderChanged, error`},
		{`{"kind":"Acquired"}`, `events: field kind is "Acquired": want one of acquired, renewed, lost, leaderChanged, error`},
		{`{"kind":7}`, `events: field kind is 7: want a text`},
		{`{"kind":"acquired","how":"magic"}`, `events: field how is "magic": want one of unknown, free, expired, released, repaired, reclaimed`},
		{`{"kind":"acquired","how":1}`, `events: field how is 1: want one of unknown, free, expired, released, repaired, reclaimed`},
		{`{"kind":"acquired","vacant":"3"}`, `events: field vacant is "3": want a duration such as "1.5s"`},
		{`{"kind":"acquired","vacant":3}`, `events: field vacant is 3: want a duration such as "1.5s"`},
		{`{"kind":"acquired","skipped":1.5}`, `events: field skipped is 1.5: want a whole number`},
		{`{"kind":"acquired","term":"a"}`, `events: field term is "a": want an object`},
		{`{"kind":"renewed","term":{"token":-1}}`, `events: field term.token is -1: want a whole number from 0 to 2^64-1`},
		{`{"kind":"lost","term":{"validUntil":"noon"}}`, `events: field term.validUntil is "noon": want an RFC 3339 time in the years 0 to 9999`},
		{`{"kind":"lost","reason":"bored"}`, `events: field reason is "bored": want one of unknown, expired, taken, cleared, deleted, stopped, resigned, work failed`},
		{`{"kind":"lost","error":{}}`, `events: field error is {}: want a text`},
		{`{"kind":"leaderChanged","time":"9999-12-31T23:59:59-01:00"}`, `events: field time is "9999-12-31T23:59:59-01:00": want an RFC 3339 time in the years 0 to 9999`},
		{`{"kind":"leaderChanged","time":"0000-01-01T00:00:00+01:00"}`, `events: field time is "0000-01-01T00:00:00+01:00": want an RFC 3339 time in the years 0 to 9999`},
		{`{"kind":"leaderChanged","transitions":true}`, `events: field transitions is true: want a whole number`},
		{`{"kind":"error","retryable":"yes"}`, `events: field retryable is "yes": want true or false`},
		{`{"kind":"error","op":"stare"}`, `events: field op is "stare": want one of unknown, read, write, watch, release, work`},
		{`{"kind":"error","class":"x","op":"y"}`, `events: field op is "y": want one of unknown, read, write, watch, release, work`},
		{`{"kind":"` + strings.Repeat("x", 200) + `"}`, `events: field kind is "` + strings.Repeat("x", 79) + `…: want one of acquired, renewed, lost, leaderChanged, error`},
	}
	for _, tt := range tests {
		e, err := events.Parse([]byte(tt.text))
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s: the error is\n%v, want\n%s", tt.text, err, tt.want)
		}
		if e != nil {
			t.Errorf("%s: there is an event: %v", tt.text, e)
		}
	}
}

func TestParseOfWhatIsNoObject(t *testing.T) {
	for _, text := range []string{"", "nul", "[]", `"acquired"`, "7", `{"kind":"lost"`, `{"kind":"lost"} x`} {
		_, err := events.Parse([]byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), "events: not a JSON object: ") {
			t.Errorf("%q: the error is %v", text, err)
		}
	}
}

// Whatever parses can be written, and what was written is read back as the same.
func FuzzParse(f *testing.F) {
	for _, e := range samples() {
		b, err := json.Marshal(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`{"kind":"renewed","term":{"validUntil":"0000-01-01T00:00:00+00:01"},"roundTrip":"1.1h"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := events.Parse(data)
		if err != nil {
			return
		}
		_ = e.String()
		first := marshal(t, e)
		again, err := events.Parse([]byte(first))
		if err != nil {
			t.Fatalf("%s: %v", first, err)
		}
		if second := marshal(t, again); second != first {
			t.Errorf("marshals to\n%s, read back to\n%s", first, second)
		}
	})
}
