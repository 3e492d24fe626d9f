package controlplane

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes put a process into a group of its own, and have the kernel kill it when this one ends, however it ends.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitStopped waits until a process that was sent SIGSTOP has stopped with all its threads: the signal only asks for it.
func awaitStopped(pid int) error {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WSTOPPED, nil)
		if !errors.Is(err, unix.EINTR) {
			if err != nil {
				err = fmt.Errorf("wait until process %d has stopped: %w", pid, err)
			}
			return err
		}
	}
}
