package electortest

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/utils/clock"
)

// NewTimer returns a timer that sends the time on its channel when d has passed; at once if d is zero or less.
func (c *Clock) NewTimer(d time.Duration) clock.Timer {
	t := &timer{clock: c, ticks: make(chan time.Time, 1)}
	t.Reset(d)
	return t
}

// AfterFunc calls f when d has passed: from the Step that reaches it, or, if d is zero or less, at once and from a
// goroutine of its own. The clock is not locked then. The channel of the timer is nil.
func (c *Clock) AfterFunc(d time.Duration, f func()) clock.Timer {
	t := &timer{clock: c, f: f}
	t.Reset(d)
	return t
}

// NewTicker returns a ticker that sends the time every d, and drops ticks for a slow receiver. It panics if d is not
// positive.
func (c *Clock) NewTicker(d time.Duration) clock.Ticker {
	if d <= 0 {
		panic("electortest: Clock.NewTicker: the duration " + d.String() + " is not positive")
	}
	t := &timer{clock: c, ticks: make(chan time.Time, 1), period: d}
	t.Reset(d)
	return ticker{t}
}

// After returns the channel of a new timer.
func (c *Clock) After(d time.Duration) <-chan time.Time { return c.NewTimer(d).C() }

// Tick returns the channel of a new ticker; nil if d is not positive.
func (c *Clock) Tick(d time.Duration) <-chan time.Time {
	if d <= 0 {
		return nil
	}
	return c.NewTicker(d).C()
}

// Sleep returns when d has passed; at once if d is zero or less.
func (c *Clock) Sleep(d time.Duration) { <-c.After(d) }

// A timer is set if it is in its clock's schedule. The clock's lock guards it.
type timer struct {
	clock  *Clock
	ticks  chan time.Time // nil if there is a function
	f      func()
	period time.Duration // of a ticker

	deadline time.Duration
	set      uint64 // when it was set last, among all; 0: never
}

func (t *timer) C() <-chan time.Time { return t.ticks }

// Stop reports whether the timer was set, or had fired and its tick was not received.
func (t *timer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	return t.stop()
}

// Reset reports what Stop reports.
func (t *timer) Reset(d time.Duration) bool {
	c := t.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	was := t.stop()
	t.deadline = plus(c.mono, d)
	if d > 0 {
		c.timers.add(t)
		c.added.Broadcast()
		return was
	}
	if fire := t.fire(); t.f != nil {
		go fire()
	}
	return was
}

func (t *timer) stop() (was bool) {
	was = t.clock.timers.remove(t)
	select {
	case <-t.ticks:
		return true
	default:
		return was
	}
}

// fire sends the tick, sets a ticker again, and returns what is to be done without the clock's lock.
func (t *timer) fire() func() {
	if t.f != nil {
		return t.f
	}
	select {
	case t.ticks <- t.clock.now():
	default: // the last one was not received yet
	}
	if t.period > 0 {
		t.deadline = plus(t.deadline, t.period)
		t.clock.timers.add(t)
	}
	return func() {}
}

type ticker struct{ *timer }

func (t ticker) Stop() { t.timer.Stop() }

// A schedule is the timers that are set, in the order in which they fire.
type schedule struct {
	timers []*timer
	sets   uint64 // how often one was set
}

func (s *schedule) len() int { return len(s.timers) }

func (s *schedule) first() *timer {
	if len(s.timers) == 0 {
		return nil
	}
	return s.timers[0]
}

func (s *schedule) add(t *timer) {
	s.sets++
	t.set = s.sets
	i, _ := s.find(t)
	s.timers = slices.Insert(s.timers, i, t)
}

// remove reports whether the timer was set.
func (s *schedule) remove(t *timer) bool {
	i, ok := s.find(t)
	if ok {
		s.timers = slices.Delete(s.timers, i, i+1)
	}
	return ok
}

func (s *schedule) find(t *timer) (int, bool) {
	return slices.BinarySearchFunc(s.timers, t, func(a, b *timer) int {
		return cmp.Or(cmp.Compare(a.deadline, b.deadline), cmp.Compare(a.set, b.set))
	})
}
