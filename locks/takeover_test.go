package locks_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/electortest"
	"github.com/seed2c765205/elect/events"
	"github.com/seed2c765205/elect/locks"
	"github.com/seed2c765205/elect/locks/lockstest"
)

// TestEveryWritersRecordIsTakenOverInItsTime lets an elector with a lease of 7 seconds meet what other electors leave
// behind, held by a process that has died, and released. testdata/takeover.txt tells how long it waited for each and
// what it wrote over it.
func TestEveryWritersRecordIsTakenOverInItsTime(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, "%-45s %-7s %-9s %s\n", "what is found", "waits", "how", "what is written")
	for _, kind := range []string{"lease", "annotation"} {
		files, err := filepath.Glob("testdata/" + kind + "/*.json")
		if err != nil || len(files) == 0 {
			t.Fatalf("no files of %s: %v", kind, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var line string
			synctest.Test(t, func(t *testing.T) { line = takeOver(t, kind, strings.TrimSpace(string(text))) })
			name := kind + "/" + strings.TrimSuffix(filepath.Base(file), ".json")
			fmt.Fprintf(&b, "%-45s %s\n", name, line)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(damage)) {
		kind, _, _ := strings.Cut(name, " ")
		var line string
		synctest.Test(t, func(t *testing.T) { line = takeOver(t, kind, damage[name]) })
		fmt.Fprintf(&b, "%-45s %s\n", name, line)
	}
	goldenFile(t, "testdata/takeover.txt", b.String())
}

// damage is what is left in an object by accidents and by other programs.
var damage = map[string]string{
	"annotation empty":                  "",
	"annotation cut":                    "{",
	"annotation null":                   "null",
	"annotation a list":                 "[]",
	"annotation a number":               "7",
	"annotation HTML":                   "<html>",
	"annotation holder is a number":     `{"holderIdentity":5}`,
	"annotation holder alone":           `{"holderIdentity":"b"}`,
	"annotation {}":                     `{}`,
	"annotation duration zero":          `{"holderIdentity":"b","leaseDurationSeconds":0}`,
	"annotation duration negative":      `{"holderIdentity":"b","leaseDurationSeconds":-1}`,
	"annotation duration is no number":  `{"holderIdentity":"b","leaseDurationSeconds":"soon"}`,
	"annotation times are no times":     `{"holderIdentity":"b","leaseDurationSeconds":15,"renewTime":"yesterday"}`,
	"annotation with unknown fields":    `{"holderIdentity":"b","leaseDurationSeconds":15,"mood":"good"}`,
	"annotation with a field twice":     `{"holderIdentity":"a","holderIdentity":"b","leaseDurationSeconds":15}`,
	"annotation 200 KB of text":         strings.Repeat("x", 200<<10),
	"annotation text after the record":  `{"holderIdentity":"b","leaseDurationSeconds":15} and more`,
	"lease {}":                          `{}`,
	"lease holder alone":                `{"holderIdentity":"b"}`,
	"lease holder and duration":         `{"holderIdentity":"b","leaseDurationSeconds":15}`,
	"lease holder empty, duration gone": `{"holderIdentity":""}`,
	"lease transitions alone":           `{"leaseTransitions":3}`,
}

func takeOver(t *testing.T, kind, text string) string {
	server := lockstest.NewServer()
	lock, written := found(t, server, kind, text)
	begin := time.Now()
	e, err := elector.New(elector.Config{Lock: lock, Identity: "us", LeaseDuration: 7 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- e.Run(ctx) }()
	acquired := electortest.Expect[events.Acquired](t, e.Events())
	wait := acquired.Time.Sub(begin).Truncate(100 * time.Millisecond)
	line := fmt.Sprintf("%-7v %-9v %s", wait, acquired.How, zeroTimes(written()))
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := e.Close(context.Background()); err != nil {
		t.Error(err)
	}
	return line
}

// found puts a record where a lock finds it. written is what stands there.
func found(t *testing.T, server *lockstest.Server, kind, text string) (lock elector.Lock, written func() string) {
	t.Helper()
	var err error
	if kind == "lease" {
		server.EditLease("default", "demo", func(l *coordinationv1.Lease) {
			if err := json.Unmarshal([]byte(text), &l.Spec); err != nil {
				t.Fatal(err)
			}
		})
		lock, err = locks.NewLeaseForConfig(server.Config(), "default", "demo")
		written = func() string {
			spec, _ := json.Marshal(server.Lease("default", "demo").Spec)
			return string(spec)
		}
	} else {
		server.EditConfigMap("default", "demo", func(c *corev1.ConfigMap) {
			c.Annotations = map[string]string{ownRecord: text}
		})
		lock, err = locks.NewConfigMapForConfig(server.Config(), "default", "demo")
		written = func() string { return server.ConfigMap("default", "demo").Annotations[ownRecord] }
	}
	if err != nil {
		t.Fatal(err)
	}
	return lock, written
}

// zeroTimes takes out of a record what depends on the random delay before a write.
func zeroTimes(record string) string {
	for _, field := range []string{"acquireTime", "renewTime"} {
		before, rest, ok := strings.Cut(record, `"`+field+`":"`)
		if !ok {
			continue
		}
		value, after, _ := strings.Cut(rest, `"`)
		if _, err := time.Parse(time.RFC3339Nano, value); err != nil {
			value = "?" + value
		} else {
			value = strings.Map(func(r rune) rune {
				if r >= '0' && r <= '9' {
					return '9'
				}
				return r
			}, value)
		}
		record = before + `"` + field + `":"` + value + `"` + after
	}
	return record
}
