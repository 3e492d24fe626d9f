package electortest

import (
	"slices"
	"time"

	"k8s.io/utils/clock"
)

// timer is one timer of a Clock, whose lock guards it.
type timer struct {
	clock  *Clock
	at     time.Duration // by the monotonic hand
	period time.Duration // of a ticker; 0: it fires once
	ch     chan time.Time
	f      func() // instead of the channel
}

var _ clock.Timer = (*timer)(nil)

func (c *Clock) newTimer(d time.Duration, f func(), period time.Duration) *timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &timer{clock: c, ch: make(chan time.Time, 1), f: f, period: period}
	t.arm(d)
	return t
}

// arm sets the timer. What is due already fires at once.
func (t *timer) arm(d time.Duration) {
	t.at = t.clock.mono + d
	t.clock.timers = append(t.clock.timers, t)
	if d > 0 {
		return
	}
	if fire := t.fire(); t.f != nil {
		go fire()
	}
}

// fire disarms the timer or sets it to its next tick, and returns what is to be called outside the clock's lock.
func (t *timer) fire() func() {
	t.disarm()
	if t.period > 0 {
		t.at += t.period
		t.clock.timers = append(t.clock.timers, t)
	}
	if t.f != nil {
		return t.f
	}
	select {
	case t.ch <- t.clock.now():
	default:
	}
	return func() {}
}

func (t *timer) disarm() (active bool) {
	i := slices.Index(t.clock.timers, t)
	if i < 0 {
		return false
	}
	t.clock.timers = slices.Delete(t.clock.timers, i, i+1)
	return true
}

// C implements clock.Timer.
func (t *timer) C() <-chan time.Time { return t.ch }

// Stop implements clock.Timer. As since Go 1.23, no tick can be read afterwards that was not read before.
func (t *timer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	return t.stop()
}

func (t *timer) stop() (active bool) {
	active = t.disarm()
	select {
	case <-t.ch:
	default:
	}
	return active
}

// Reset implements clock.Timer.
func (t *timer) Reset(d time.Duration) bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	active := t.stop()
	t.arm(d)
	return active
}
