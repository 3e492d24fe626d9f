package elector

import (
	"context"
	"log/slog"

	"github.com/seed2c765205/elect/events"
)

// logLine returns a function that logs one event; nil if nothing is to be logged.
func (e *Elector) logLine() func(events.Event) {
	if e.config.Logger == nil {
		return nil
	}
	log := e.config.Logger.With("lock", e.config.Lock.String(), "identity", e.config.Identity)
	return func(event events.Event) {
		defer func() { _ = recover() }() // a handler that panics loses its line, not the process
		log.LogAttrs(context.Background(), levelOf(event), event.String(), slog.Any("event", event))
	}
}

// startLog logs events from a goroutine of its own, as any other reader: a handler that blocks must not delay the end
// of a term. The function it returns waits for the last line.
func (e *Elector) startLog() (finish func()) {
	line := e.logLine()
	if line == nil {
		return func() {}
	}
	done := make(chan struct{})
	stream := e.hub.Subscribe(context.Background())
	go func() {
		defer close(done)
		for event := range stream {
			line(event)
		}
	}()
	return func() { <-done }
}

// levelOf keeps an hour of trouble to a few lines: of consecutive errors only the first, second, fourth, eighth …
func levelOf(event events.Event) slog.Level {
	switch event := event.(type) {
	case events.Renewed:
		return slog.LevelDebug
	case events.Error:
		if n := event.Consecutive; n&(n-1) != 0 {
			return slog.LevelDebug
		}
		return slog.LevelWarn
	case events.Acquired, events.Lost, events.LeaderChanged:
	}
	return slog.LevelInfo
}
