package events_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/seed2c765205/elect/events"
)

func marshal(t *testing.T, e events.Event) string {
	t.Helper()
	b, err := json.Marshal(e)
	if err != nil {
		t.Fatalf("%T: %v", e, err)
	}
	return string(b)
}

func TestJSONOfEachKind(t *testing.T) {
	full, empty := full(), empty()
	const zero = `"time":"0001-01-01T00:00:00Z"`
	tests := []struct {
		event events.Event
		want  string
	}{
		{full[0], `{"kind":"acquired","time":"2026-03-01T12:00:00Z",` +
			`"term":{"identity":"a","number":7,"token":9223372036854775813,"validUntil":"2026-03-01T12:00:09Z"},` +
			`"previous":"b","vacant":"3.000000005s","how":"expired","skipped":2}`},
		{full[1], `{"kind":"renewed","time":"2026-03-01T12:00:00.000000005Z",` +
			`"term":{"identity":"a","number":7,"token":9223372036854775813,"validUntil":"2026-03-01T12:00:15Z"},` +
			`"validUntil":"2026-03-01T12:00:15Z","roundTrip":"3ms","skipped":2}`},
		{full[2], `{"kind":"lost","time":"2026-03-01T12:00:00Z",` +
			`"term":{"identity":"a","number":7,"token":9223372036854775813,"validUntil":"2026-03-01T12:00:08Z"},` +
			`"reason":"taken","holder":"b","error":"read another holder"}`},
		{full[3], `{"kind":"leaderChanged","time":"2026-03-01T12:00:00Z","from":"a","to":"b",` +
			`"since":"2026-03-01T11:59:59Z","transitions":8}`},
		{full[4], `{"kind":"error","time":"2026-03-01T12:00:00Z","op":"write","class":"timeout",` +
			`"error":"no answer\nin 3s","retryable":true,"retryAt":"2026-03-01T12:00:02Z",` +
			`"consecutive":2,"remaining":"4s","skipped":1}`},
		{empty[0], `{"kind":"acquired",` + zero + `,"vacant":"0s","how":"unknown"}`},
		{empty[1], `{"kind":"renewed",` + zero + `,"roundTrip":"0s"}`},
		{empty[2], `{"kind":"lost",` + zero + `,"reason":"unknown"}`},
		{empty[3], `{"kind":"leaderChanged",` + zero + `,"from":"","to":"","transitions":0}`},
		{empty[4], `{"kind":"error",` + zero + `,"op":"unknown","class":"unknown","retryable":false,"consecutive":0}`},
	}
	for _, tt := range tests {
		if got := marshal(t, tt.event); got != tt.want {
			t.Errorf("%T is\n%s, want\n%s", tt.event, got, tt.want)
		}
	}
}

func TestJSONTellsWhatWasTrueWhenTheEventWasMade(t *testing.T) {
	live := term()
	frozen := noon.Add(time.Second)
	for _, e := range []events.Event{
		events.Acquired{Term: live, ValidUntil: frozen},
		events.Renewed{Term: live, ValidUntil: frozen},
		events.Lost{Term: live, ValidUntil: frozen},
	} {
		before := marshal(t, e)
		live.validUntil = live.validUntil.Add(time.Hour)
		if after := marshal(t, e); after != before {
			t.Errorf("the term moved on and %T became\n%s, was\n%s", e, after, before)
		}
		if !strings.Contains(before, `"validUntil":"2026-03-01T12:00:01Z"}`) {
			t.Errorf("%s does not tell the term's validUntil", before)
		}
	}
	live.validUntil = noon
	if got := marshal(t, events.Acquired{Term: live}); !strings.Contains(got, `"validUntil":"2026-03-01T12:00:00Z"`) {
		t.Errorf("%s does not tell what the term tells now", got)
	}
}

// samples are events of every kind and with every word.
func samples() []events.Event {
	all := append(full(), empty()...)
	for i := range 20 {
		all = append(all,
			events.Acquired{How: events.How(i - 2)},
			events.Lost{Reason: events.Reason(i - 2)},
			events.Error{Op: events.Op(i - 2), Class: events.Class(18 - i)},
			events.Error{Op: events.OpRead, Class: events.Class(i - 2)},
		)
	}
	odd := &liveTerm{identity: "\xff<&>\u2028\"", number: math.MinInt64, token: math.MaxUint64}
	east := time.FixedZone("east", 5*3600)
	return append(all,
		events.Acquired{Time: noon.In(east), Term: odd, Previous: "b\xfe\xfdb", Vacant: math.MinInt64, Skipped: -1},
		events.Acquired{Time: noon.Local(), Vacant: math.MaxInt64, Skipped: math.MaxInt},
		events.Renewed{Term: odd, RoundTrip: -1},
		events.Lost{Term: odd, Err: errors.New("")},
		events.Lost{Err: errors.New("\xff\x00")},
		events.LeaderChanged{From: "\xff", Since: time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC), Transitions: math.MaxInt64},
		events.Error{RetryAt: noon.In(east), Remaining: 1, Consecutive: math.MinInt},
	)
}

func TestParseReadsBackWhatWasMarshaled(t *testing.T) {
	for _, e := range samples() {
		first := marshal(t, e)
		back, err := events.Parse([]byte(first))
		if err != nil {
			t.Errorf("%s: %v", first, err)
			continue
		}
		if second := marshal(t, back); second != first {
			t.Errorf("%T marshals to\n%s, read back to\n%s", e, first, second)
		}
	}
}

func TestParseGivesTheFields(t *testing.T) {
	for i, want := range full() {
		got, err := events.Parse([]byte(marshal(t, want)))
		if err != nil {
			t.Fatal(err)
		}
		switch got := got.(type) {
		case events.Acquired:
			want := want.(events.Acquired)
			checkTerm(t, got.Term, want.ValidUntil)
			got.Term, want.Term = nil, nil
			check(t, got, want)
		case events.Renewed:
			want := want.(events.Renewed)
			checkTerm(t, got.Term, want.ValidUntil)
			got.Term, want.Term = nil, nil
			check(t, got, want)
		case events.Lost:
			want := want.(events.Lost)
			checkTerm(t, got.Term, want.ValidUntil)
			check(t, got.Err.Error(), want.Err.Error())
			got.Term, want.Term, got.Err, want.Err = nil, nil, nil, nil
			check(t, got, want)
		case events.LeaderChanged:
			check(t, events.Event(got), want)
		case events.Error:
			want := want.(events.Error)
			check(t, got.Err.Error(), want.Err.Error())
			got.Err, want.Err = nil, nil
			check(t, got, want)
		default:
			t.Errorf("event %d is a %T", i, got)
		}
	}
}

func check[T comparable](t *testing.T, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("read\n%#v, want\n%#v", got, want)
	}
}

func checkTerm(t *testing.T, got events.Term, validUntil time.Time) {
	t.Helper()
	want := term()
	if got.Identity() != want.identity || got.Number() != want.number || got.Token() != want.token || got.ValidUntil() != validUntil {
		t.Errorf("read the term %v, want %v until %v", got, want, validUntil)
	}
}

func TestATimeThatJSONCannotCarryIsAnError(t *testing.T) {
	far := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, e := range []events.Event{
		events.Acquired{Time: far}, events.Renewed{ValidUntil: far}, events.Lost{Term: &liveTerm{validUntil: far}},
		events.LeaderChanged{Since: far}, events.Error{RetryAt: far},
	} {
		if b, err := json.Marshal(e); err == nil {
			t.Errorf("%T marshals to %s, want an error", e, b)
		}
	}
}
