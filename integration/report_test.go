//go:build unix

package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// provenance says where figures come from.
type provenance struct {
	Command string `json:"command"`
	Commit  string `json:"commit"`
	Machine string `json:"machine"`
	Go      string `json:"go"`
}

// commit is that of the sources, as the test was started. Figures that are written anew do not count as a change.
var commit = sync.OnceValue(func() string {
	head, err := exec.Command("git", "rev-parse", "HEAD").Output()
	if err != nil {
		return "unknown: " + err.Error()
	}
	name := strings.TrimSpace(string(head))
	if exec.Command("git", "diff", "--quiet", "HEAD", "--", ":/", ":(top,exclude)docs").Run() != nil {
		name += ", and changes"
	}
	return name
})

func provenanceOf(t *testing.T, command string) provenance {
	t.Helper()
	return provenance{command, commit(), machine(t), runtime.Version()}
}

func output(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := exec.Command(program, args...).Output()
	if err != nil {
		t.Errorf("%s %v: %v", program, args, err)
	}
	return strings.TrimSpace(string(out))
}

func machine(t *testing.T) string {
	t.Helper()
	text := output(t, "uname", "-srm")
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		text += ", load at the end " + strings.Join(strings.Fields(string(load))[:3], " ")
	}
	return fmt.Sprintf("%s, cores: %d", text, runtime.NumCPU())
}

// writeReport writes figures as a file of JSON.
func writeReport(t *testing.T, file string, figures any) {
	t.Helper()
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(figures); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
