package events_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/seed2c765205/elect/events"
)

func TestLogValueIsAGroupOfWhatIsSet(t *testing.T) {
	full, empty := full(), empty()
	const (
		term = `e.term.identity=a e.term.number=7 e.term.token=9223372036854775813 e.term.validUntil=`
		zero = ` e.time=0001-01-01T00:00:00.000Z`
	)
	tests := []struct {
		event events.Event
		want  string
	}{
		{full[0], `e.kind=acquired e.time=2026-03-01T12:00:00.000Z ` + term + `2026-03-01T12:00:09.000Z e.previous=b e.vacant=3.000000005s e.how=expired e.skipped=2`},
		{full[1], `e.kind=renewed e.time=2026-03-01T12:00:00.000Z ` + term + `2026-03-01T12:00:15.000Z e.validUntil=2026-03-01T12:00:15.000Z e.roundTrip=3ms e.skipped=2`},
		{full[2], `e.kind=lost e.time=2026-03-01T12:00:00.000Z ` + term + `2026-03-01T12:00:08.000Z e.reason=taken e.holder=b e.error="read another holder"`},
		{full[3], `e.kind=leaderChanged e.time=2026-03-01T12:00:00.000Z e.from=a e.to=b e.since=2026-03-01T11:59:59.000Z e.transitions=8`},
		{full[4], `e.kind=error e.time=2026-03-01T12:00:00.000Z e.op=write e.class=timeout e.error="no answer\nin 3s" e.retryable=true e.retryAt=2026-03-01T12:00:02.000Z e.consecutive=2 e.remaining=4s e.skipped=1`},
		{empty[0], `e.kind=acquired` + zero + ` e.vacant=0s e.how=unknown`},
		{empty[1], `e.kind=renewed` + zero + ` e.roundTrip=0s`},
		{empty[2], `e.kind=lost` + zero + ` e.reason=unknown`},
		{empty[3], `e.kind=leaderChanged` + zero + ` e.from="" e.to="" e.transitions=0`},
		{empty[4], `e.kind=error` + zero + ` e.op=unknown e.class=unknown e.retryable=false e.consecutive=0`},
	}
	for _, tt := range tests {
		var out bytes.Buffer
		slog.New(slog.NewTextHandler(&out, nil)).Info("", "e", tt.event)
		_, got, _ := strings.Cut(strings.TrimSpace(out.String()), `msg="" `)
		if got != tt.want {
			t.Errorf("%T is logged as\n%s, want\n%s", tt.event, got, tt.want)
		}
	}
}
