package controlplane

import "syscall"

// attributes put a process into a group of its own, and have the kernel kill it when this one ends, however it ends.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
