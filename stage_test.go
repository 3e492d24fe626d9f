package elect_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/electortest"
	"github.com/seed2c765205/elect/events"
	"github.com/seed2c765205/elect/locks/memory"
)

// A stage is one lock, one source of time, and the candidates on it. It lives in a synctest bubble.
type stage struct {
	t      *testing.T
	clock  clock.WithDelayedExecution
	pass   func(time.Duration) // lets time pass, and everything happen that it brings about
	start  time.Time
	shared *memory.Lock
}

// onEveryClock runs a test on bubble time, on the stock fake clock, and on the two-handed one.
func onEveryClock(t *testing.T, test func(*stage)) {
	epoch := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, newClock := range map[string]func() (clock.WithDelayedExecution, func(time.Duration)){
		"bubble time": bubbleTime,
		"stock fake clock": func() (clock.WithDelayedExecution, func(time.Duration)) {
			c := clocktesting.NewFakeClock(epoch)
			return c, func(d time.Duration) { stepFinely(c, d) }
		},
		"two-handed clock": func() (clock.WithDelayedExecution, func(time.Duration)) {
			c := electortest.NewClock(epoch)
			c.Settle(synctest.Wait)
			return c, c.Step
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, pass := newClock()
				test(newStage(t, c, pass))
			})
		})
	}
}

// onStage runs a test on bubble time.
func onStage(t *testing.T, test func(*stage)) {
	synctest.Test(t, func(t *testing.T) {
		c, pass := bubbleTime()
		test(newStage(t, c, pass))
	})
}

func newStage(t *testing.T, c clock.WithDelayedExecution, pass func(time.Duration)) *stage {
	return &stage{t: t, clock: c, pass: pass, start: c.Now(), shared: memory.New()}
}

func bubbleTime() (clock.WithDelayedExecution, func(time.Duration)) {
	return clock.RealClock{}, func(d time.Duration) {
		time.Sleep(d)
		synctest.Wait()
	}
}

// stepFinely moves the stock fake clock in steps that are shorter than any deadline is long: it shows the time of the
// end of a step to all that fires in it.
func stepFinely(c *clocktesting.FakeClock, d time.Duration) {
	const step = time.Millisecond
	synctest.Wait()
	for ; d > 0; d -= step {
		c.Step(min(d, step))
		synctest.Wait()
	}
}

// now is the time since the stage was set.
func (s *stage) now() time.Duration { return s.clock.Since(s.start) }

// A candidate is an elector that runs, with a lock of its own that can fail, and a reader that notes its events.
type candidate struct {
	*elector.Elector
	lock *electortest.Lock
	stop context.CancelFunc
	done chan struct{}
	err  error

	mu    sync.Mutex
	log   []events.Event
	heard []time.Duration // when each was read
}

// enter makes a candidate and runs it until the test ends.
func (s *stage) enter(name string, change ...func(*elector.Config)) *candidate {
	s.t.Helper()
	c := s.make(name, change...)
	go s.listen(c)
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	go func() {
		defer close(c.done)
		c.err = c.Run(ctx)
	}()
	s.t.Cleanup(func() {
		c.lock.Heal()
		stop()
		s.pass(time.Minute)
		_ = c.Close(context.Background())
		<-c.done
	})
	synctest.Wait()
	return c
}

// make makes a candidate that neither runs nor reads.
func (s *stage) make(name string, change ...func(*elector.Config)) *candidate {
	s.t.Helper()
	c := &candidate{lock: electortest.NewLock(s.shared, s.clock), done: make(chan struct{})}
	config := elector.Config{Lock: c.lock, Identity: name, Clock: s.clock}
	for _, f := range change {
		f(&config)
	}
	e, err := elector.New(config)
	if err != nil {
		s.t.Fatal(err)
	}
	c.Elector = e
	return c
}

func (s *stage) listen(c *candidate) {
	for e := range c.Events() {
		c.mu.Lock()
		c.log, c.heard = append(c.log, e), append(c.heard, s.now())
		c.mu.Unlock()
	}
}

func (c *candidate) events() []events.Event {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.log)
}

// all returns the events of one kind.
func all[E events.Event](c *candidate) (found []E) {
	for _, e := range c.events() {
		if e, ok := e.(E); ok {
			found = append(found, e)
		}
	}
	return found
}

// last returns the last event of one kind.
func last[E events.Event](t *testing.T, c *candidate) E {
	t.Helper()
	found := all[E](c)
	if len(found) == 0 {
		var none E
		t.Fatalf("there is no %T in %v", none, c.events())
	}
	return found[len(found)-1]
}

// heardAt is when the last event of one kind was read.
func heardAt[E events.Event](c *candidate) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := len(c.log) - 1; i >= 0; i-- {
		if _, ok := c.log[i].(E); ok {
			return c.heard[i]
		}
	}
	return -1
}

// mustTerm returns the term that is on.
func (c *candidate) mustTerm(t *testing.T) events.Term {
	t.Helper()
	term, ok := c.Term()
	if !ok {
		t.Fatalf("%s does not lead: %v", c.Status().Identity, c.events())
	}
	return term
}

// story is what the candidates have told of late, in the order in which it was read.
func (s *stage) story(crowd []*candidate) string {
	type line struct {
		at   time.Duration
		text string
	}
	var lines []line
	for _, c := range crowd {
		for i, e := range c.events() {
			lines = append(lines, line{c.heard[i], fmt.Sprintf("%12v  %s  %v", c.heard[i], c.Status().Identity, e)})
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return int(a.at - b.at) })
	var b strings.Builder
	for _, l := range lines[max(0, len(lines)-40):] {
		b.WriteString("\n" + l.text)
	}
	return b.String()
}

// ourGoroutines counts the goroutines that run code of the elector or of its delivery.
func ourGoroutines() (n int) {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for goroutine := range strings.SplitSeq(string(stacks), "\n\n") {
		if strings.Contains(goroutine, "elect/elector.") || strings.Contains(goroutine, "elect/internal/delivery.") {
			n++
		}
	}
	return n
}
