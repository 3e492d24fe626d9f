// Package elect is the root of a leader election library for Kubernetes: an event-driven state machine that tells a
// program, on a channel, when it leads and when it must stop.
//
// The root holds the backoff policies only. The election is in the package elector, what it tells in events, the locks
// in locks, and what tests of a program that elects need in electortest.
package elect
