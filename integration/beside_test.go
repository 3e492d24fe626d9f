//go:build unix

package integration

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/seed2c765205/elect/integration/internal/monotonic"
)

// TestLeadsBesideClientGoOnOneLease lets two candidates of either library compete, and ends term after term: gracefully,
// by SIGKILL, and by cutting the leader off from the API server. At no time may two work.
//
// BESIDE_TERMS is the number of terms (default 40), BESIDE_SEED repeats a run as far as the machine lets it, and
// BESIDE_REPORT is a file to write the figures to.
func TestLeadsBesideClientGoOnOneLease(t *testing.T) {
	terms := int(numberFrom(t, "BESIDE_TERMS", 40))
	seed := numberFrom(t, "BESIDE_SEED", monotonic.Now().Nanoseconds())
	t.Logf("BESIDE_SEED=%d at %s", seed, commit())
	d := newDirector(t, uint64(seed))
	began := monotonic.Now()
	for len(d.ended()) < terms || !d.sawAll(terms) {
		d.endTerm()
	}
	d.check(terms)
	if file := os.Getenv("BESIDE_REPORT"); file != "" {
		d.report(file, seed, monotonic.Now()-began)
	}
}

func numberFrom(t *testing.T, variable string, unset int64) int64 {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return unset
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// A director ends the terms of a company.
type director struct {
	*company
	history *history
	rand    *rand.Rand
	planned map[passing]int
}

func newDirector(t *testing.T, seed uint64) *director {
	t.Helper()
	d := &director{company: newCompany(t), rand: rand.New(rand.NewPCG(seed, 0)), planned: map[passing]int{}}
	d.history = watchLease(t, d.namespace, "beside")
	d.fill()
	return d
}

// fill hires two players of either library, less those that are there.
func (d *director) fill() {
	missing := map[kind]int{ours: 2, clientGo: 2}
	for _, p := range d.present() {
		missing[p.kind]--
	}
	for range missing[ours] {
		d.hire(ours, true)
	}
	for range missing[clientGo] {
		d.hire(clientGo, d.rand.IntN(4) > 0)
	}
}

// endTerm ends one term in the way that is due, and waits until the next has begun and all is in order again.
func (d *director) endTerm() {
	d.t.Helper()
	leader := d.awaitWork(nil)
	due := d.due(leader.who)
	for _, p := range d.present() {
		if p.kind != due.to && p != leader.who {
			p.cable.cut() // so that it cannot be the next
		}
	}
	// Strike at any moment of the leader's renewals.
	select {
	case <-time.After(time.Duration(d.rand.Int64N(int64(400 * time.Millisecond)))):
	case <-leader.who.out:
	}
	d.mark(leader, due.way)
	switch due.way {
	case stopped:
		_ = leader.who.process.Signal(syscall.SIGTERM)
	case killed:
		_ = leader.who.process.Signal(syscall.SIGKILL)
	case cutOff:
		leader.who.cable.cut()
	}
	d.awaitAfter(leader)
	if leader.who.releases && leader.who.kind == clientGo {
		leader.who.cable.mend(false) // while it may still be trying to release
	}
	d.awaitEnd(leader)
	for _, p := range d.present() {
		p.cable.mend(d.rand.IntN(2) == 0)
	}
	if due.way != cutOff || leader.who.kind == clientGo {
		d.awaitOut(leader.who) // it ends of itself
	}
	d.fill()
}

// due chooses what has happened least, as far as the leader allows it.
//
// client-go cannot be cut off and release, too: a leader that gives up tries to release before it tells its work to
// end, and may by then empty the Lease of the next leader. One time in ten it is done all the same, to see that this
// library stands it and that the check tells it apart.
func (d *director) due(leader *player) passing {
	ways := []way{stopped, killed, cutOff}
	if leader.kind == clientGo {
		switch {
		case !leader.releases:
			ways = []way{killed, cutOff}
		case d.rand.IntN(10) > 0:
			ways = []way{stopped, killed}
		}
	}
	var all []passing
	for _, p := range allPassings() {
		if p.from == leader.kind && slices.Contains(ways, p.way) {
			all = append(all, p)
		}
	}
	d.rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	p := slices.MinFunc(all, func(a, b passing) int { return d.effort(a) - d.effort(b) })
	d.planned[p]++
	return p
}

// effort makes graceful stops three times as frequent as the rest, which waits for the lease to run out.
func (d *director) effort(p passing) int {
	if p.way == stopped {
		return d.planned[p]
	}
	return 3 * d.planned[p]
}

// fewest is how often each passing must have happened at least.
func fewest(terms int) int { return max(1, terms/40) }

func (d *director) sawAll(terms int) bool {
	seen := countPassings(d.ended())
	return !slices.ContainsFunc(allPassings(), func(p passing) bool { return seen[p] < fewest(terms) })
}

func (d *director) check(terms int) {
	d.t.Helper()
	works := d.ended()
	seen := countPassings(works)
	for _, p := range allPassings() {
		d.t.Logf("%3d × %s", seen[p], p)
		if seen[p] < fewest(terms) {
			d.t.Errorf("%s happened %d times, want %d at least", p, seen[p], fewest(terms))
		}
	}
	if len(works) < terms {
		d.t.Errorf("there were %d terms, want %d", len(works), terms)
	}
	for _, o := range overlaps(works, d.history) {
		if !o.ofOurs(works) {
			d.t.Logf("client-go: %s", o)
			continue
		}
		d.t.Error(o)
		from, to := o.first.begin-5*time.Second, o.first.end+5*time.Second
		d.print(max(from, o.second.begin-10*time.Second), to)
		d.history.print(d.t, max(from, o.second.begin-10*time.Second), to)
	}
}
