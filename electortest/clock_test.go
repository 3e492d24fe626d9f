package electortest_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/seed2c765205/elect/electortest"
)

// received returns the tick that waits in the channel.
func received(c <-chan time.Time) (time.Time, bool) {
	select {
	case at := <-c:
		return at, true
	default:
		return time.Time{}, false
	}
}

func wantTick(t *testing.T, c <-chan time.Time, want time.Duration) {
	t.Helper()
	at, ok := received(c)
	if !ok || !at.Equal(noon.Add(want)) {
		t.Errorf("received %v (%t), want a tick at noon + %v", at, ok, want)
	}
}

func wantNoTick(t *testing.T, c <-chan time.Time) {
	t.Helper()
	if at, ok := received(c); ok {
		t.Errorf("received a tick of %v, want none", at)
	}
}

func TestTheHandsOfTheClock(t *testing.T) {
	tests := []struct {
		name       string
		move       func(*electortest.Clock)
		wall, mono time.Duration // how far they have moved since the start
	}{
		{"Step", func(c *electortest.Clock) { c.Step(3 * time.Second) }, 3 * time.Second, 3 * time.Second},
		{"Jump", func(c *electortest.Clock) { c.Jump(time.Hour) }, time.Hour, 0},
		{"Jump back", func(c *electortest.Clock) { c.Jump(-time.Hour) }, -time.Hour, 0},
		{"Suspend", func(c *electortest.Clock) { c.Suspend(time.Hour) }, time.Hour, 0},
		{"all of them", func(c *electortest.Clock) {
			c.Step(time.Second)
			c.Jump(time.Minute)
			c.Step(time.Second)
			c.Jump(-time.Hour)
			c.Suspend(10 * time.Minute)
			c.Step(time.Second)
		}, -49*time.Minute + 3*time.Second, 3 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := electortest.NewClock(noon)
			start := c.Now()
			tt.move(c)
			if now := c.Now(); !now.Equal(noon.Add(tt.wall)) || now.Location().String() != "UTC" {
				t.Errorf("Now is %v, want noon + %v in UTC", now, tt.wall)
			}
			if since := c.Since(start); since != tt.mono {
				t.Errorf("Since the start is %v, want %v", since, tt.mono)
			}
		})
	}
}

func TestATimeRemembersHowTheHandsStood(t *testing.T) {
	c := electortest.NewClock(noon)
	first := c.Now()
	c.Step(time.Second)
	c.Jump(time.Hour)
	second := c.Now()
	c.Step(time.Second)
	c.Jump(-24 * time.Hour)
	c.Step(time.Second)
	tests := []struct {
		name string
		t    time.Time
		want time.Duration
	}{
		{"before both jumps", first, 3 * time.Second},
		{"between the jumps", second, 2 * time.Second},
		{"now", c.Now(), 0},
		{"later by Add", first.Add(time.Second), 2 * time.Second},
		{"in the future", second.Add(time.Minute), 2*time.Second - time.Minute},
		{"rounded", second.Round(0), 2 * time.Second},
		{"of unknown origin", c.Now().Add(-time.Minute).UTC(), time.Minute},
		{"without its Location", first.UTC(), -(23*time.Hour - 3*time.Second)},
		{"from another clock", electortest.NewClock(noon.Add(-23 * time.Hour)).Now(), 3 * time.Second},
	}
	for _, tt := range tests {
		if got := c.Since(tt.t); got != tt.want {
			t.Errorf("%s: Since is %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestTimersFireByTheMonotonicHand(t *testing.T) {
	for _, jump := range []time.Duration{time.Hour, -time.Hour} {
		c := electortest.NewClock(noon)
		timer := c.NewTimer(10 * time.Second)
		c.Step(4 * time.Second)
		c.Jump(jump)
		wantNoTick(t, timer.C())
		c.Step(6*time.Second - 1)
		wantNoTick(t, timer.C())
		c.Step(1)
		wantTick(t, timer.C(), jump+10*time.Second)
	}
}

func TestAStepStopsAtEachDeadline(t *testing.T) {
	c := electortest.NewClock(noon)
	start := c.Now()
	var seen []string
	note := func(name string) func() {
		return func() {
			seen = append(seen, fmt.Sprint(name, " ", c.Since(start), " ", c.Now().Sub(start)))
			if name == "b" {
				c.AfterFunc(time.Second, func() { seen = append(seen, fmt.Sprint("set by b ", c.Since(start))) })
			}
		}
	}
	c.AfterFunc(9*time.Second, note("d"))
	c.AfterFunc(3*time.Second, note("a"))
	c.AfterFunc(3*time.Second, note("b"))
	c.AfterFunc(4*time.Second, note("c"))
	c.AfterFunc(11*time.Second, note("too late"))
	c.Step(10 * time.Second)
	want := []string{"a 3s 3s", "b 3s 3s", "c 4s 4s", "set by b 4s", "d 9s 9s"}
	if !slices.Equal(seen, want) {
		t.Errorf("what fired is %q, want %q", seen, want)
	}
	if since := c.Since(start); since != 10*time.Second {
		t.Errorf("the clock has moved by %v, want 10s", since)
	}
}

func TestOneStepLetsWokenGoroutinesSetTheirNextTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := electortest.NewClock(noon, electortest.WithSettle(synctest.Wait))
		start := c.Now()
		var seen []time.Duration
		go func() { // it has not even begun when the step does
			for range 4 {
				c.Sleep(time.Minute)
				seen = append(seen, c.Since(start))
			}
		}()
		c.Step(time.Hour)
		want := []time.Duration{time.Minute, 2 * time.Minute, 3 * time.Minute, 4 * time.Minute}
		if !slices.Equal(seen, want) {
			t.Errorf("it woke after %v, want %v", seen, want)
		}
	})
}

func TestATimerThatHasFiredUnread(t *testing.T) {
	fired := func() (*electortest.Clock, clock.Timer) {
		c := electortest.NewClock(noon)
		timer := c.NewTimer(time.Second)
		c.Step(time.Second)
		return c, timer
	}
	t.Run("is stopped", func(t *testing.T) {
		_, timer := fired()
		if !timer.Stop() {
			t.Error("Stop reports false while the tick was not received")
		}
		wantNoTick(t, timer.C())
		if timer.Stop() {
			t.Error("Stop of a stopped timer reports true")
		}
	})
	t.Run("is reset", func(t *testing.T) {
		c, timer := fired()
		if !timer.Reset(time.Minute) {
			t.Error("Reset reports false while the tick was not received")
		}
		wantNoTick(t, timer.C())
		c.Step(time.Minute)
		wantTick(t, timer.C(), time.Minute+time.Second)
	})
	t.Run("and read", func(t *testing.T) {
		_, timer := fired()
		wantTick(t, timer.C(), time.Second)
		if timer.Reset(time.Second) {
			t.Error("Reset reports true after the tick was received")
		}
	})
}

func TestATimerThatIsSet(t *testing.T) {
	c := electortest.NewClock(noon)
	timer := c.NewTimer(time.Second)
	if !timer.Reset(3 * time.Second) {
		t.Error("Reset reports false")
	}
	c.Step(2 * time.Second)
	wantNoTick(t, timer.C())
	if !timer.Stop() {
		t.Error("Stop reports false")
	}
	c.Step(time.Hour)
	wantNoTick(t, timer.C())
	if n := c.Timers(); n != 0 {
		t.Errorf("%d timers are left", n)
	}
}

func TestWhatIsDueFiresAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := electortest.NewClock(noon)
		for _, d := range []time.Duration{0, -time.Second} {
			timer := c.NewTimer(d)
			wantTick(t, timer.C(), 0)
			timer.Reset(d)
			wantTick(t, timer.C(), 0)
			wantTick(t, c.After(d), 0)
			c.Sleep(d)
			called := make(chan struct{})
			var mu sync.Mutex
			mu.Lock()
			c.AfterFunc(d, func() { mu.Lock(); close(called) }) // not on this goroutine
			mu.Unlock()
			<-called
		}
		c.NewTimer(math.MaxInt64)
		c.Step(1)
		c.NewTimer(math.MaxInt64) // is not in the past
		if n := c.Timers(); n != 2 {
			t.Errorf("%d timers are set, want 2", n)
		}
	})
}

func TestAFunctionMayUseTheClock(t *testing.T) {
	c := electortest.NewClock(noon)
	var timer clock.Timer
	calls := 0
	timer = c.AfterFunc(time.Second, func() {
		calls++
		if timer.Stop() || timer.Reset(time.Second) {
			t.Error("Stop or Reset of a function that runs reports true")
		}
		c.Jump(time.Minute)
	})
	c.Step(3500 * time.Millisecond)
	if calls != 3 || !c.Now().Equal(noon.Add(3*time.Minute+3500*time.Millisecond)) {
		t.Errorf("%d calls until %v", calls, c.Now())
	}
	if timer.C() != nil || !timer.Stop() {
		t.Error("the timer of a function has a channel, or cannot be stopped")
	}
}

func TestTickers(t *testing.T) {
	c := electortest.NewClock(noon)
	ticker := c.NewTicker(10 * time.Second)
	c.Step(25 * time.Second)
	wantTick(t, ticker.C(), 10*time.Second) // the next was dropped
	wantNoTick(t, ticker.C())
	c.Step(5 * time.Second)
	wantTick(t, ticker.C(), 30*time.Second)
	c.Step(10 * time.Second)
	ticker.Stop()
	wantNoTick(t, ticker.C())
	tick := c.Tick(time.Second)
	c.Step(time.Second)
	wantTick(t, tick, 41*time.Second)
	if c.Tick(0) != nil {
		t.Error("Tick(0) is not nil")
	}
}

func TestNextAndBlockUntil(t *testing.T) {
	c := electortest.NewClock(noon)
	if d, ok := c.Next(); ok {
		t.Errorf("there is a deadline in %v", d)
	}
	var slept sync.WaitGroup
	for i := range 3 {
		slept.Go(func() { c.Sleep(time.Duration(i+1) * time.Second) })
	}
	c.BlockUntil(3)
	for range 3 {
		d, ok := c.Next()
		if !ok || d != time.Second {
			t.Fatalf("the next deadline is in %v (%t), want 1s", d, ok)
		}
		c.Step(d)
	}
	slept.Wait()
}

func TestWrongUsePanics(t *testing.T) {
	c := electortest.NewClock(noon)
	for name, f := range map[string]func(){
		"Step":      func() { c.Step(-1) },
		"Suspend":   func() { c.Suspend(-1) },
		"NewTicker": func() { c.NewTicker(0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s does not panic", name)
				}
			}()
			f()
		}()
	}
}

func TestTheClockIsSafeForConcurrentUse(t *testing.T) {
	c := electortest.NewClock(noon)
	start := c.Now()
	ctx, cancel := context.WithCancel(t.Context())
	var users sync.WaitGroup
	for range 4 {
		users.Go(func() {
			timer := c.NewTimer(time.Second)
			defer timer.Stop()
			for ctx.Err() == nil {
				timer.Reset(time.Millisecond)
				c.AfterFunc(time.Millisecond, func() {}).Stop()
				c.Since(c.Now())
				c.Jump(1)
				received(timer.C())
			}
		})
	}
	var steppers sync.WaitGroup
	for range 4 {
		steppers.Go(func() {
			for range 250 {
				c.Step(time.Millisecond)
			}
		})
	}
	steppers.Wait()
	cancel()
	users.Wait()
	if since := c.Since(start); since != time.Second {
		t.Errorf("1000 steps of a millisecond are %v", since)
	}
}
