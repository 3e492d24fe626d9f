// Package elector elects one leader among candidates that share a Lock, and tells each on a channel when it leads and
// when it must stop.
//
//	e, err := elector.New(elector.Config{Lock: lock})
//	go e.Run(ctx)
//	for event := range e.Events() {
//		switch event := event.(type) {
//		case events.Acquired:
//			event.Term.Go(work) // work's context ends before Lost can be read
//		case events.Lost:
//			log.Print(event)
//		}
//	}
//
// # Model
//
// The lock holds one record: who holds it, and for how long it asks others to wait. A candidate writes the record by
// compare-and-swap to acquire, renews it every RenewPeriod, and trusts each write for RenewDeadline, counted from its
// send. Others wait until the record has not changed for the LeaseDuration that it names, on their own monotonic
// clock. RenewDeadline is shorter than LeaseDuration, so a leader stops before another begins, as long as their clocks
// run at rates that differ by less than Config.Tolerance. No wall-clock time is ever compared between machines.
//
// # States
//
//	    +------------- another holds, or the write was not stored --------------+
//	    v                                                                       |
//	Following -- the lock is free --> Acquiring -- the write is stored --> Leading
//	    ^                                                                       |
//	    +-- work done, lease released or gone -- Draining <-- trust ends, taken -+
//	                                        |                 stop, resign, ...
//	                                        +-- told to stop --> Stopped
//
// A term lasts from an Acquired to its Lost. When it ends, for whatever reason, its context is cancelled first; its
// lease is kept while work that holds the term winds down, and only then given back.
//
// # What a caller owes
//
// Work that needs the leadership runs under the term's context and stops soon when that ends. A process that was
// frozen, or a write on its way when the term ended, can still reach a third system after another leader has begun:
// only a store that compares Term.Token can refuse it. Without such a fence, no elector excludes that.
//
// # What is not promised
//
// That somebody leads: when the lock's server is out of reach, trust runs out and nobody does. That the token grows
// when the server is restored from a backup. That a term lasts: an administrator, a twin with the same identity or a
// foreign program may take the lock at any time; the leader learns it from its next write or read.
//
// docs/DESIGN.md has the failure model, the derivation of the trust window, and the contract of a Lock.
package elector
