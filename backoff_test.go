package elect_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/seed2c765205/elect"
)

const (
	ms      = time.Millisecond
	longest = time.Duration(math.MaxInt64)
)

func delays(b backoff.BackOff, n int) []time.Duration {
	var d []time.Duration
	for range n {
		d = append(d, b.NextBackOff())
	}
	return d
}

func TestPoliciesGiveTheseDelays(t *testing.T) {
	tests := []struct {
		name   string
		policy elect.Policy
		want   []time.Duration
	}{
		{"doubles up to the max", elect.Exponential(100*ms, 700*ms), []time.Duration{100 * ms, 200 * ms, 400 * ms, 700 * ms, 700 * ms}},
		{"the max is a power", elect.Exponential(ms, 4*ms), []time.Duration{ms, 2 * ms, 4 * ms, 4 * ms}},
		{"initial is max", elect.Exponential(ms, ms), []time.Duration{ms, ms, ms}},
		{"max below initial", elect.Exponential(300*ms, 200*ms), []time.Duration{300 * ms, 300 * ms}},
		{"initial zero", elect.Exponential(0, 3*ms), []time.Duration{ms, 2 * ms, 3 * ms, 3 * ms}},
		{"initial negative", elect.Exponential(-1, 2*ms), []time.Duration{ms, 2 * ms, 2 * ms}},
		{"all zero", elect.Exponential(0, 0), []time.Duration{ms, ms}},
		{"all negative", elect.Exponential(-5, -9), []time.Duration{ms, ms}},
		{"one nanosecond", elect.Exponential(1, 3), []time.Duration{1, 2, 3, 3}},
		{"no overflow", elect.Exponential(longest/3, longest), []time.Duration{longest / 3, time.Duration(float64(longest/3) * 2), longest, longest}},
		{"as long as can be", elect.Exponential(longest, longest), []time.Duration{longest, longest}},
		{"constant", elect.Constant(5 * ms), []time.Duration{5 * ms, 5 * ms, 5 * ms}},
		{"constant zero", elect.Constant(0), []time.Duration{ms, ms}},
		{"constant negative", elect.Constant(-7), []time.Duration{ms, ms}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := delays(tt.policy(), len(tt.want)); !slices.Equal(got, tt.want) {
				t.Errorf("delays are %v, want %v", got, tt.want)
			}
		})
	}
}

func TestEachRunOfFailuresStartsAnew(t *testing.T) {
	policy := elect.Exponential(ms, 100*ms)
	first, second := policy(), policy()
	delays(first, 5)
	if got := second.NextBackOff(); got != ms {
		t.Errorf("a second BackOff starts with %v, want %v", got, ms)
	}
	first.Reset()
	if got, want := delays(first, 2), []time.Duration{ms, 2 * ms}; !slices.Equal(got, want) {
		t.Errorf("after Reset the delays are %v, want %v", got, want)
	}
}

// A BackOff that limits the elapsed time would stop by the system's clock, which a fake clock does not move.
func TestExponentialReadsNoClockAndNeverStops(t *testing.T) {
	b, ok := elect.Exponential(ms, 2*ms)().(*backoff.ExponentialBackOff)
	if !ok {
		t.Fatal("not an ExponentialBackOff")
	}
	if b.Clock == backoff.Clock(backoff.SystemClock) || !b.Clock.Now().IsZero() {
		t.Errorf("the clock is %T, want one that stands still", b.Clock)
	}
	if b.MaxElapsedTime != 0 || b.RandomizationFactor != 0 {
		t.Errorf("limit %v and jitter %v, want none", b.MaxElapsedTime, b.RandomizationFactor)
	}
	if slices.Contains(delays(b, 10_000), backoff.Stop) {
		t.Error("it stopped")
	}
}

func TestDelaysNeverShrinkNorPassTheMax(t *testing.T) {
	for initial := time.Duration(1); initial < longest/7; initial *= 7 {
		last := time.Duration(0)
		for _, d := range delays(elect.Exponential(initial, longest)(), 80) {
			if d < last || d <= 0 {
				t.Fatalf("initial %v: %v after %v", initial, d, last)
			}
			last = d
		}
		if last != longest {
			t.Errorf("initial %v: the delay ends at %v, want %v", initial, last, longest)
		}
	}
}
