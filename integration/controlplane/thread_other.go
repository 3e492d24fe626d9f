//go:build unix && !linux

package controlplane

import "syscall"

// attributes put a process into a group of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// awaitStopped cannot tell when a process has stopped.
func awaitStopped(int) error { return nil }
