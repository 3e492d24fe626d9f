//go:build unix

package integration

import (
	"cmp"
	"errors"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seed2c765205/elect/events"
)

func TestALeaderThatIsAskedToStopHandsOverAtOnce(t *testing.T) {
	tr := newTroupe(t, 15*time.Second, "a", "b", "c")
	leader, _ := tr.awaitTerm()
	tr.awaitFollowers(leader)
	released := tr.watchRelease(leader)
	leader.signal(syscall.SIGTERM)

	lost := tr.awaitLost(leader)
	next, won := tr.awaitTerm(leader)
	if err := tr.awaitEnd(leader); err != nil {
		t.Errorf("the exit code should be 0: %v", err)
	}
	if lost.Reason != events.ReasonStopped || won.How != events.HowReleased || won.Previous != leader.name {
		t.Errorf("it went %q, %q; want stopped, released", lost, won)
	}
	select {
	case <-released:
	case <-within(t, time.Minute).Done():
		t.Error("the Lease was never seen without a holder")
	}
	vacant := won.Time.Sub(lost.Time)
	t.Logf("%s to %s in %v", leader.name, next.name, vacant)
	if vacant > tr.lease/3 {
		t.Errorf("nobody led for %v, of a lease of %v", vacant, tr.lease)
	}
	tr.checkTerms()
}

func TestALeaderThatIsKilledIsFollowedWhenItsLeaseHasRunOut(t *testing.T) {
	tr := newTroupe(t, 3*time.Second, "a", "b", "c")
	leader, _ := tr.awaitTerm()
	tr.awaitFollowers(leader)
	tr.awaitRenewals(leader, 2)
	leader.signal(syscall.SIGKILL)
	if err := tr.awaitEnd(leader); exitCode(err) != -1 {
		t.Fatalf("it was not killed: %v", err)
	}
	stored := tr.stored(t.Context())
	if *stored.Spec.HolderIdentity != leader.name {
		t.Fatalf("the holder is %q so soon after the death of %q", *stored.Spec.HolderIdentity, leader.name)
	}

	next, won := tr.awaitTerm(leader)
	if won.How != events.HowExpired || won.Previous != leader.name {
		t.Errorf("it went %q, want expired", won)
	}
	end := stored.Spec.RenewTime.Add(tr.lease)
	t.Logf("%s to %s, %v after the end of the lease", leader.name, next.name, won.Time.Sub(end))
	if won.Time.Before(end) {
		t.Errorf("the next term begins at %v, the lease ran until %v", won.Time, end)
	}
	if won.Time.After(end.Add(tr.lease)) {
		t.Errorf("the next term begins at %v, though the lease ran out at %v", won.Time, end)
	}
	tr.awaitRenewals(next, 1)
	tr.checkTerms()
}

func exitCode(err error) int {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return 0
	}
	return exit.ExitCode()
}

// watchRelease tells when the Lease was seen without a holder after one of the leader's.
func (tr *troupe) watchRelease(leader *candidate) <-chan struct{} {
	tr.t.Helper()
	w, err := cluster.Client().CoordinationV1().Leases(tr.namespace).Watch(tr.t.Context(), metav1.ListOptions{
		ResourceVersion: tr.stored(tr.t.Context()).ResourceVersion,
	})
	if err != nil {
		tr.t.Fatal(err)
	}
	tr.t.Cleanup(w.Stop)
	released := make(chan struct{})
	go func() {
		for e := range w.ResultChan() {
			if l, ok := e.Object.(*coordinationv1.Lease); ok && *l.Spec.HolderIdentity != leader.name {
				if *l.Spec.HolderIdentity == "" {
					close(released)
				}
				return
			}
		}
	}()
	return released
}

// A term is what the journal tells of one.
type term struct {
	who        string
	token      uint64
	begin, end time.Time
}

// checkTerms checks that at no time two led, and that each token is greater than all before.
func (tr *troupe) checkTerms() {
	tr.t.Helper()
	terms := tr.terms()
	if len(terms) < 2 {
		tr.t.Errorf("there are %d terms, want two at least", len(terms))
	}
	slices.SortFunc(terms, func(a, b term) int { return a.begin.Compare(b.begin) })
	for i := 1; i < len(terms); i++ {
		if a, b := terms[i-1], terms[i]; b.begin.Before(a.end) || cmp.Compare(a.token, b.token) >= 0 {
			tr.t.Errorf("two terms overlap, or their tokens do not grow: %+v, %+v", a, b)
		}
	}
}

// terms reads the journal. A term whose Lost is missing counts as long as it was known to be trusted.
func (tr *troupe) terms() []term {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	var terms []term
	current := map[*candidate]int{}
	for _, e := range tr.journal {
		i, known := current[e.candidate]
		switch event := e.event.(type) {
		case events.Acquired:
			current[e.candidate] = len(terms)
			terms = append(terms, term{e.candidate.name, event.Term.Token(), event.Time, event.ValidUntil})
		case events.Renewed:
			if known {
				terms[i].end = event.ValidUntil
			}
		case events.Lost:
			if known {
				terms[i].end = event.Time
			}
		case events.LeaderChanged, events.Error:
		}
	}
	return terms
}
