package elector

import (
	"log/slog"
	"math/rand/v2"
	"time"

	"k8s.io/utils/clock"

	"github.com/seed2c765205/elect"
)

// Config says what to elect and how patiently. The zero value of every field but Lock is a default; the durations
// derive from LeaseDuration. New checks the whole set. A Config may be used for several candidates, also at once.
type Config struct {
	// Lock is what the candidates compete for. Required.
	Lock Lock
	// Identity names this candidate in the lock. No two candidates may share one. The default is hostname_uuid, new
	// for each elector.
	Identity string

	// LeaseDuration is how long others wait after the last renewal that they saw. Whole seconds, as it is stored so.
	// Default 15 s. Longer rides out longer outages of the API server; the lock stays vacant longer after a crash.
	LeaseDuration time.Duration
	// RenewDeadline is how long a write is trusted, counted from its send. The term ends when it has passed without a
	// newer one. Default 2/3 of LeaseDuration; less than it: the difference is the margin for clocks that run at
	// different rates (see Tolerance).
	RenewDeadline time.Duration
	// RenewPeriod is the time from one renewal to the next. Default 1/3 of LeaseDuration, but at most half of
	// RenewDeadline; at most 2/3 of RenewDeadline.
	RenewPeriod time.Duration
	// RetryPeriod caps the pause between failed attempts while leading, and is the polling period of followers and
	// the period at which a leader looks for jumps of the wall clock. Default 2/15 of LeaseDuration, but at most a
	// fifth of RenewDeadline; less than RenewDeadline.
	RetryPeriod time.Duration
	// DrainTimeout is how long the lease is kept for the work of a term that is over. Work that takes longer keeps the
	// lease from being released: it runs out by itself. Default 30 s; negative: work is not waited for.
	DrainTimeout time.Duration
	// CoolDown is how long a candidate that stepped down does not contend, unless it sees another holder before.
	// Default LeaseDuration.
	CoolDown time.Duration
	// MaxRecordDuration caps how long another candidate's record is waited for, whatever duration it says.
	// Default 0: no cap. At least LeaseDuration otherwise. Capping below what a live holder writes breaks exclusion.
	MaxRecordDuration time.Duration

	// Backoff spaces out failed attempts. Default: exponential from an eighth of RetryPeriod to RetryPeriod, so that
	// somebody leads within a lease and a retry period of the end of an outage.
	// Pauses are spread by ±20 %, never shorter than 10 ms, and capped by RetryPeriod and by half of the trust that is
	// left while leading, by LeaseDuration otherwise.
	Backoff elect.Policy
	// Clock is the only source of time. Default: the real one.
	Clock clock.WithDelayedExecution
	// Rand spreads what many candidates would do at once. New derives a generator of its own from it, so that equal
	// seeds give equal runs. Default: seeded by the system.
	Rand *rand.Rand
	// Logger gets each event: a change of leader at info, the first, second, fourth, eighth … of consecutive errors
	// at warn, the rest at debug. It is called from a goroutine of its own. Default nil: nothing is logged.
	Logger *slog.Logger

	// Corrupt says what to do about a record that cannot be read. Default WaitOut.
	Corrupt CorruptPolicy
	// Reclaim promises that no other process ever uses Identity, as for the Pods of a StatefulSet. Then a record that
	// a former run has left in this name is free to it at once. Without it, such a record is waited out.
	Reclaim bool
}

// CorruptPolicy says what a candidate does about a record that cannot be read.
type CorruptPolicy int

const (
	// WaitOut takes the record as held by somebody unknown: it is replaced when its bytes have not changed for a lease
	// duration.
	WaitOut CorruptPolicy = iota
	// RewriteAtOnce takes the record as missing, as the Python client does. It gives up exclusion: a leader whose
	// record was damaged by a third party goes on while another begins.
	RewriteAtOnce
)

func (p CorruptPolicy) String() string {
	switch p {
	case WaitOut:
		return "wait out"
	case RewriteAtOnce:
		return "rewrite at once"
	}
	return "unknown"
}

const (
	defaultLease = 15 * time.Second
	defaultDrain = 30 * time.Second
)

// Tolerance is by what factor the rates of two candidates' clocks may differ before exclusion is lost:
// LeaseDuration / RenewDeadline, 1.5 by default. docs/DESIGN.md derives it.
func (c Config) Tolerance() float64 {
	c = c.withDefaults()
	return float64(c.LeaseDuration) / float64(c.RenewDeadline)
}

// withDefaults fills in the fields that say how long; New fills in the rest.
func (c Config) withDefaults() Config {
	setDefault(&c.LeaseDuration, defaultLease)
	setDefault(&c.RenewDeadline, c.LeaseDuration/3*2)
	setDefault(&c.RenewPeriod, min(c.LeaseDuration/3, c.RenewDeadline/2))
	setDefault(&c.RetryPeriod, min(c.LeaseDuration/15*2, c.RenewDeadline/5))
	setDefault(&c.DrainTimeout, defaultDrain)
	setDefault(&c.CoolDown, c.LeaseDuration)
	if c.Backoff == nil {
		c.Backoff = elect.Exponential(c.RetryPeriod/8, c.RetryPeriod)
	}
	if c.Clock == nil {
		c.Clock = clock.RealClock{}
	}
	return c
}

func setDefault(d *time.Duration, value time.Duration) {
	if *d == 0 {
		*d = value
	}
}
