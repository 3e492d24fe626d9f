//go:build unix

package integration

import (
	"testing"
	"time"
)

// TestBlamesAnOverlapOnWhoMadeIt holds that what this library does wrong is never put down to client-go.
func TestBlamesAnOverlapOnWhoMadeIt(t *testing.T) {
	const s = time.Second
	elect, other, third := &player{name: "elect-1", kind: ours}, &player{name: "client-go-2", kind: clientGo}, &player{name: "client-go-3", kind: clientGo}
	held := func(at time.Duration, by, writer string) version {
		return version{at: at, holder: by, writer: writer, duration: 2 * s}
	}
	free := func(at time.Duration, writer string) version { return version{at: at, writer: writer, duration: s} }
	for _, c := range []struct {
		name    string
		first   *player
		second  *player
		history []version
		want    string
	}{
		{"takes a Lease that was just renewed", other, elect,
			[]version{held(9*s, "client-go-2", "client-go-2"), held(10*s, "elect-1", "elect-1")}, "elect-1"},
		{"works on when its Lease has run out", elect, other,
			[]version{held(8*s, "elect-1", "elect-1"), held(10*s, "client-go-2", "client-go-2")}, "elect-1"},
		{"works on when it has released", elect, other,
			[]version{held(8*s, "elect-1", "elect-1"), free(9*s, "elect-1"), held(10*s, "client-go-2", "client-go-2")}, "elect-1"},
		{"empties the Lease of another", other, third,
			[]version{held(8*s, "client-go-2", "client-go-2"), free(9*s, "elect-1"), held(10*s, "client-go-3", "client-go-3")}, "elect-1"},
		{"works on when a third has led and released", elect, third,
			[]version{held(6*s, "elect-1", "elect-1"), held(8*s, "client-go-2", "client-go-2"), free(9*s, "client-go-2"),
				held(10*s, "client-go-3", "client-go-3")}, "elect-1"},
		{"works without the Lease", other, elect,
			[]version{held(9*s, "client-go-2", "client-go-2")}, "nobody known"},
		{"is robbed by a late release", elect, third,
			[]version{held(9*s, "elect-1", "elect-1"), free(9*s+s/2, "client-go-2"), held(10*s, "client-go-3", "client-go-3")}, "client-go-2"},
		{"is disturbed by one whose Lease has run out", other, elect,
			[]version{held(8*s, "client-go-2", "client-go-2"), held(10*s, "elect-1", "elect-1")}, "client-go-2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			works := []work{{who: c.first, begin: 6 * s, end: 11 * s}, {who: c.second, begin: 10 * s, end: 20 * s}, {who: elect}, {who: other}, {who: third}}
			all := overlaps(works[:2], &history{versions: c.history})
			if len(all) != 1 || all[0].culprit != c.want {
				t.Fatalf("the overlaps are %v, want one of %s", all, c.want)
			}
			if got, want := all[0].ofOurs(works), c.want != "client-go-2"; got != want {
				t.Errorf("ours: %t, want %t", got, want)
			}
		})
	}
}
