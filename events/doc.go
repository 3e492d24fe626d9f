// Package events is what an elector tells: when it leads, when it must stop, who leads otherwise, and what went wrong.
//
// An Event is one of Acquired, Renewed, Lost, LeaderChanged and Error, and is read by a type switch:
//
//	for e := range elector.Events() {
//		switch e := e.(type) {
//		case events.Acquired:
//			e.Term.Go(work)
//		case events.Lost:
//			log.Print(e)
//		}
//	}
//
// # Order and loss
//
// All readers of one elector see its events in one order, and Acquired and Lost strictly alternate, starting with
// Acquired: there is no Lost without an Acquired.
//
// The elector never waits for a reader. One that is late misses what no longer matters, and is told how much: a newer
// Renewed, Error of the same operation and class, or LeaderChanged takes the place of an older one. Acquired and Lost
// are all there while the reader is at most 64 terms behind; beyond that, whole terms of which it has read nothing go,
// the oldest first. A Lost whose Acquired was read is never dropped.
//
// A term's context is cancelled before its Lost can be read, so that work which runs under it needs no Lost to stop.
//
// # Fields
//
// Times are on the elector's wall clock and durations on its monotonic one. A field that is not known is zero.
package events
