package elector

import (
	"math"
	"time"

	"k8s.io/utils/clock"
)

// An instant is one moment on the two hands of the injected clock. Monotonic counts since the elector was made and
// stands still while the machine is suspended; wall jumps when somebody sets it, and goes on during a suspend.
type instant struct {
	mono time.Duration
	wall time.Time
}

// elapsed is the larger of what the two hands say has passed. A leader that uses it stops early when they disagree,
// which is safe; a follower must count on the monotonic hand alone, so that it takes over late.
func (from instant) elapsed(now instant) time.Duration {
	return max(now.mono-from.mono, now.wall.Sub(from.wall))
}

// stopwatch reads the injected clock.
type stopwatch struct {
	clock clock.PassiveClock
	start time.Time
}

func newStopwatch(c clock.PassiveClock) stopwatch {
	return stopwatch{clock: c, start: c.Now()}
}

func (s stopwatch) now() instant {
	// Round(0) drops the monotonic reading: differences of the wall hand must show its jumps.
	return instant{mono: s.clock.Since(s.start), wall: s.clock.Now().Round(0)}
}

// plus adds and saturates: a record may ask for any duration.
func plus(t, d time.Duration) time.Duration {
	if d > 0 && t > math.MaxInt64-d {
		return math.MaxInt64
	}
	return t + d
}
