package elector

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/seed2c765205/elect"
)

// pacer spaces out failures by the caller's policy, and spreads what many candidates would do in step.
type pacer struct {
	policy elect.Policy
	rand   *rand.Rand
	run    backoff.BackOff // of the present run of failures; nil between runs
}

// minPause keeps a policy that answers zero from becoming a hot loop.
const minPause = 10 * time.Millisecond

// next is the pause before the next attempt, spread by ±20 %, or stop if the policy gives up.
func (p *pacer) next() (pause time.Duration, stop bool) {
	if p.run == nil {
		p.run = p.policy()
	}
	if p.run == nil {
		return minPause, false
	}
	d := p.run.NextBackOff()
	if d == backoff.Stop {
		return 0, true
	}
	return max(p.spread(d), minPause), false
}

// reset ends the run of failures.
func (p *pacer) reset() { p.run = nil }

// spread returns d ±20 %. It is never fed back into the policy.
func (p *pacer) spread(d time.Duration) time.Duration {
	s := float64(d) * (0.8 + 0.4*p.rand.Float64())
	if s >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(s)
}

// upTo is uniform in [0, d).
func (p *pacer) upTo(d time.Duration) time.Duration {
	return time.Duration(p.rand.Int64N(int64(d)))
}
