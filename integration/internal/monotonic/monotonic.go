//go:build unix

// Package monotonic reads the clock that all processes of a machine share and that nobody sets.
package monotonic

import (
	"time"

	"golang.org/x/sys/unix"
)

// Now is the time since some moment before all processes began.
func Now() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err) // there is no Unix without it
	}
	return time.Duration(t.Nano())
}
