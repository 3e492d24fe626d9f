package electortest

import (
	"math"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// A Clock is a fake clock with the two hands of a real machine. Make it with NewClock. It stands still until it is
// moved:
//
//   - The monotonic hand, by which timers fire and Since measures, is moved by Step alone.
//   - The wall hand, which Now shows, is moved by Step too, and alone by Jump and Suspend.
//
// A time from Now remembers how the hands stood when it was read, as a real one does: Since is right over any number of
// jumps. It remembers that by its Location, which every jump renews; so Add, Round, Truncate and comparisons keep it, UTC
// and In lose it. Since takes a time that did not come from Now, or lost its Location, as one of the present: wall time
// against wall time. Times from Now are in UTC; compare them with Equal, not with ==.
//
// All methods are safe for concurrent use. Timers, tickers and functions behave as those of package time do: after
// Stop or Reset no old tick is received, and what is due when it is set is due at once.
//
// # Driving an election
//
// In a testing/synctest bubble, make the clock with WithSettle(synctest.Wait). Then one Step drives everything that
// waits for the clock, however long the step is: before it moves and after each timer, it lets all goroutines of the
// bubble run until they wait, so that what they set next is in its place. Nothing is late or early, not by a
// nanosecond:
//
//	synctest.Test(t, func(t *testing.T) {
//		c := electortest.NewClock(time.Now(), electortest.WithSettle(synctest.Wait))
//		e, _ := elector.New(elector.Config{Lock: lock, Clock: c})
//		ctx, cancel := context.WithCancel(t.Context())
//		go e.Run(ctx)
//		c.Step(time.Hour) // acquired at 0 s, renewed at 5 s, 10 s, …
//		cancel()
//		synctest.Wait()
//	})
//
// Without that, woken goroutines run whenever they do: what they set after the clock has moved on counts from then.
// Steps to one deadline at a time (Next) and BlockUntil between them help then.
type Clock struct {
	settle func()

	stepping sync.Mutex // held while the clock is moved by Step

	mu      sync.Mutex
	start   time.Time
	mono    time.Duration // since start
	epoch   *time.Location
	offsets map[*time.Location]time.Duration // wall minus monotonic hand, by epoch
	timers  schedule
	added   *sync.Cond // a timer was set
}

var (
	_ clock.WithTicker           = (*Clock)(nil)
	_ clock.WithDelayedExecution = (*Clock)(nil)
)

// A ClockOption changes how NewClock makes a Clock.
type ClockOption func(*Clock)

// WithSettle lets Step call settle before it moves the clock and after each timer. settle shall return when all
// goroutines that the clock has woken wait again, as synctest.Wait does in its bubble.
func WithSettle(settle func()) ClockOption { return func(c *Clock) { c.settle = settle } }

// NewClock makes a clock whose wall hand shows start.
func NewClock(start time.Time, options ...ClockOption) *Clock {
	c := &Clock{settle: func() {}, start: start.UTC().Round(0), offsets: make(map[*time.Location]time.Duration)}
	c.added = sync.NewCond(&c.mu)
	c.begin(0)
	for _, o := range options {
		o(c)
	}
	return c
}

// begin begins an epoch with another distance between the hands.
func (c *Clock) begin(offset time.Duration) {
	c.epoch = time.FixedZone("UTC", 0) // a new pointer each time
	c.offsets[c.epoch] = offset
}

// Now is the time that the wall hand shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

func (c *Clock) now() time.Time {
	return c.start.Add(c.mono).Add(c.offsets[c.epoch]).In(c.epoch)
}

// Since is by how much the monotonic hand has moved since t was read from Now.
func (c *Clock) Since(t time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	offset, ok := c.offsets[t.Location()]
	if !ok {
		offset = c.offsets[c.epoch]
	}
	return c.start.Add(c.mono).Sub(t.Add(-offset))
}

// Jump moves the wall hand alone, forward or back, as setting the time of a machine does. No timer fires.
func (c *Clock) Jump(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begin(c.offsets[c.epoch] + d)
}

// Suspend is what a process sees of a machine, with Linux, that sleeps for d: when it wakes up, the wall hand has moved,
// the monotonic hand has not, and all timers are as far from their deadlines as before. It panics if d is negative.
func (c *Clock) Suspend(d time.Duration) {
	mustNotBeNegative("Suspend", d)
	c.Jump(d)
}

// Step moves both hands by d. Timers whose deadlines lie on the way fire one after another, in the order of their
// deadlines and, at the same deadline, in the order in which they were set; while one fires, the clock shows its
// deadline. Timers that are set meanwhile take their place in that order. Functions of AfterFunc run on the goroutine
// that calls Step: they may use the clock, but not step it.
//
// Steps from several goroutines happen one after another. It panics if d is negative.
func (c *Clock) Step(d time.Duration) {
	mustNotBeNegative("Step", d)
	c.stepping.Lock()
	defer c.stepping.Unlock()
	c.settle()
	target := c.target(d)
	for {
		fire := c.advance(target)
		if fire == nil {
			break
		}
		fire()
		c.settle()
	}
}

func (c *Clock) target(d time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return plus(c.mono, d)
}

// advance moves the clock to the next deadline up to target, and returns what is to be done without the lock; or to
// target, and returns nil.
func (c *Clock) advance(target time.Duration) (fire func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.timers.first()
	if t == nil || t.deadline > target {
		c.mono = target
		return nil
	}
	c.mono = t.deadline
	c.timers.remove(t)
	return t.fire()
}

// Next tells how far the earliest deadline is, and whether there is one. Step by that much fires it.
func (c *Clock) Next() (time.Duration, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.timers.first()
	if t == nil {
		return 0, false
	}
	return t.deadline - c.mono, true
}

// Timers is how many timers, tickers, functions and sleepers wait for the clock.
func (c *Clock) Timers() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.timers.len()
}

// BlockUntil returns when at least n timers, tickers, functions and sleepers wait for the clock: when the code under
// test has come that far. In a bubble, synctest.Wait does better.
func (c *Clock) BlockUntil(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.timers.len() < n {
		c.added.Wait()
	}
}

func mustNotBeNegative(method string, d time.Duration) {
	if d < 0 {
		panic("electortest: Clock." + method + ": the duration " + d.String() + " is negative; only Jump goes back")
	}
}

// plus adds and saturates.
func plus(t, d time.Duration) time.Duration {
	if d > 0 && t > math.MaxInt64-d {
		return math.MaxInt64
	}
	return t + d
}
