// Package lockstest has what tests of locks need, and nothing that belongs in production.
//
// Exercise is one conformance suite for every elector.Lock: those of this module, and those that users write for stores
// of their own.
//
// Server is an API server for Leases and ConfigMaps that checks what the real one checks, over HTTP and in process.
// NewClientset is a clientset on it, for tests that would otherwise use client-go's fake, which checks no resourceVersion.
package lockstest
