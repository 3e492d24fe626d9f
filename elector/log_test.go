package elector

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed2c765205/elect/events"
)

// outage is a lock that does not answer but with an error.
type outage struct{ noLock }

func (outage) Read(context.Context) (Snapshot, error) {
	return Snapshot{}, &CallError{Class: events.ClassUnavailable, Err: errors.New("503")}
}

func TestAnHourOfFailuresIsLoggedInAFewLinesWithCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&out, nil)) // at info and above
		e, err := New(Config{Lock: outage{}, Identity: "a", Logger: logger})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- e.Run(ctx) }()
		time.Sleep(time.Hour)
		stop()
		if err := <-done; err != nil {
			t.Errorf("Run returned %v", err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != 11 {
			t.Errorf("%d lines were logged, want one for each power of two up to 1024:\n%s", len(lines), out.String())
		}
		for i, line := range lines {
			for _, want := range []string{"level=WARN", `lock="no lock"`, "identity=a", "event.class=unavailable", fmt.Sprintf("event.consecutive=%d", 1<<i)} {
				if !strings.Contains(line, want) {
					t.Errorf("line %d does not say %s: %s", i, want, line)
				}
			}
		}
	})
}

func TestLevels(t *testing.T) {
	for _, c := range []struct {
		event events.Event
		want  slog.Level
	}{
		{events.Acquired{}, slog.LevelInfo},
		{events.Lost{}, slog.LevelInfo},
		{events.LeaderChanged{}, slog.LevelInfo},
		{events.Renewed{}, slog.LevelDebug},
		{events.Error{Consecutive: 1}, slog.LevelWarn},
		{events.Error{Consecutive: 3}, slog.LevelDebug},
		{events.Error{Consecutive: 4}, slog.LevelWarn},
	} {
		if got := levelOf(c.event); got != c.want {
			t.Errorf("%T %v is logged at %v, want %v", c.event, c.event, got, c.want)
		}
	}
}
