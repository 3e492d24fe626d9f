package main

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/seed2c765205/elect/events"
)

// A log prints lines that begin with the seconds since its start.
type log struct {
	json  bool
	start time.Time

	mu  sync.Mutex
	out io.Writer
}

func newLog(out io.Writer, json bool) *log { return &log{out: out, json: json, start: time.Now()} }

// of returns the log of one candidate.
func (l *log) of(name string) *candidateLog { return &candidateLog{log: l, name: name} }

func (l *log) line(at time.Time, who, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.out, "%8.3f  %-6s  %s\n", at.Sub(l.start).Seconds(), who, text)
}

// A candidateLog prints what one candidate does.
type candidateLog struct {
	*log
	name string
}

func (l *candidateLog) event(e events.Event) {
	if !l.json {
		l.line(e.When(), l.name, e.String())
		return
	}
	text, err := json.Marshal(e)
	if err != nil { // a clock that is thousands of years off
		text = fmt.Appendf(nil, "%q", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.out, "%s\n", text)
}

// say prints what is no event; in JSON there is nothing but events.
func (l *candidateLog) say(format string, args ...any) {
	if !l.json {
		l.line(time.Now(), l.name, fmt.Sprintf(format, args...))
	}
}
