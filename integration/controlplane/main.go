//go:build unix

package controlplane

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// logLines is how many lines of each server's log are shown when something failed.
const logLines = 20

// Main is the body of a TestMain: it starts a control plane, stores it in cluster, runs the tests and ends the control
// plane and the process. It fails if the control plane cannot be started, or cannot be ended.
func Main(m *testing.M, cluster **ControlPlane) { os.Exit(run(m, cluster)) }

func run(m *testing.M, cluster **ControlPlane) (code int) {
	c, err := Start(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if code != 0 {
			c.WriteLogs(os.Stderr, logLines)
		}
		if err := c.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}()
	*cluster = c
	return m.Run()
}
