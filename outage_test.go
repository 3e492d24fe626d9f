package elect_test

import (
	"testing"
	"time"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/events"
)

// Outages that begin just after a renewal, with the defaults 15 s, 10 s, 5 s and with a minute's outage in mind.
func TestAnOutageIsRiddenOutOrEndsTheTermOnTime(t *testing.T) {
	long := func(c *elector.Config) { c.LeaseDuration, c.RenewDeadline = 120*time.Second, 100*time.Second }
	for _, row := range []struct {
		outage time.Duration
		change func(*elector.Config)
		kept   bool
	}{
		{1 * time.Second, nil, true},
		{5 * time.Second, nil, true},
		{9 * time.Second, nil, true}, // the trust of 10 s outlives it, and retries come every 2 s
		{11 * time.Second, nil, false},
		{14 * time.Second, nil, false},
		{16 * time.Second, nil, false},
		{30 * time.Second, nil, false},
		{60 * time.Second, nil, false},
		{900 * time.Second, nil, false},
		{60 * time.Second, long, true},
		{90 * time.Second, long, true},
		{101 * time.Second, long, false},
	} {
		t.Run(row.outage.String(), func(t *testing.T) {
			onStage(t, func(s *stage) {
				change := row.change
				if change == nil {
					change = func(*elector.Config) {}
				}
				a := s.enter("a", change)
				a.lock.BlackHole()
				s.pass(row.outage)
				a.lock.Heal()
				s.pass(3 * time.Minute)
				if lost := len(all[events.Lost](a)) > 0; lost == row.kept {
					s.t.Errorf("the term was lost: %v, want kept: %v", lost, row.kept)
				}
				if !a.IsLeader() {
					s.t.Error("it does not lead again")
				}
			})
		})
	}
}
