package elect

import (
	"time"

	"github.com/cenkalti/backoff/v4"
)

// A Policy decides how long an elector waits after each failure of a run of failures. It makes a fresh BackOff for
// each run; a success ends the run. It must be safe for concurrent use, the BackOff need not be.
//
// The elector spreads each delay by ±20 %, from its Config.Rand, and then caps it: by RetryPeriod while it leads, by
// LeaseDuration otherwise. So a policy needs no jitter of its own, and it must not read a clock.
//
// backoff.Stop, which any BackOff may answer, is not a delay and is tested before any cap. While a term has trust left
// it counts as the cap: a leader does not give up early. Otherwise the elector stops, in the usual order, and Run
// returns an error that wraps the last failure.
type Policy func() backoff.BackOff

// Exponential doubles the delay after each failure: initial, 2·initial, 4·initial, …, max, max, … It never stops, has
// no jitter and reads no clock.
//
// Delays must be positive and in order. What is not is made so: an initial of zero or less is 1 ms, and a max less than
// initial is initial.
func Exponential(initial, max time.Duration) Policy {
	initial = positive(initial)
	if max < initial {
		max = initial
	}
	return func() backoff.BackOff {
		b := &backoff.ExponentialBackOff{
			InitialInterval: initial,
			Multiplier:      2,
			MaxInterval:     max,
			Stop:            backoff.Stop,
			Clock:           stopped{},
		}
		b.Reset()
		return b
	}
}

// Constant waits d after each failure and never stops. A d of zero or less is 1 ms: no policy makes an elector spin.
func Constant(d time.Duration) Policy {
	d = positive(d)
	return func() backoff.BackOff { return backoff.NewConstantBackOff(d) }
}

func positive(d time.Duration) time.Duration {
	if d <= 0 {
		return time.Millisecond
	}
	return d
}

// stopped is a clock that stands still. An ExponentialBackOff asks one even when it limits no elapsed time, and its
// default is the system's, which is another than the elector's.
type stopped struct{}

func (stopped) Now() time.Time { return time.Time{} }
