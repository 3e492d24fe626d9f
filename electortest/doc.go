// Package electortest helps to test what is built on an elector: a clock with two hands, a lock that can fail, and
// expectations on streams of events. It needs no cluster.
//
//   - In a testing/synctest bubble an elector needs no fake clock at all: bubble time is exact, and Expect lets it pass.
//   - Clock is for what a bubble cannot do: jumps of the wall clock and suspended machines. In a bubble, with
//     Settle(synctest.Wait), one Step of an hour shows every event of that hour at its exact time.
//   - Lock stands between one candidate and the lock that it shares with others, and cuts it off, slows it down, loses
//     its answers, lets its calls hang, refuses them, or damages the record.
//   - NewTerm makes an events.Term for code that takes one.
//
// A test of a whole fail-over is exact, and takes no time:
//
//	func TestFailOver(t *testing.T) {
//		synctest.Test(t, func(t *testing.T) {
//			shared := locks.NewMemory()
//			lock := electortest.NewLock(shared, nil)
//			first, _ := elector.New(elector.Config{Lock: lock, Identity: "first"})
//			second, _ := elector.New(elector.Config{Lock: shared, Identity: "second"})
//			ctx, cancel := context.WithCancel(t.Context())
//			go first.Run(ctx)
//			electortest.Expect[events.Acquired](t, first.Events())
//			go second.Run(ctx)
//			time.Sleep(time.Minute)
//			synctest.Wait()
//
//			lock.BlackHole() // the last renewal was sent at this instant
//			cutOff := time.Now()
//			lost := electortest.Expect[events.Lost](t, first.Events())
//			fmt.Println(lost.Time.Sub(cutOff), lost) // after 10s: expired
//			acquired := electortest.Expect[events.Acquired](t, second.Events())
//			fmt.Println(acquired.Previous, acquired.How) // first, expired
//
//			lock.Heal()
//			cancel()
//			_, _ = first.Close(context.Background()), second.Close(context.Background())
//		})
//	}
package electortest
