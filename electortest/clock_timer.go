package electortest

import (
	"slices"
	"time"

	"k8s.io/utils/clock"
)

// A timer is a Timer, or what a ticker ticks by. The clock's lock guards it.
type timer struct {
	clock  *Clock
	when   time.Duration // on the monotonic hand
	period time.Duration // 0: it fires once
	c      chan time.Time
	f      func() // instead of c
}

// NewTimer makes a timer that sends once, d from now.
func (c *Clock) NewTimer(d time.Duration) clock.Timer {
	t := &timer{clock: c, c: make(chan time.Time, 1)}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.arm(t, d)
	return t
}

// AfterFunc makes a timer that runs f once, d from now. f runs on the goroutine of Step, with no lock held; if d is
// zero or less, on a goroutine of its own, at once, because the caller may hold what f needs. C of the timer is nil.
func (c *Clock) AfterFunc(d time.Duration, f func()) clock.Timer {
	t := &timer{clock: c, f: f}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.arm(t, d)
	return t
}

// After returns the channel of a new timer.
func (c *Clock) After(d time.Duration) <-chan time.Time { return c.NewTimer(d).C() }

// Sleep returns when the clock was moved by d.
func (c *Clock) Sleep(d time.Duration) { <-c.After(d) }

// NewTicker makes a ticker that sends every d, and skips what is not received. One of zero or less never ticks.
func (c *Clock) NewTicker(d time.Duration) clock.Ticker {
	t := &timer{clock: c, period: d, c: make(chan time.Time, 1)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if d > 0 {
		c.arm(t, d)
	}
	return ticker{t}
}

// Tick returns the channel of a new ticker; nil if d is zero or less.
func (c *Clock) Tick(d time.Duration) <-chan time.Time {
	if d <= 0 {
		return nil
	}
	return c.NewTicker(d).C()
}

// Waiters tells how many timers and tickers are armed.
func (c *Clock) Waiters() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.timers)
}

// AwaitWaiters returns when at least n timers and tickers are armed.
func (c *Clock) AwaitWaiters(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.timers) < n {
		c.armed.Wait()
	}
}

// Next tells how long it is until the next timer fires; not ok if none is armed.
func (c *Clock) Next() (d time.Duration, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.earliest(); t != nil {
		return t.when - c.mono, true
	}
	return 0, false
}

// C is where the timer sends; nil for one of AfterFunc.
func (t *timer) C() <-chan time.Time { return t.c }

// Stop disarms the timer. It returns true if that kept it from firing, or from its tick being received.
func (t *timer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	return t.disarm()
}

// Reset arms the timer anew, whether it is armed or not. It returns what Stop would.
func (t *timer) Reset(d time.Duration) bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	was := t.disarm()
	t.clock.arm(t, d)
	return was
}

// A ticker is a timer with a period, and without Reset.
type ticker struct{ t *timer }

func (t ticker) C() <-chan time.Time { return t.t.c }

func (t ticker) Stop() { t.t.Stop() }

// arm sets the timer to fire d from now, or fires it.
func (c *Clock) arm(t *timer, d time.Duration) {
	t.when = later(c.mono, max(d, 0))
	switch {
	case d > 0:
		c.timers = append(c.timers, t)
		c.armed.Broadcast()
	case t.f != nil:
		go t.f()
	default:
		t.c <- c.now()
	}
}

// disarm also takes back a tick that nobody has received.
func (t *timer) disarm() bool {
	c := t.clock
	i := slices.Index(c.timers, t)
	if i >= 0 {
		c.timers = slices.Delete(c.timers, i, i+1)
	}
	select {
	case <-t.c:
		return true
	default:
		return i >= 0
	}
}

func (c *Clock) earliest() *timer {
	var first *timer
	for _, t := range c.timers {
		if first == nil || t.when < first.when {
			first = t
		}
	}
	return first
}

// fire lets the timer fire. The lock is held, but not while its function runs.
func (c *Clock) fire(t *timer) {
	i := slices.Index(c.timers, t)
	c.timers = slices.Delete(c.timers, i, i+1)
	if next := later(t.when, t.period); next > t.when {
		t.when = next
		c.timers = append(c.timers, t)
	}
	if t.f != nil {
		c.mu.Unlock()
		defer c.mu.Lock()
		t.f()
		return
	}
	select {
	case t.c <- c.now():
	default: // the last tick was not received
	}
}
