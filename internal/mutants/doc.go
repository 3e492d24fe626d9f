// Package mutants proves that the tests can fail: bugs.txt holds small bugs, each against one rule, and the test plants
// them one after another and expects some test to catch each.
//
// `go test` checks only that every bug still fits the code; `make mutants` plants them, which takes minutes.
package mutants
