package delivery

import (
	"context"
	"slices"
	"sync"

	"github.com/seed2c765205/elect/events"
)

// A Hub carries the events of one elector to all its readers. Make it with NewHub.
//
// All methods are safe for concurrent use, but only the order of publications by one goroutine means anything.
// The lock is held for short, bounded work only, never while waiting for a reader.
type Hub struct {
	mu      sync.Mutex
	main    *reader
	readers []*reader            // main, and the subscribers that still listen
	term    *events.Acquired     // the term that is on; nil if none is
	leader  events.LeaderChanged // the latest; To is "" as long as nobody leads
	ended   bool
	cut     bool
	byHand  bool // Flush serves the main reader, not a pump

	stop  chan struct{} // closes with Cut
	pumps sync.WaitGroup
}

// NewHub makes a hub that records for the reader of Events from now on. It starts no goroutine.
func NewHub() *Hub {
	h := &Hub{stop: make(chan struct{})}
	h.main = &reader{hub: h}
	h.readers = []*reader{h.main}
	return h
}

// Publish appends an event to the queues of all readers. It never waits for any of them. After End or Cut it does
// nothing.
//
// In an Acquired or a Lost whose ValidUntil is not set, it is set to what the term tells now. For that, Publish calls
// the term before it takes any lock.
func (h *Hub) Publish(e events.Event) {
	e = freeze(e)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return
	}
	h.note(e)
	for _, r := range h.readers {
		r.queue.push(e)
		r.nudge()
	}
}

// Events returns the channel of the main reader, always the same. The first call starts its pump.
// It closes after the last event, or at Cut.
func (h *Hub) Events() <-chan events.Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.main.out != nil:
	case h.cut:
		h.main.out = closed()
	case h.byHand:
		h.main.out = make(chan events.Event, handRoom+mostUnread)
		h.main.flush()
	default:
		h.main.start()
	}
	return h.main.out
}

// handRoom is how many events the channel of the main reader holds while more may come, when it is served by hand.
// Beyond that it has room for what is unread at the end, when nobody flushes any more.
const handRoom = 256

// ByHand makes the main reader one that Flush serves, without a goroutine, unless Events was called before.
func (h *Hub) ByHand() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.byHand = h.main.out == nil
}

// Flush puts what is unread into the channel of a main reader that is served by hand, as far as there is room: what is
// in the channel is no longer thinned out. After End it puts in all, and closes the channel. It never blocks.
func (h *Hub) Flush() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.byHand && h.main.out != nil && !h.cut {
		h.main.flush()
	}
}

// Subscribe returns the channel of a further reader. It first gets the current state: the Acquired of the term that is
// on, then the LeaderChanged to the leader from "", each if there is one. Then it gets all that is published later.
//
// The channel closes after the last event, at Cut, or when ctx ends; of what is unread then, only a Lost whose
// Acquired was read stays. A subscriber that comes after End gets the leader, if there is one; after Cut, nothing.
func (h *Hub) Subscribe(ctx context.Context) <-chan events.Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cut || ctx.Err() != nil {
		return closed()
	}
	r := &reader{hub: h, gone: ctx.Done()}
	if h.term != nil {
		r.queue.push(*h.term)
	}
	r.queue.push(h.leader)
	h.readers = append(h.readers, r)
	r.start()
	return r.out
}

// End says that there will be no more events: each channel closes when its reader has all.
func (h *Hub) End() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended, h.term = true, nil
	for _, r := range h.readers {
		r.nudge()
	}
}

// Cut ends the stream and all deliveries. A reader that has read an Acquired but not its Lost, which was published,
// finds the Lost in its channel; all else that is unread is dropped and every channel is closed. When Cut returns, no
// goroutine of the hub is left. It does not wait for readers, and may be called more than once.
func (h *Hub) Cut() {
	h.mu.Lock()
	if !h.cut {
		h.ended, h.cut = true, true
		close(h.stop)
		if h.byHand && h.main.out != nil {
			h.main.finishByHand()
		}
	}
	h.mu.Unlock()
	h.pumps.Wait()
}

// note keeps the current state for readers that come later.
func (h *Hub) note(e events.Event) {
	switch e := e.(type) {
	case events.Acquired:
		e.Skipped = 0
		h.term = &e
	case events.Lost:
		h.term = nil
	case events.LeaderChanged:
		h.leader = e
	case events.Renewed, events.Error:
	}
}

// remove forgets a reader. The lock is held.
func (h *Hub) remove(r *reader) {
	h.readers = slices.DeleteFunc(h.readers, func(o *reader) bool { return o == r })
}

// freeze fixes what a term tells at the time of publication.
func freeze(e events.Event) events.Event {
	switch e := e.(type) {
	case events.Acquired:
		if e.Term != nil && e.ValidUntil.IsZero() {
			e.ValidUntil = e.Term.ValidUntil()
			return e
		}
	case events.Lost:
		if e.Term != nil && e.ValidUntil.IsZero() {
			e.ValidUntil = e.Term.ValidUntil()
			return e
		}
	case events.Renewed, events.LeaderChanged, events.Error:
	}
	return e
}

func closed() chan events.Event {
	c := make(chan events.Event)
	close(c)
	return c
}
