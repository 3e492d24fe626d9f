//go:build unix

package controlplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// A Server is one program of a control plane. Its ports and its data stay the same when it is restarted.
// All methods are safe for concurrent use.
type Server struct {
	name  string
	path  string
	args  []string
	log   string                      // the file that gets what it prints
	ready func(context.Context) error // nil if it serves

	mu     sync.Mutex
	cmd    *exec.Cmd     // nil if it was never started
	end    chan struct{} // closed when the process has ended
	paused bool
}

// errEnded: the process ended while it was waited for.
var errEnded = errors.New("the process has ended")

// Start starts a server that is not running and waits until it serves. ctx bounds only the waiting.
func (s *Server) Start(ctx context.Context) error {
	end, err := s.launch()
	if err != nil {
		return fmt.Errorf("start %s: %w", s.name, err)
	}
	if err := s.await(ctx, end); err != nil {
		return fmt.Errorf("wait for %s to serve: %w\n%s", s.name, err, s.tail(30))
	}
	return nil
}

// Restart kills the server, if it runs, and starts it again.
func (s *Server) Restart(ctx context.Context) error {
	s.Kill()
	return s.Start(ctx)
}

// Kill ends the server at once, as a power cut would, and waits until it has ended. A paused server can be killed.
func (s *Server) Kill() { s.stop(syscall.SIGKILL) }

// Terminate asks the server to end in its own time and waits until it has ended.
func (s *Server) Terminate() { s.stop(syscall.SIGTERM) }

// Pause makes the server hang: its connections stay open and nothing answers, until Resume. When it returns, the server
// has stopped, on Linux; elsewhere it may still give an answer that was on its way.
func (s *Server) Pause() error {
	return s.signal(syscall.SIGSTOP, func(pid int) error {
		if s.paused { // a process stops only once
			return nil
		}
		s.paused = true
		return awaitStopped(pid)
	})
}

// Resume ends a Pause.
func (s *Server) Resume() error {
	return s.signal(syscall.SIGCONT, func(int) error {
		s.paused = false
		return nil
	})
}

func (s *Server) launch() (end chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running() {
		return nil, errors.New("it runs already")
	}
	log, err := os.OpenFile(s.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(s.path, s.args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Dir = filepath.Dir(s.log)
	ended, err := StartBound(cmd)
	if err != nil {
		_ = log.Close()
		return nil, err
	}
	end = make(chan struct{})
	go func() {
		fmt.Fprintln(log, "controlplane: the process has ended:", <-ended)
		_ = log.Close()
		close(end)
	}()
	s.cmd, s.end, s.paused = cmd, end, false
	return end, nil
}

func (s *Server) await(ctx context.Context, end <-chan struct{}) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := s.ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-end:
			return errEnded
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		}
	}
}

func (s *Server) stop(with syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.running() {
		return
	}
	_ = syscall.Kill(-s.cmd.Process.Pid, with)
	_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGCONT) // a paused process would not hear it
	<-s.end
}

func (s *Server) signal(sig syscall.Signal, then func(pid int) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.running() {
		return fmt.Errorf("signal %s: %w", s.name, errEnded)
	}
	pid := s.cmd.Process.Pid
	if err := syscall.Kill(-pid, sig); err != nil {
		return err
	}
	return then(pid)
}

func (s *Server) running() bool {
	if s.cmd == nil {
		return false
	}
	select {
	case <-s.end:
		return false
	default:
		return true
	}
}

// tail returns the last lines that the server printed.
func (s *Server) tail(lines int) string {
	text, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	all := bytes.SplitAfter(bytes.TrimSpace(text), []byte("\n"))
	all = all[max(0, len(all)-lines):]
	return fmt.Sprintf("--- the last lines of %s:\n%s\n---", s.name, bytes.Join(all, nil))
}
