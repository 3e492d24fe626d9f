package electortest

import (
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// A Clock is a fake clock with two hands, as a machine has them: a monotonic one, by which timers fire and Since
// counts, and a wall hand, which Now shows and which can jump. The hands move only when told to.
//
// It has none of the surprises of the stock fake clock: Step stops at each deadline on its way, a timer that has fired
// unread can be stopped and reset, NewTimer of zero or less fires at once, and AfterFunc runs its function outside the
// clock's lock, on the goroutine that moves the clock. All methods are safe for concurrent use, but one goroutine at a
// time should move the hands.
type Clock struct {
	settle func()

	mu     sync.Mutex
	mono   time.Duration
	epochs []epoch // of the wall hand; the last is the present one
	timers []*timer
}

// An epoch is the time between two jumps of the wall hand. Its location marks the times read in it, so that Since
// knows when they were read by the monotonic hand.
type epoch struct {
	location *time.Location
	offset   time.Time // what the wall hand shows when the monotonic one shows zero
}

var _ clock.WithDelayedExecution = (*Clock)(nil)

// ClockOption changes a Clock.
type ClockOption func(*Clock)

// WithSettle calls settle at the beginning of Step, and again after each deadline at which a timer has fired. With
// synctest.Wait, in a testing/synctest bubble, all that a timer woke has come to rest before the hands move on: one
// Step of an hour shows every event of that hour at its exact time.
func WithSettle(settle func()) ClockOption { return func(c *Clock) { c.settle = settle } }

// NewClock makes a clock whose wall hand shows start. Times that it gives out are in UTC.
func NewClock(start time.Time, options ...ClockOption) *Clock {
	c := &Clock{settle: func() {}}
	c.begin(start)
	for _, o := range options {
		o(c)
	}
	return c
}

// begin begins an epoch, in which the wall hand shows wall now.
func (c *Clock) begin(wall time.Time) {
	location := time.FixedZone("UTC", 0)
	c.epochs = append(c.epochs, epoch{location, wall.Round(0).Add(-c.mono).In(location)})
}

// Now is what the wall hand shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

func (c *Clock) now() time.Time { return c.epochs[len(c.epochs)-1].offset.Add(c.mono) }

// Since is how far the monotonic hand has moved since t was read from this clock, whatever the wall hand has done. A
// time that was not read from this clock counts as read in the present epoch.
func (c *Clock) Since(t time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.epochs[len(c.epochs)-1]
	for _, known := range c.epochs {
		if known.location == t.Location() {
			e = known
		}
	}
	return c.mono - t.Sub(e.offset)
}

// Step moves both hands by d, and stops at each deadline on its way to fire what is due.
func (c *Clock) Step(d time.Duration) {
	c.settle()
	end := c.read() + d
	for c.fireNext(end) {
		c.settle()
	}
	c.moveTo(end)
}

// Jump moves the wall hand by d, forward or back, as somebody who sets the time. No timer fires.
func (c *Clock) Jump(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begin(c.now().Add(d))
}

// Suspend lets the machine sleep for d: the wall hand goes on, the monotonic one stands still, as on Linux, and no
// timer fires.
func (c *Clock) Suspend(d time.Duration) { c.Jump(d) }

func (c *Clock) read() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mono
}

func (c *Clock) moveTo(end time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mono = max(c.mono, end)
}

// fireNext moves the hands to the earliest deadline up to end and fires its timer. It reports false if there is none.
func (c *Clock) fireNext(end time.Duration) bool {
	c.mu.Lock()
	var next *timer
	for _, t := range c.timers {
		if t.at <= end && (next == nil || t.at < next.at) {
			next = t
		}
	}
	if next == nil {
		c.mu.Unlock()
		return false
	}
	c.mono = max(c.mono, next.at)
	fire := next.fire()
	c.mu.Unlock()
	fire()
	return true
}

// NewTimer implements clock.Clock.
func (c *Clock) NewTimer(d time.Duration) clock.Timer { return c.newTimer(d, nil, 0) }

// After implements clock.Clock.
func (c *Clock) After(d time.Duration) <-chan time.Time { return c.newTimer(d, nil, 0).C() }

// AfterFunc implements clock.WithDelayedExecution. If d is zero or less, f runs on a goroutine of its own.
func (c *Clock) AfterFunc(d time.Duration, f func()) clock.Timer { return c.newTimer(d, f, 0) }

// Tick implements clock.Clock. Ticks that are not read are dropped. A d of zero or less ticks never.
func (c *Clock) Tick(d time.Duration) <-chan time.Time {
	if d <= 0 {
		return nil
	}
	return c.newTimer(d, nil, d).C()
}

// Sleep implements clock.Clock: it returns when another goroutine has moved the hands by d.
func (c *Clock) Sleep(d time.Duration) { <-c.After(d) }

// Waiters is how many timers are armed.
func (c *Clock) Waiters() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.timers)
}
