package controlplane_test

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestTheServersDieWithATestProcessThatIsKilled(t *testing.T) {
	victim := exec.Command(os.Args[0])
	temp := t.TempDir() // what a killed process leaves behind
	victim.Env = append(os.Environ(), victimVariable+"=1", "TMPDIR="+temp)
	victim.Stderr = os.Stderr
	out, err := victim.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	_ = victim.Process.Kill()
	_ = victim.Wait()
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "https://")
	if !ok || err != nil {
		t.Fatalf("the victim says %q, %v, want the address of its API server", line, err)
	}
	ctx := limited(t, 30*time.Second)
	for {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err != nil {
			break
		}
		_ = c.Close()
	}
	if ctx.Err() != nil {
		t.Error("the API server still listens")
	}
}
