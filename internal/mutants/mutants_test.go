package mutants

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../.."

// A bug is one change to one file.
type bug struct {
	name, file, from, to string
}

func bugs(t *testing.T) (list []bug) {
	t.Helper()
	text, err := os.ReadFile("bugs.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		switch {
		case strings.HasPrefix(line, "@ "):
			name, file, ok := strings.Cut(strings.TrimSpace(line[2:]), " | ")
			if !ok {
				t.Fatalf("bugs.txt: %q names no file", line)
			}
			list = append(list, bug{name: name, file: file})
		case strings.HasPrefix(line, "-"):
			list[len(list)-1].from += line[1:]
		case strings.HasPrefix(line, "+"):
			list[len(list)-1].to += line[1:]
		}
	}
	return list
}

// plant returns the file's text with the bug in it.
func (b bug) plant(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, b.file))
	if err != nil {
		t.Fatal(err)
	}
	from, to := strings.TrimSuffix(b.from, "\n"), strings.TrimSuffix(b.to, "\n")
	if !strings.Contains(string(text), from) {
		t.Fatalf("%s: the code in %s has changed: it no longer has\n%s", b.name, b.file, from)
	}
	return strings.Replace(string(text), from, to, 1)
}

// With MUTANTS set, each bug is planted and must be caught.
func TestEveryBugFitsAndIsCaught(t *testing.T) {
	list := bugs(t)
	if len(list) < 25 {
		t.Fatalf("only %d bugs", len(list))
	}
	for _, b := range list {
		t.Run(b.name, func(t *testing.T) {
			text := b.plant(t)
			if os.Getenv("MUTANTS") != "" {
				mustBeCaught(t, b, text)
			}
		})
	}
}

func mustBeCaught(t *testing.T, b bug, text string) {
	t.Helper()
	overlay := overlayOf(t, b.file, text)
	if out, err := run("go", "vet", "-overlay", overlay, "./"+filepath.Dir(b.file)); err != nil {
		t.Fatalf("it does not build:\n%s", out)
	}
	// The tests of the parts build in no time; those of the whole are asked only if they have to be.
	test := []string{"test", "-short", "-failfast", "-overlay", overlay, "-timeout", "60s"}
	out, err := run("go", append(test, "./elector/...", "./internal/delivery")...)
	if err == nil {
		out, err = run("go", append(test, ".")...)
	}
	if err == nil {
		t.Fatal("no test caught it")
	}
	for line := range strings.Lines(out) {
		if strings.Contains(line, "--- FAIL") || strings.HasPrefix(line, "panic:") {
			t.Logf("caught by %s", strings.TrimSpace(line))
			return
		}
	}
	t.Fatalf("the tests failed without naming a test:\n%s", out)
}

// overlayOf makes the file that tells the go command to read text instead of the file of the module.
func overlayOf(t *testing.T, file, text string) string {
	t.Helper()
	dir := t.TempDir()
	path, err := filepath.Abs(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	planted := filepath.Join(dir, "planted.go")
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {path: planted}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{planted: text, filepath.Join(dir, "overlay.json"): string(overlay)} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "overlay.json")
}

func run(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	return string(out), err
}
