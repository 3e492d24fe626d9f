// Package integration holds tests of the whole against a real Kubernetes control plane: that locks keep their contract,
// that processes hand over and fail over, and that locks/lockstest behaves as the real API server does.
//
// It is a module of its own, so that what the tests need is not required of users.
package integration
