//go:build unix

package controlplane

import (
	"runtime"
	"syscall"
)

// onOwnThread runs fn, which starts a process and waits for it, on a thread that lives as long. Linux kills a process
// with the thread that started it (see attributes), and Go may end a thread at any time that no goroutine keeps.
func onOwnThread(fn func() error) error {
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		result <- fn()
	}()
	return <-result
}

// killGroup kills a process with all that it started.
func killGroup(pid int) error { return syscall.Kill(-pid, syscall.SIGKILL) }
