package elector

import (
	"errors"
	"fmt"

	"github.com/seed2c765205/elect/events"
)

var (
	// ErrRunning: another driver runs the elector, or Run was called a second time.
	ErrRunning = errors.New("elector: already running")
	// ErrClosed: the elector was closed before it was run.
	ErrClosed = errors.New("elector: closed")
	// ErrResign is what work returns to step down: the lease is released, and the elector contends again after
	// Config.CoolDown.
	ErrResign = errors.New("elector: the work asks to step down")
	// ErrInsideWork: Resign or Close was called with the context of the work that it would wait for. Such work returns
	// ErrResign instead, or calls from another goroutine without waiting.
	ErrInsideWork = errors.New("elector: called from inside the work that it would wait for; return ErrResign instead")
)

// LostError tells why a term ended. It is the cause of the term's context.
type LostError struct {
	Reason events.Reason
	Holder string // the new holder, if it is known
	Err    error  // what ended the term, or the last failure before it; may be nil
}

func (e *LostError) Error() string {
	s := "elector: leadership lost: " + e.Reason.String()
	if e.Holder != "" {
		s += fmt.Sprintf(" by %q", e.Holder)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *LostError) Unwrap() error { return e.Err }

// PanicError is a panic that was recovered: in a term's work, in a Lock, or in the elector itself.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the value of the panic if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
