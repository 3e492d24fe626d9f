package elector

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v4"
	clocktesting "k8s.io/utils/clock/testing"
)

// noLock answers every call with an error.
type noLock struct{ broken error }

func (noLock) Read(context.Context) (Snapshot, error) { return Snapshot{}, errUnknown }
func (noLock) Write(context.Context, Snapshot, Record) (Snapshot, error) {
	return Snapshot{}, errUnknown
}
func (noLock) String() string    { return "no lock" }
func (l noLock) Validate() error { return l.broken }

func TestDefaultsDeriveFromTheLeaseDuration(t *testing.T) {
	for _, c := range []struct{ lease, deadline, period, retry time.Duration }{
		{0, 10 * time.Second, 5 * time.Second, 2 * time.Second},
		{30 * time.Second, 20 * time.Second, 10 * time.Second, 4 * time.Second},
		{60 * time.Second, 40 * time.Second, 20 * time.Second, 8 * time.Second},
	} {
		got := Config{LeaseDuration: c.lease}.withDefaults()
		if got.RenewDeadline != c.deadline || got.RenewPeriod != c.period || got.RetryPeriod != c.retry {
			t.Errorf("%v: %v %v %v, want %+v", c.lease, got.RenewDeadline, got.RenewPeriod, got.RetryPeriod, c)
		}
		if got.CoolDown != got.LeaseDuration || got.DrainTimeout != 30*time.Second {
			t.Errorf("%v: cool-down %v, drain timeout %v", c.lease, got.CoolDown, got.DrainTimeout)
		}
	}
}

func TestDefaultsOfAnyLeaseAndDeadlineAreAValidSet(t *testing.T) {
	for lease := time.Second; lease < 3*time.Minute; lease += time.Second {
		for _, share := range []float64{0, 0.1, 0.5, 0.9, 0.999} {
			c := Config{Lock: noLock{}, LeaseDuration: lease, RenewDeadline: time.Duration(share * float64(lease))}
			if _, err := New(c); err != nil {
				t.Fatalf("lease %v, deadline %v: %v", lease, c.RenewDeadline, err)
			}
		}
	}
}

func TestToleranceIsTheRatioOfLeaseAndDeadline(t *testing.T) {
	if got := (Config{}).Tolerance(); got != 1.5 {
		t.Errorf("the default tolerance is %v, want 1.5", got)
	}
	if got := (Config{LeaseDuration: 60 * time.Second, RenewDeadline: 50 * time.Second}).Tolerance(); got != 1.2 {
		t.Errorf("the tolerance of 60/50 is %v, want 1.2", got)
	}
}

func TestABrokenRuleNamesFieldValueAndRule(t *testing.T) {
	for name, c := range map[string]struct {
		config Config
		want   []string
	}{
		"no lock":                {Config{}, []string{"Config.Lock is nil: it is required"}},
		"a nil pointer as lock":  {Config{Lock: (*noLock)(nil)}, []string{"Config.Lock is nil: it is required"}},
		"a nil pointer as clock": {Config{Clock: (*clocktesting.FakeClock)(nil)}, []string{"Config.Clock is a nil pointer: "}},
		"a policy that panics":   {Config{Backoff: func() backoff.BackOff { panic("broken") }}, []string{"Config.Backoff is a policy that panics or returns nil: "}},
		"blank identity":         {Config{Identity: " \t"}, []string{`Config.Identity is " \t": it must not be blank`}},
		"lease below a second":   {Config{LeaseDuration: 900 * time.Millisecond}, []string{"Config.LeaseDuration is 900ms: it must be at least 1s and whole seconds"}},
		"lease not whole":        {Config{LeaseDuration: 1500 * time.Millisecond}, []string{"Config.LeaseDuration is 1.5s: "}},
		"negative lease":         {Config{LeaseDuration: -time.Second}, []string{"Config.LeaseDuration is -1s: "}},
		"lease beyond 32 bits":   {Config{LeaseDuration: (math.MaxInt32 + 1) * time.Second}, []string{"it must be at most 596523h14m7s"}},
		"the largest lease":      {Config{LeaseDuration: math.MaxInt64}, []string{"Config.LeaseDuration is 2562047h47m16.854775807s: it must be at least"}},
		"deadline equals lease":  {Config{RenewDeadline: 15 * time.Second}, []string{"Config.RenewDeadline is 15s: it must be positive and less than LeaseDuration (15s)"}},
		"negative deadline":      {Config{RenewDeadline: -1}, []string{"Config.RenewDeadline is -1ns: "}},
		"period over 2/3":        {Config{RenewPeriod: 7 * time.Second}, []string{"Config.RenewPeriod is 7s: it must be at least 10ms and at most 2/3 of RenewDeadline (10s)"}},
		"period too short":       {Config{RenewPeriod: 1}, []string{"Config.RenewPeriod is 1ns: "}},
		"negative period":        {Config{RenewPeriod: -1}, []string{"Config.RenewPeriod is -1ns: "}},
		"retry equals deadline":  {Config{RetryPeriod: 10 * time.Second}, []string{"Config.RetryPeriod is 10s: it must be at least 10ms and less than RenewDeadline (10s)"}},
		"retry too short":        {Config{RetryPeriod: time.Microsecond}, []string{"Config.RetryPeriod is 1µs: "}},
		"negative cool-down":     {Config{CoolDown: -1}, []string{"Config.CoolDown is -1ns: it must not be negative"}},
		"cap below the lease":    {Config{MaxRecordDuration: time.Second}, []string{"Config.MaxRecordDuration is 1s: it must be 0 (no cap) or at least LeaseDuration (15s)"}},
		"negative cap":           {Config{MaxRecordDuration: -1}, []string{"Config.MaxRecordDuration is -1ns: "}},
		"a policy of nothing":    {Config{Backoff: func() backoff.BackOff { return nil }}, []string{"Config.Backoff is a policy that panics or returns nil: "}},
		"an unknown policy":      {Config{Corrupt: 7}, []string{"Config.Corrupt is 7: it must be WaitOut or RewriteAtOnce"}},
		"an unusable lock":       {Config{Lock: noLock{errors.New("namespace is empty")}}, []string{"Config.Lock: namespace is empty"}},
		"several at once":        {Config{CoolDown: -1, RenewPeriod: -1}, []string{"Config.CoolDown", "Config.RenewPeriod"}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.config.Lock == nil && name != "no lock" {
				c.config.Lock = noLock{}
			}
			_, err := New(c.config)
			if err == nil {
				t.Fatal("New accepted it")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error is %q, want it to say %q", err, want)
				}
			}
		})
	}
}

func TestTheDefaultIdentityIsNewForEachElector(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		e, err := New(Config{Lock: noLock{}})
		if err != nil {
			t.Fatal(err)
		}
		id := e.Status().Identity
		if seen[id] || !strings.Contains(id, "_") {
			t.Fatalf("identity %q", id)
		}
		seen[id] = true
	}
}

func TestOneConfigServesSeveralCandidatesAtOnce(t *testing.T) {
	config := Config{Lock: noLock{}, Rand: rand.New(rand.NewPCG(1, 2))}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := New(config); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func TestEqualSeedsGiveEqualSpreads(t *testing.T) {
	spread := func() (d [10]time.Duration) {
		e, err := New(Config{Lock: noLock{}, Rand: rand.New(rand.NewPCG(1, 2))})
		if err != nil {
			t.Fatal(err)
		}
		p := pacer{policy: e.config.Backoff, rand: e.config.Rand}
		for i := range d {
			d[i], _ = p.next()
		}
		return d
	}
	if a, b := spread(), spread(); a != b {
		t.Errorf("equal seeds gave %v and %v", a, b)
	}
}

func TestEnumerationsHaveNames(t *testing.T) {
	for value, want := range map[interface{ String() string }]string{
		State(0): "unknown", StateFollowing: "following", StateStopped: "stopped", State(99): "unknown(99)",
		Wait(0): "unknown", WaitWork: "its own work to end", Wait(-1): "unknown(-1)",
		WaitOut: "wait out", RewriteAtOnce: "rewrite at once", CorruptPolicy(9): "unknown",
	} {
		if got := value.String(); got != want {
			t.Errorf("%#v is %q, want %q", value, got, want)
		}
	}
}

func TestErrorsTellWhatHappened(t *testing.T) {
	for want, err := range map[string]error{
		`elector: leadership lost: taken by "b": x`: &LostError{Reason: 2, Holder: "b", Err: errors.New("x")},
		"elector: leadership lost: stopped":         &LostError{Reason: 5},
		"panic: 7":                                  &PanicError{Value: 7},
		"x":                                         &CallError{Err: errors.New("x")},
		`cannot decode lease a/b (HTTP status 502, text/html): no JSON: "<html>"`: &DecodeError{
			Source: "lease a/b", Status: 502, ContentType: "text/html", Err: errors.New("no JSON"), Body: "<html>",
		},
		"cannot decode lease a/b (HTTP status 500)": &DecodeError{Source: "lease a/b", Status: 500},
	} {
		if got := err.Error(); got != want {
			t.Errorf("the error says %q, want %q", got, want)
		}
	}
	cause := errors.New("cause")
	for _, err := range []error{&LostError{Err: cause}, &PanicError{Value: cause}, &CallError{Err: cause}, &DecodeError{Err: cause}} {
		if !errors.Is(err, cause) {
			t.Errorf("errors.Is does not see through %T", err)
		}
	}
}
