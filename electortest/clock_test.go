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

	"github.com/seed2c765205/elect/electortest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const (
	sec    = time.Second
	minute = time.Minute
)

func wantNow(t *testing.T, c *electortest.Clock, want time.Time) {
	t.Helper()
	if got := c.Now(); !got.Equal(want) {
		t.Errorf("Now is %v, want %v", got, want)
	}
}

func wantSince(t *testing.T, c *electortest.Clock, at time.Time, want time.Duration) {
	t.Helper()
	if got := c.Since(at); got != want {
		t.Errorf("Since(%v) is %v, want %v", at, got, want)
	}
}

// wantTick expects that a timer has fired when the wall hand showed this; zero: that it has not.
func wantTick(t *testing.T, c <-chan time.Time, want time.Time) {
	t.Helper()
	select {
	case got := <-c:
		if !got.Equal(want) || want.IsZero() {
			t.Errorf("a tick of %v, want %v", got, want)
		}
	default:
		if !want.IsZero() {
			t.Errorf("no tick, want %v", want)
		}
	}
}

func TestBothHandsStandStillUntilStepped(t *testing.T) {
	c := electortest.NewClock(noon.In(time.FixedZone("east", 3600)))
	first := c.Now()
	wantNow(t, c, noon)
	wantSince(t, c, first, 0)
	c.Step(5 * sec)
	wantNow(t, c, noon.Add(5*sec))
	wantSince(t, c, first, 5*sec)
	c.Step(0)
	c.Step(-minute)
	wantNow(t, c, noon.Add(5*sec))
	wantSince(t, c, first, 5*sec)
	c.Step(sec)
	wantSince(t, c, first, 6*sec)
}

func TestTimesPrintAsUTC(t *testing.T) {
	c := electortest.NewClock(noon)
	c.Jump(minute)
	if got, want := c.Now().String(), noon.Add(minute).String(); got != want {
		t.Errorf("Now prints as %s, want %s", got, want)
	}
	if got, want := c.Now().Format(time.RFC3339Nano), "2026-03-01T12:01:00Z"; got != want {
		t.Errorf("Now is formatted as %s, want %s", got, want)
	}
}

func TestSinceMeasuresTheMonotonicHandOverJumps(t *testing.T) {
	tests := []struct {
		name string
		move func(*electortest.Clock)
		wall time.Duration
	}{
		{"forward", func(c *electortest.Clock) { c.Jump(minute) }, minute},
		{"backward", func(c *electortest.Clock) { c.Jump(-minute) }, -minute},
		{"there and back", func(c *electortest.Clock) { c.Jump(minute); c.Jump(-minute) }, 0},
		{"many", func(c *electortest.Clock) { c.Jump(minute); c.Jump(sec); c.Jump(-2 * sec) }, 59 * sec},
		{"asleep", func(c *electortest.Clock) { c.Suspend(minute) }, minute},
		{"not asleep", func(c *electortest.Clock) { c.Suspend(0); c.Suspend(-minute) }, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := electortest.NewClock(noon)
			before := c.Now()
			c.Step(3 * sec)
			tt.move(c)
			wantNow(t, c, noon.Add(3*sec+tt.wall))
			wantSince(t, c, before, 3*sec)
			after := c.Now()
			wantSince(t, c, after, 0)
			c.Step(4 * sec)
			wantNow(t, c, noon.Add(7*sec+tt.wall))
			wantSince(t, c, before, 7*sec)
			wantSince(t, c, after, 4*sec)
		})
	}
}

func TestATimeRemembersWhenItWasReadThroughAddAndRound(t *testing.T) {
	c := electortest.NewClock(noon)
	before := c.Now()
	c.Step(10 * sec)
	c.Jump(time.Hour)
	wantSince(t, c, before.Round(0), 10*sec)
	wantSince(t, c, before.Add(4*sec), 6*sec)
	wantSince(t, c, before.Add(time.Hour).Truncate(sec), 10*sec-time.Hour)
}

func TestATimeOfOtherOriginIsMeasuredOnTheWallAsItIs(t *testing.T) {
	c := electortest.NewClock(noon)
	before := c.Now()
	c.Step(10 * sec)
	c.Jump(time.Hour)
	wantSince(t, c, noon, time.Hour+10*sec)
	wantSince(t, c, before.UTC(), time.Hour+10*sec)
	wantSince(t, c, noon.Add(2*time.Hour), 10*sec-time.Hour)
	wantSince(t, c, electortest.NewClock(noon).Now(), time.Hour+10*sec)
}

func TestATimerFiresByTheMonotonicHand(t *testing.T) {
	c := electortest.NewClock(noon)
	timer := c.NewTimer(10 * sec)
	c.Step(9 * sec)
	c.Jump(time.Hour)
	c.Jump(-3 * time.Hour)
	c.Suspend(time.Hour)
	wantTick(t, timer.C(), time.Time{})
	c.Step(sec - 1)
	wantTick(t, timer.C(), time.Time{})
	c.Step(1)
	wantTick(t, timer.C(), noon.Add(10*sec-time.Hour))
	c.Step(time.Hour)
	wantTick(t, timer.C(), time.Time{})
}

func TestTimersFireInOrderWithBothHandsAtTheirDeadline(t *testing.T) {
	c := electortest.NewClock(noon)
	first := c.Now()
	var got []string
	note := func(name string) func() {
		return func() { got = append(got, fmt.Sprint(name, " ", c.Since(first), " ", c.Now().Format("05"))) }
	}
	c.AfterFunc(3*sec, note("c"))
	c.AfterFunc(1*sec, func() {
		note("a")()
		c.AfterFunc(1*sec, note("armed by a"))
		c.AfterFunc(9*sec, note("too late"))
	})
	c.AfterFunc(2*sec, note("b"))
	c.AfterFunc(2*sec, note("b again"))
	c.AfterFunc(5*sec, note("d"))
	c.AfterFunc(5*sec+1, note("later"))
	c.Step(5 * sec)
	want := []string{"a 1s 01", "b 2s 02", "b again 2s 02", "armed by a 2s 02", "c 3s 03", "d 5s 05"}
	if !slices.Equal(got, want) {
		t.Errorf("fired\n%q, want\n%q", got, want)
	}
	if n := c.Waiters(); n != 2 {
		t.Errorf("%d timers wait, want 2", n)
	}
}

func TestAFunctionMayUseTheClock(t *testing.T) {
	c := electortest.NewClock(noon)
	timer, fired := c.NewTimer(2*sec), 0
	c.AfterFunc(sec, func() {
		fired++
		c.Jump(time.Hour)
		timer.Reset(2 * sec)
		c.Step(sec)
	})
	c.Step(2 * sec)
	if fired != 1 {
		t.Errorf("the function ran %d times", fired)
	}
	wantNow(t, c, noon.Add(time.Hour+3*sec))
	wantTick(t, timer.C(), noon.Add(time.Hour+3*sec))
}

func TestStopAndReset(t *testing.T) {
	c := electortest.NewClock(noon)
	at := func(d time.Duration) time.Time { return noon.Add(d) }
	timer := c.NewTimer(sec)
	steps := []struct {
		name string
		do   func() bool
		want bool
		step time.Duration
		tick time.Time
	}{
		{"stop an armed one", timer.Stop, true, 10 * sec, time.Time{}},
		{"stop it again", timer.Stop, false, 10 * sec, time.Time{}},
		{"reset a stopped one", func() bool { return timer.Reset(sec) }, false, sec, at(21 * sec)},
		{"stop a fired, read one", timer.Stop, false, sec, time.Time{}},
		{"reset a fired, read one", func() bool { return timer.Reset(2 * sec) }, false, sec, time.Time{}},
		{"reset an armed one", func() bool { return timer.Reset(5 * sec) }, true, 4 * sec, time.Time{}},
		{"no time", func() bool { return true }, true, sec, at(28 * sec)},
	}
	for _, s := range steps {
		if got := s.do(); got != s.want {
			t.Errorf("%s: %t, want %t", s.name, got, s.want)
		}
		c.Step(s.step)
		wantTick(t, timer.C(), s.tick)
	}
}

// With the stock fake clock a fired unread timer that is reset blocks the next Step for ever.
func TestAFiredUnreadTimerLeavesNoStaleTick(t *testing.T) {
	c := electortest.NewClock(noon)
	timer := c.NewTimer(sec)
	c.Step(sec)
	if !timer.Reset(sec) {
		t.Error("Reset of a fired unread timer returns false")
	}
	wantTick(t, timer.C(), time.Time{})
	c.Step(sec)
	if !timer.Stop() {
		t.Error("Stop of a fired unread timer returns false")
	}
	wantTick(t, timer.C(), time.Time{})
	timer.Reset(sec)
	c.Step(5 * sec)
	wantTick(t, timer.C(), noon.Add(3*sec))
}

func TestWhatIsSetToZeroOrLessFiresAtOnce(t *testing.T) {
	for _, d := range []time.Duration{0, -sec, math.MinInt64} {
		synctest.Test(t, func(t *testing.T) {
			c := electortest.NewClock(noon)
			wantTick(t, c.NewTimer(d).C(), noon)
			wantTick(t, c.After(d), noon)
			c.Sleep(d)
			timer := c.NewTimer(sec)
			timer.Reset(d)
			wantTick(t, timer.C(), noon)

			var mu sync.Mutex
			ran := 0
			f := func() { mu.Lock(); ran++; mu.Unlock() }
			mu.Lock()
			c.AfterFunc(d, f)
			c.AfterFunc(sec, f).Reset(d)
			mu.Unlock()
			synctest.Wait()
			if ran != 2 {
				t.Errorf("%v: %d functions ran, want 2", d, ran)
			}
			if n := c.Waiters(); n != 0 {
				t.Errorf("%v: %d timers wait, want 0", d, n)
			}
		})
	}
}

func TestAfterFunc(t *testing.T) {
	c := electortest.NewClock(noon)
	ran := 0
	timer := c.AfterFunc(sec, func() { ran++ })
	if timer.C() != nil {
		t.Error("it has a channel")
	}
	c.Step(sec)
	if ran != 1 || timer.Stop() {
		t.Errorf("it ran %d times when Step returned, want once", ran)
	}
	timer.Reset(sec)
	if !timer.Stop() || timer.Stop() {
		t.Error("Stop does not tell that it kept an armed one from firing")
	}
	c.Step(minute)
	timer.Reset(sec)
	c.Step(sec)
	if ran != 2 {
		t.Errorf("it ran %d times, want twice", ran)
	}
}

func TestTickers(t *testing.T) {
	c := electortest.NewClock(noon)
	ticker, tick := c.NewTicker(2*sec), c.Tick(3*sec)
	c.Step(2 * sec)
	wantTick(t, ticker.C(), noon.Add(2*sec))
	c.Step(7 * sec)
	wantTick(t, ticker.C(), noon.Add(4*sec)) // those of 6 and 8 s were skipped
	wantTick(t, ticker.C(), time.Time{})
	wantTick(t, tick, noon.Add(3*sec))
	c.Step(sec)
	wantTick(t, ticker.C(), noon.Add(10*sec))
	c.Step(2 * sec)
	ticker.Stop()
	wantTick(t, ticker.C(), time.Time{})
	wantTick(t, tick, noon.Add(12*sec))
	c.Step(minute)
	wantTick(t, ticker.C(), time.Time{})
}

func TestATickerOfZeroOrLessNeverTicks(t *testing.T) {
	c := electortest.NewClock(noon)
	ticker := c.NewTicker(0)
	if c.Tick(0) != nil || c.Tick(-1) != nil {
		t.Error("Tick gives a channel")
	}
	c.Step(minute)
	wantTick(t, ticker.C(), time.Time{})
	ticker.Stop()
}

func TestTheHandsStopAtTheEndOfTime(t *testing.T) {
	c := electortest.NewClock(noon)
	first, fired := c.Now(), 0
	c.Step(sec)
	c.AfterFunc(math.MaxInt64, func() { fired++ })
	ticker := c.NewTicker(math.MaxInt64 / 2)
	c.Step(math.MaxInt64)
	c.Step(math.MaxInt64)
	wantSince(t, c, first, math.MaxInt64)
	if fired != 1 {
		t.Errorf("the function ran %d times, want once", fired)
	}
	ticker.Stop()
	if n := c.Waiters(); n != 0 {
		t.Errorf("%d timers wait, want 0", n)
	}
}

func TestNextTellsWhenTheNextTimerFires(t *testing.T) {
	c := electortest.NewClock(noon)
	if d, ok := c.Next(); ok || d != 0 {
		t.Errorf("without timers Next is %v, %t", d, ok)
	}
	c.NewTimer(5 * sec)
	timer := c.NewTimer(3 * sec)
	c.Step(sec)
	if d, ok := c.Next(); !ok || d != 2*sec {
		t.Errorf("Next is %v, %t, want 2s", d, ok)
	}
	timer.Stop()
	if d, ok := c.Next(); !ok || d != 4*sec {
		t.Errorf("Next is %v, %t, want 4s", d, ok)
	}
}

func TestAwaitWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := electortest.NewClock(noon)
		c.AwaitWaiters(0)
		reached := false
		go func() { c.AwaitWaiters(2); reached = true }()
		c.NewTimer(sec)
		synctest.Wait()
		if reached {
			t.Error("it returned with one timer")
		}
		c.NewTimer(sec)
		synctest.Wait()
		if !reached {
			t.Error("it did not return with two timers")
		}
	})
}

// A loop that arms its next timer only when it was woken is driven exactly by one long step.
func TestSettleMakesALongStepExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := electortest.NewClock(noon)
		c.Settle(synctest.Wait)
		ctx, cancel := context.WithCancel(t.Context())
		var got []string
		go func() {
			timer := c.NewTimer(3 * sec)
			for {
				select {
				case <-timer.C():
					got = append(got, c.Now().Format("05"))
					timer.Reset(3 * sec)
				case <-ctx.Done():
					return
				}
			}
		}()
		c.Step(10 * sec)
		if want := []string{"03", "06", "09"}; !slices.Equal(got, want) {
			t.Errorf("the loop woke at %q, want %q", got, want)
		}
		cancel()
		c.Settle(nil)
		c.Step(sec)
	})
}

func TestSleepEndsWhenTheClockWasMoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := electortest.NewClock(noon)
		awake := false
		go func() { c.Sleep(2 * sec); awake = true }()
		c.AwaitWaiters(1)
		c.Step(2*sec - 1)
		synctest.Wait()
		if awake {
			t.Error("it woke too early")
		}
		c.Step(1)
		synctest.Wait()
		if !awake {
			t.Error("it did not wake")
		}
	})
}

func TestAllAtOnce(t *testing.T) {
	c := electortest.NewClock(noon)
	first := c.Now()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			timer, ticker := c.NewTimer(sec), c.NewTicker(2*sec)
			for i := range 200 {
				c.Step(sec / 4)
				c.Jump(time.Duration(i%3-1) * minute)
				c.Since(c.Now())
				timer.Reset(time.Duration(i%5) * sec)
				c.AfterFunc(time.Duration(i%4)*sec, func() { c.Now() })
				select {
				case <-timer.C():
				case <-ticker.C():
				default:
				}
				c.Next()
				c.Waiters()
			}
			timer.Stop()
			ticker.Stop()
		})
	}
	all.Wait()
	wantSince(t, c, first, 8*200*sec/4)
	c.Step(3 * sec)
	if n := c.Waiters(); n != 0 {
		t.Errorf("%d timers wait, want 0", n)
	}
}
