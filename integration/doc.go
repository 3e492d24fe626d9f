// Package integration holds tests of the whole against a real Kubernetes control plane: that locks keep their contract,
// that processes hand over and fail over, and that locks/lockstest behaves as the real API server does.
//
// Two tests go on for as long as they are told to, and write down what they saw. docs/beside-client-go.json and
// docs/rubbish.json are from
//
//	BESIDE_TERMS=200 BESIDE_REPORT=../docs/beside-client-go.json go test -count=1 -timeout=30m -run TestLeadsBesideClientGoOnOneLease .
//	RUBBISH_SECONDS=300 RUBBISH_REPORT=../docs/rubbish.json go test -count=1 -timeout=30m -run TestSurvivesRubbish .
//
// The first lets processes of this library and of client-go compete for one Lease, the second puts candidates behind a
// proxy that answers nothing but rubbish at times. BESIDE_SEED and RUBBISH_SEED repeat what a test draws by lot.
//
// It is a module of its own, so that what the tests need is not required of users.
package integration
