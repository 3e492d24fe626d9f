package main

import (
	"bufio"
	"bytes"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed2c765205/elect/events"
)

func TestTheShowTellsThreeTermsThatDoNotOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), []string{"-json"}, &stdout, &stderr); code != 0 {
			t.Fatalf("the exit code is %d: %s", code, &stderr)
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("it took %v", took)
		}

		var how []events.How
		var reasons []events.Reason
		var token uint64
		var ended time.Time
		for lines := bufio.NewScanner(&stdout); lines.Scan(); {
			event, err := events.Parse(lines.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			switch event := event.(type) {
			case events.Acquired:
				how = append(how, event.How)
				if event.Term.Token() <= token {
					t.Errorf("token %d follows %d", event.Term.Token(), token)
				}
				token = event.Term.Token()
				if event.Time.Before(ended) || len(how) != len(reasons)+1 {
					t.Errorf("a term begins at %v, before the last one ends", event.Time)
				}
			case events.Lost:
				reasons = append(reasons, event.Reason)
				ended = event.Time
			case events.Renewed, events.LeaderChanged, events.Error:
			}
		}
		if want := []events.How{events.HowFree, events.HowExpired, events.HowReleased}; !slices.Equal(how, want) {
			t.Errorf("the terms began %v, want %v", how, want)
		}
		if want := []events.Reason{events.ReasonExpired, events.ReasonStopped, events.ReasonStopped}; !slices.Equal(reasons, want) {
			t.Errorf("the terms ended %v, want %v", reasons, want)
		}
	})
}

func TestBadFlagsAreNamedWithTheirValueAndTheRule(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	for _, c := range []struct {
		args string
		want []string
	}{
		{"-lease=a/b/c", []string{"-lease", `"a/b/c"`, "want [namespace/]name"}},
		{"-lease=/b", []string{"-lease", `"/b"`, "want [namespace/]name"}},
		{"-lease=", []string{"-lease", `""`, "want [namespace/]name"}},
		{"-lease-duration=1.5s", []string{"-lease-duration", `"1.5s"`, "want whole seconds"}},
		{"-lease-duration=0s", []string{"-lease-duration", `"0s"`, "want whole seconds"}},
		{"-json=perhaps", []string{"-json", `"perhaps"`}},
		{"-kubeconfig=/nowhere", []string{"-lease is missing", "[namespace/]name"}},
		{"-kubeconfig=/nowhere -lease=a/b", []string{"-kubeconfig", `"/nowhere"`, "want the file of a cluster"}},
		{"-lease=a/b", []string{"-kubeconfig is missing"}},
		{"-unknown", []string{"-unknown"}},
		{"more", []string{`"more"`, "there are only flags"}},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), strings.Fields(c.args), &stdout, &stderr); code != 2 {
			t.Errorf("%s: the exit code is %d, want 2", c.args, code)
		}
		for _, want := range c.want {
			if !strings.Contains(stderr.String(), want) {
				t.Errorf("%s: it says %q, want %q in it", c.args, &stderr, want)
			}
		}
		if stdout.Len() > 0 {
			t.Errorf("%s: stdout has %q", c.args, &stdout)
		}
	}
}
