package electortest

import (
	"math"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

var (
	_ clock.WithDelayedExecution = (*Clock)(nil)
	_ clock.WithTicker           = (*Clock)(nil)
)

// A Clock is a fake clock with two hands, as a real machine's has: a monotonic one, by which timers fire and Since
// measures, and a wall one, which Now shows and which an administrator, NTP or a suspended machine may move by itself.
// Both stand still until the test moves them. Make it with NewClock.
//
//   - Step moves both hands: time passes.
//   - Jump moves the wall hand only: somebody set the clock.
//   - Suspend moves the wall hand only: the machine slept.
//
// A time from Now remembers, as a real time.Time does with its monotonic reading, when it was read: Since tells the
// monotonic time since then, whatever jumps came in between. It remembers it in its Location, a zone of its own named
// UTC, so that it survives Add and Round(0), but not UTC, In, or being written and read. For a time of other origin,
// Since assumes that the wall hand has always been as it is. Compare times by Equal rather than by ==.
//
// Timers follow the rules of package time since Go 1.23: after Stop or Reset no stale tick is received. A timer that
// is set to zero or less fires at once.
//
// All methods are safe for concurrent use, in a testing/synctest bubble and outside. A Clock that is used in a bubble
// must be made there.
type Clock struct {
	mu     sync.Mutex
	armed  sync.Cond                    // a timer was armed
	mono   time.Duration                // the monotonic hand: since the clock was made
	goal   time.Duration                // where the steps asked for so far end
	zone   *time.Location               // marks the times that are read now
	bases  map[*time.Location]time.Time // the wall hand at mono 0, as it was when times of a zone were read
	timers []*timer                     // armed, in the order of arming
	settle func()
}

// NewClock makes a clock whose wall hand shows start.
func NewClock(start time.Time) *Clock {
	c := &Clock{bases: make(map[*time.Location]time.Time)}
	c.armed.L = &c.mu
	c.setBase(start)
	return c
}

// Now shows the wall hand. It prints as UTC.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

// Since is the monotonic time that has passed since t was read from this clock.
func (c *Clock) Since(t time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	base, ok := c.bases[t.Location()]
	if !ok {
		base = c.bases[c.zone]
	}
	return base.Add(c.mono).Sub(t)
}

// Step moves both hands by d and fires the timers that become due, one after another in the order of their deadlines,
// and of their arming where those are equal. While a timer fires, both hands stand exactly at its deadline; a timer
// that is armed meanwhile is fired too, if it becomes due. The function of an AfterFunc runs on the goroutine of Step,
// which goes on when it has returned, and may use the clock.
//
// A d of zero or less moves nothing. Steps taken at once add up.
func (c *Clock) Step(d time.Duration) {
	c.rest()
	goal := c.aim(d)
	for c.advance(goal) {
		c.rest()
	}
}

// aim tells where a step by d ends.
func (c *Clock) aim(d time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.goal = later(c.goal, max(d, 0))
	return c.goal
}

// advance moves on to the next deadline and fires its timer, or to goal if none is before, and then returns false.
func (c *Clock) advance(goal time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.earliest()
	if t == nil || t.when > goal {
		c.mono = max(c.mono, goal)
		return false
	}
	c.mono = max(c.mono, t.when)
	c.fire(t)
	return true
}

// Settle makes each Step call wait before it first moves the hands, and after each timer that fired: so that what the
// timer woke has done its work, and armed its next timer, before time goes on. In a testing/synctest bubble wait is
// synctest.Wait; it turns any Step into an exact one. nil, the default, waits for nothing. No lock is held meanwhile.
func (c *Clock) Settle(wait func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle = wait
}

// Jump moves the wall hand by d, which may be negative, as setting the clock does. No timer fires.
func (c *Clock) Jump(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.setBase(c.bases[c.zone].Add(d))
}

// Suspend is what a machine sees that slept for d: the wall hand has moved. The monotonic hand has not, as
// CLOCK_MONOTONIC, which Go uses, stands still on Linux while the machine is suspended; so no timer fires, and those
// that are armed are late by d on the wall. A d of zero or less does nothing.
func (c *Clock) Suspend(d time.Duration) {
	if d > 0 {
		c.Jump(d)
	}
}

// setBase begins a new zone, from which Since knows the times read from now on.
func (c *Clock) setBase(base time.Time) {
	c.zone = time.FixedZone("UTC", 0)
	c.bases[c.zone] = base.Round(0).In(c.zone)
}

func (c *Clock) now() time.Time { return c.bases[c.zone].Add(c.mono) }

func (c *Clock) rest() {
	c.mu.Lock()
	wait := c.settle
	c.mu.Unlock()
	if wait != nil {
		wait()
	}
}

// later adds a duration that is not negative, as far as durations go.
func later(at, d time.Duration) time.Duration {
	if d > math.MaxInt64-at {
		return math.MaxInt64
	}
	return at + d
}
