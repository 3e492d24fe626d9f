// Package delivery carries events from one elector to its readers.
//
// # Concurrency properties
//
// The elector publishes from one goroutine and never waits for a reader. All readers see the events in the order in
// which they were published. Each reader has a queue of its own, which is bounded: what a reader has not read yet is
// thinned out by the rules below, so that it costs little however late it is, and still tells the truth.
//
//   - Acquired and Lost of every term are kept while the reader is at most 64 terms behind. Beyond that the oldest
//     whole unread terms go, and the next unread Acquired counts them in Skipped.
//   - A Lost whose Acquired was read is never dropped.
//   - Of the unread LeaderChanged only the latest stays. Its From is the leader that the reader last heard of; if
//     that is also its To, nothing changed for this reader and it goes too.
//   - Of the unread Renewed of one term, and of the unread Errors of one operation and class, only the latest stays,
//     at its own place in the order, and counts the others in Skipped.
//
// An event is unread until the reader has received it from its channel. The channel holds one event at most, and the
// reader's pump, which alone sends on it, takes that event back whenever something new is published. So the rules hold
// for it too, and an end of all deliveries leaves behind nothing but a Lost that the reader is owed.
//
// The queue is the rules alone, without goroutine or lock; the reader is one queue, one channel and one goroutine; the
// Hub is all readers of one elector.
package delivery
