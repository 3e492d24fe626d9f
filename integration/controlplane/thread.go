//go:build unix

package controlplane

import (
	"os/exec"
	"runtime"
	"syscall"
)

// StartBound starts a command as a process that ends with this one, as the package's documentation says. It leads a
// process group of its own. ended gets what cmd.Wait returns, which must not be called.
func StartBound(cmd *exec.Cmd) (ended <-chan error, err error) {
	cmd.SysProcAttr = attributes()
	started, end := make(chan error, 1), make(chan error, 1)
	go onOwnThread(func() {
		err := cmd.Start()
		started <- err
		if err == nil {
			end <- cmd.Wait()
		}
	})
	if err := <-started; err != nil {
		return nil, err
	}
	return end, nil
}

// onOwnThread runs fn, which starts a process and waits for it, on a thread that lives as long. Linux kills a process
// with the thread that started it (see attributes), and Go ends threads when it likes unless a goroutine keeps them.
func onOwnThread(fn func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	fn()
}

// killGroup kills a process with all that it started.
func killGroup(pid int) error { return syscall.Kill(-pid, syscall.SIGKILL) }
