//go:build unix

package integration

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"time"
)

// A passing is a term that ended in a way, and who led next.
type passing struct {
	from, to kind
	way      way
}

func (p passing) String() string { return fmt.Sprintf("%s to %s by %s", p.from, p.to, p.way) }

// allPassings are those that a test must have seen.
func allPassings() (all []passing) {
	for _, from := range []kind{ours, clientGo} {
		for _, to := range []kind{ours, clientGo} {
			for _, how := range []way{stopped, killed, cutOff} {
				all = append(all, passing{from, to, how})
			}
		}
	}
	return all
}

// ended returns the works that have ended, in the order of their beginnings.
func (c *company) ended() (all []work) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.works {
		if !w.on() {
			all = append(all, *w)
		}
	}
	slices.SortFunc(all, func(a, b work) int { return cmp.Compare(a.begin, b.begin) })
	return all
}

func countPassings(works []work) map[passing]int {
	n := map[passing]int{}
	for i := 1; i < len(works); i++ {
		n[passing{works[i-1].who.kind, works[i].who.kind, works[i-1].way}]++
	}
	return n
}

// An overlap is a time at which two worked.
type overlap struct {
	first, second work
	culprit       string
	proof         string
}

func (o overlap) String() string {
	return fmt.Sprintf("%s and %s both worked for %v: %s, by the fault of %s",
		o.first.who.name, o.second.who.name, min(o.first.end, o.second.end)-o.second.begin, o.proof, o.culprit)
}

// ofOurs reports whether it may be this library's fault. Only proof takes it off the list.
func (o overlap) ofOurs(works []work) bool {
	for _, w := range works {
		if w.who.name == o.culprit {
			return w.who.kind == ours
		}
	}
	return true
}

// overlaps compares every work with all that began while it went on.
func overlaps(works []work, h *history) (all []overlap) {
	for i, first := range works {
		for _, second := range works[i+1:] {
			if second.begin < first.end {
				all = append(all, judge(first, second, h))
			}
		}
	}
	return all
}

// haste is by how much the watch's times of two versions may be nearer to each other than the writes were.
const haste = 100 * time.Millisecond

// judge finds out who is to blame, by the version of the Lease that the second took it from.
func judge(first, second work, h *history) overlap {
	o := overlap{first: first, second: second, culprit: "nobody known"}
	took, ok := h.taking(second.who.name, second.begin)
	age, held := took.to.at-took.from.at, took.from.duration
	switch writer := took.from.writer; {
	case !ok:
		o.proof = "the Lease was never seen in the second's name"
	case took.from.holder == "" && writer != took.robbed:
		o.culprit, o.proof = writer, fmt.Sprintf("%s had emptied the Lease of %s", writer, took.robbed)
	case took.from.holder == "" && writer == first.who.name:
		o.culprit, o.proof = writer, "the first had released the Lease before its work ended"
	case took.from.holder == "":
		o.culprit, o.proof = first.who.name, fmt.Sprintf("the first worked on when %s had held and released the Lease", writer)
	case age < held-haste:
		o.culprit = second.who.name
		o.proof = fmt.Sprintf("the second took the Lease %v after it was renewed for %v", age, held)
	case took.from.holder == first.who.name:
		o.culprit = first.who.name
		o.proof = fmt.Sprintf("the first worked on when its Lease, renewed for %v, was %v old", held, age)
	default:
		o.culprit = first.who.name
		o.proof = fmt.Sprintf("the first worked on when the Lease had been that of %s", took.from.holder)
	}
	return o
}

// report writes what a run has shown.
func (d *director) report(file string, seed int64, took time.Duration) {
	d.t.Helper()
	works := d.ended()
	figures := struct {
		provenance
		Seed            int64          `json:"seed"`
		Took            string         `json:"took"`
		Terms           int            `json:"terms"`
		Passings        map[string]int `json:"passings"`
		Overlaps        []string       `json:"overlapsOfThisLibrary"`
		ClientGo        []string       `json:"overlapsProvenToBeOfClientGo"`
		CutOffReleasing int            `json:"clientGoCutOffWhileSetToRelease"`
	}{
		provenance: provenanceOf(d.t, fmt.Sprintf("cd integration && BESIDE_TERMS=%s BESIDE_SEED=%d BESIDE_REPORT=%s "+
			"go test -count=1 -timeout=30m -run TestLeadsBesideClientGoOnOneLease .", os.Getenv("BESIDE_TERMS"), seed, file)),
		Seed: seed, Took: took.Round(time.Second).String(), Terms: len(works), Passings: map[string]int{},
		Overlaps: []string{}, ClientGo: []string{},
	}
	for p, n := range countPassings(works) {
		figures.Passings[p.String()] = n
	}
	for _, o := range overlaps(works, d.history) {
		if o.ofOurs(works) {
			figures.Overlaps = append(figures.Overlaps, o.String())
		} else {
			figures.ClientGo = append(figures.ClientGo, o.String())
		}
	}
	for _, w := range works {
		if w.who.kind == clientGo && w.who.releases && w.way == cutOff {
			figures.CutOffReleasing++
		}
	}
	writeReport(d.t, file, figures)
}
