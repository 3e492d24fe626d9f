// Package electortest has what tests of elections need, and tests of services that take part in them:
//
//   - Clock is a fake clock with two hands, for steps, wall jumps and suspends.
//   - Lock puts faults on one candidate's way to a lock.
//   - Expect reads events until those came that were expected, and tells what came if they did not.
//   - Term is an events.Term without an elector, for code that takes one.
//
// Together with the lock in memory (locks.NewMemory), a testing/synctest bubble and Clock's WithSettle, a test of a
// whole fail-over is exact and takes no time:
//
//	func TestFailOver(t *testing.T) {
//		synctest.Test(t, func(t *testing.T) {
//			clock := electortest.NewClock(time.Now(), electortest.WithSettle(synctest.Wait))
//			shared := locks.NewMemory()
//			lock := electortest.NewLock(shared, clock)
//			first, _ := elector.New(elector.Config{Lock: lock, Identity: "first", Clock: clock})
//			second, _ := elector.New(elector.Config{Lock: shared, Identity: "second", Clock: clock})
//			ctx, cancel := context.WithCancel(t.Context())
//			go first.Run(ctx)
//			clock.Step(time.Second)
//			go second.Run(ctx)
//			clock.Step(time.Minute)
//
//			lock.BlackHole()
//			clock.Step(time.Minute)
//			electortest.Expect(t, first.Events(), electortest.Acquired(), electortest.Lost(events.ReasonExpired))
//			electortest.Expect(t, second.Events(), electortest.Acquired(events.HowExpired))
//
//			lock.Heal()
//			cancel()
//			clock.Step(time.Minute)
//			_, _ = first.Close(context.Background()), second.Close(context.Background())
//		})
//	}
//
// Nothing here is meant for programs that are not tests.
package electortest
