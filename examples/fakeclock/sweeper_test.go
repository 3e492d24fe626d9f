package fakeclock

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/electortest"
	"github.com/seed2c765205/elect/locks/memory"
)

// The story of both tests: instance a leads from the start, with the default lease of 15 s, and sweeps after one and two
// minutes. At 2 m 32 s it is cut off from the lock. It renewed the last time at 2 m 30 s, so its term ends 10 s later and
// it does not sweep at three minutes. Instance b leads once the lease has run out, at 2 m 45 s, and sweeps a minute later.
const (
	cutOff = 152 * time.Second
	theEnd = 230 * time.Second
)

func TestOnTheTimeOfABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, clock.RealClock{})
		time.Sleep(cutOff)
		p.way.Cut()
		time.Sleep(theEnd - cutOff)
		synctest.Wait()
		p.check(t)
	})
}

func TestOnAFakeClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := clocktesting.NewFakeClock(time.Now())
		p := newPair(t, fake)
		advance(fake, cutOff)
		p.way.Cut()
		advance(fake, theEnd-cutOff)
		p.check(t)
	})
}

// advance steps a clock. The steps are short, because a step fires a timer only once, however far it goes; and each
// waits until all that the last one has woken has run.
func advance(fake *clocktesting.FakeClock, d time.Duration) {
	const step = 50 * time.Millisecond
	for range d / step {
		fake.Step(step)
		synctest.Wait()
	}
}

// A pair is two instances that share a lock.
type pair struct {
	way *electortest.Lock // a's way to the lock

	mu     sync.Mutex
	sweeps map[string][]time.Duration // when each has swept, since the start
}

func newPair(t *testing.T, c clock.WithDelayedExecution) *pair {
	lock := memory.New()
	p := &pair{way: electortest.NewLock(lock, c), sweeps: map[string][]time.Duration{}}
	p.start(t, "a", c, p.way)
	p.start(t, "b", c, lock)
	return p
}

// start starts an instance and waits until it leads, or has seen who does.
func (p *pair) start(t *testing.T, name string, c clock.WithDelayedExecution, lock elector.Lock) {
	e, err := elector.New(elector.Config{Lock: lock, Identity: name, Clock: c})
	if err != nil {
		t.Fatal(err)
	}
	begin := c.Now()
	s := Sweeper{Elector: e, Clock: c, Sweep: func(context.Context, uint64) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.sweeps[name] = append(p.sweeps[name], c.Since(begin))
		return nil
	}}
	go func() {
		if err := s.Run(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	synctest.Wait()
}

func (p *pair) check(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	a, b := p.sweeps["a"], p.sweeps["b"]
	if len(a) != 2 || a[0] != time.Minute || a[1] != 2*time.Minute {
		t.Errorf("a swept at %v, want 1m and 2m", a)
	}
	// It may have seen the last renewal as late as a RetryPeriod after it, which is 2 s.
	if from := 225 * time.Second; len(b) != 1 || b[0] < from || b[0] > from+3*time.Second {
		t.Errorf("b swept at %v, want once, soon after %v", b, from)
	}
}
