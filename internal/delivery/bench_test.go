package delivery

import (
	"testing"

	"github.com/seed2c765205/elect/events"
)

// The elector's part of a renewal, with a reader that is busy elsewhere.
func BenchmarkPublishToABusyReader(b *testing.B) {
	h := NewHub()
	defer h.Cut()
	h.Events()
	h.Publish(events.Acquired{})
	e := events.Event(events.Renewed{RoundTrip: 1})
	b.ReportAllocs()
	for b.Loop() {
		h.Publish(e)
	}
}

// The same, but the reader is as late as can be.
func BenchmarkPublishToALostReader(b *testing.B) {
	h := NewHub()
	defer h.Cut()
	h.Events()
	publishTerms(h, 100)
	e := events.Event(events.Error{Op: events.OpWrite, Class: events.ClassTimeout})
	b.ReportAllocs()
	for b.Loop() {
		h.Publish(e)
	}
}

// Without a goroutine: the channel was never asked for.
func BenchmarkPublishUnasked(b *testing.B) {
	h := NewHub()
	publishTerms(h, 100)
	e := events.Event(events.Renewed{RoundTrip: 1})
	b.ReportAllocs()
	for b.Loop() {
		h.Publish(e)
	}
}

func BenchmarkQueueTerm(b *testing.B) {
	var q queue
	all := []events.Event{events.Acquired{}, events.Renewed{}, events.Renewed{}, events.Lost{}}
	b.ReportAllocs()
	for b.Loop() {
		for _, e := range all {
			q.push(e)
		}
	}
}
