package elect_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/events"
)

// nonsense is a lock that breaks its contract in every way that comes to mind.
type nonsense struct {
	elector.Lock
	rng   *rand.Rand
	sane  bool
	calls int
}

func (n *nonsense) Read(ctx context.Context) (elector.Snapshot, error) {
	s, err := n.Lock.Read(ctx)
	return n.spoil(s, err)
}

func (n *nonsense) Write(ctx context.Context, prev elector.Snapshot, next elector.Record) (elector.Snapshot, error) {
	s, err := n.Lock.Write(ctx, prev, next)
	return n.spoil(s, err)
}

func (n *nonsense) spoil(s elector.Snapshot, err error) (elector.Snapshot, error) {
	n.calls++
	if n.sane {
		return s, err
	}
	switch n.rng.IntN(16) {
	case 0:
		s.Version = ""
	case 1:
		s.Stamp = ""
	case 2:
		s.Damage = &elector.DecodeError{}
	case 3:
		s.Record.LeaseDuration = math.MinInt64
	case 4:
		s.Record.LeaseDuration = math.MaxInt64
	case 5:
		s.Record.RenewTime = time.Date(99999, 1, 1, 0, 0, 0, 0, time.UTC)
	case 6:
		s.Record.RenewTime, s.Record.AcquireTime = time.Time{}, time.Time{}
	case 7:
		s.Record.Transitions = math.MaxInt64
	case 8:
		s.Revision = 0
	case 9:
		return elector.Snapshot{}, nil
	case 10:
		return s, elector.ErrNotFound
	case 11:
		return s, elector.ErrConflict
	case 12:
		return s, &elector.CallError{Err: errors.New("odd"), RetryAfter: -time.Hour}
	case 13:
		return s, &elector.CallError{Class: 99, Err: errors.New("odd"), RetryAfter: math.MaxInt64, NotApplied: true}
	case 14:
		panic("odd")
	case 15:
		s.Record.Holder, s.Record.Mark = "", ""
	}
	return s, nil
}

func TestALockThatBreaksItsContractEndsNothingAndIsNotHammered(t *testing.T) {
	for seed := range uint64(20) {
		onStage(t, func(s *stage) {
			lock := &nonsense{Lock: s.shared, rng: rand.New(rand.NewPCG(seed, seed))}
			a := s.enter("a", func(c *elector.Config) { c.Lock = lock })
			const minutes = 30
			s.pass(minutes * time.Minute)
			if perSecond := float64(lock.calls) / (minutes * 60); perSecond > 5 {
				s.t.Errorf("seed %d: %.1f calls a second", seed, perSecond)
			}
			grammar(s.t, a.events())
			for _, e := range all[events.Error](a) {
				if !e.Retryable && e.Op != events.OpRelease { // a release is given up in the end
					s.t.Fatalf("seed %d: %+v", seed, e)
				}
			}
			lock.sane = true
			s.shared.Delete() // with whatever duration was written
			s.pass(10 * time.Minute)
			if st := a.Status(); st.State == elector.StateStopped {
				s.t.Errorf("seed %d: it has stopped: %+v", seed, st)
			}
		})
	}
}
