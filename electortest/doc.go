// Package electortest helps to test what is built on an elector: a clock with two hands, a lock that can fail, and
// expectations on streams of events. It needs no cluster.
//
//   - In a testing/synctest bubble an elector needs no fake clock at all: bubble time is exact, and Expect lets it pass.
//   - Clock is for what a bubble cannot do: jumps of the wall clock and suspended machines. In a bubble, with
//     Settle(synctest.Wait), one Step of an hour shows every event of that hour at its exact time.
//   - Lock stands between one candidate and the lock that it shares with others, and cuts it off, slows it down, loses
//     its answers, lets its calls hang, refuses them, or damages the record.
//   - NewTerm makes an events.Term for code that takes one.
package electortest
