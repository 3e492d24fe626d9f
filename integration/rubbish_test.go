//go:build unix

package integration

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/events"
	"github.com/seed2c765205/elect/integration/internal/monotonic"
	"github.com/seed2c765205/elect/locks"
)

const (
	rubbishLease = 2 * time.Second
	// A busy machine wakes nobody on time.
	noise = time.Second
	// recovery is the longest way back to a leader: a pause that a Retry-After has stretched to a lease, an attempt that
	// still hangs, and another's record that was written unseen and is waited out.
	recovery = rubbishLease + rubbishLease*2/9 + rubbishLease + rubbishLease*2/15 + noise
)

// TestSurvivesRubbish lets three candidates compete behind a proxy that at times answers nothing but rubbish, and at
// others some. Run must go on, terms must end on time, and soon after each storm somebody must lead again.
//
// RUBBISH_SECONDS is how long it goes on (default 25), RUBBISH_SEED repeats the storms, RUBBISH_REPORT is a file to write
// the figures to.
func TestSurvivesRubbish(t *testing.T) {
	length := time.Duration(numberFrom(t, "RUBBISH_SECONDS", 25)) * time.Second
	seed := numberFrom(t, "RUBBISH_SEED", monotonic.Now().Nanoseconds())
	t.Logf("RUBBISH_SEED=%d at %s", seed, commit())
	w := newWatchers(t, uint64(seed))
	began := monotonic.Now()
	w.awaitLeader("at first", recovery)
	for monotonic.Now()-began < length {
		w.pass(stormLength(w.rand, min(25*time.Second, length/4)))
	}
	took := monotonic.Now() - began
	w.stop()
	w.check()
	if file := os.Getenv("RUBBISH_REPORT"); file != "" {
		w.report(file, seed, took)
	}
}

// stormLength draws how long a storm lasts: from a second to longest, short ones as often as long ones.
func stormLength(r *rand.Rand, longest time.Duration) time.Duration {
	return time.Duration(float64(time.Second) * math.Exp(r.Float64()*math.Log(longest.Seconds())))
}

// A span is one time of work.
type span struct {
	who        string
	token      uint64
	begin, end time.Duration
}

// Watchers drive candidates behind a proxy, and note what they do.
type watchers struct {
	t      *testing.T
	proxy  *rubbishProxy
	rand   *rand.Rand
	cancel context.CancelFunc
	all    sync.WaitGroup
	over   chan struct{} // closed when the candidates are asked to stop

	mu         sync.Mutex
	spans      []*span
	renewals   int
	errors     map[events.Class]int
	reasons    map[events.Reason]int
	lates      []time.Duration // from the end of trust to the reading of a Lost
	recoveries []time.Duration
	storms     []time.Duration
	confirmed  time.Duration // the last time that a write was confirmed, as read
	story      []line
	changed    chan struct{}
}

func newWatchers(t *testing.T, seed uint64) *watchers {
	t.Helper()
	namespace := newNamespace(t)
	// After all that the test has started has ended.
	here := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, here) })
	ctx, cancel := context.WithCancel(context.Background())
	w := &watchers{
		t: t, proxy: newRubbishProxy(t, seed), rand: rand.New(rand.NewPCG(seed, 2)), cancel: cancel,
		over: make(chan struct{}), errors: map[events.Class]int{}, reasons: map[events.Reason]int{}, changed: make(chan struct{}),
	}
	for i, name := range []string{"a", "b", "c"} {
		config := w.proxy.open(t, i > 0)
		lock, err := locks.NewLeaseForConfig(config, namespace, "demo")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(lock.CloseIdleConnections)
		e, err := elector.New(elector.Config{Lock: lock, Identity: name, LeaseDuration: rubbishLease})
		if err != nil {
			t.Fatal(err)
		}
		w.all.Go(func() { w.run(ctx, name, e) })
		w.all.Go(func() { w.watch(name, e) })
	}
	t.Cleanup(func() {
		w.stop()
		if t.Failed() {
			w.print()
		}
	})
	return w
}

func (w *watchers) run(ctx context.Context, name string, e *elector.Elector) {
	err := e.Run(ctx)
	select {
	case <-w.over:
	default:
		w.t.Errorf("%s: Run has returned: %v", name, err)
	}
	if err != nil {
		w.t.Errorf("%s: Run returns %v, want nil", name, err)
	}
}

// stop ends the candidates and waits for them. It may be called more than once.
func (w *watchers) stop() {
	select {
	case <-w.over:
	default:
		w.proxy.rain(0)
		close(w.over)
		w.cancel()
		w.all.Wait()
		close(w.proxy.ended)
	}
}

// watch reads a candidate's events, works in its terms, and checks what each event says.
func (w *watchers) watch(name string, e *elector.Elector) {
	var trust time.Time           // the last ValidUntil that was told
	var trustEnds time.Duration   // the same on the monotonic clock
	until := func(at time.Time) { // trust moves
		trust, trustEnds = at, monotonic.Now()+time.Until(at)
	}
	for event := range e.Events() {
		read := monotonic.Now()
		switch event := event.(type) {
		case events.Acquired:
			until(event.ValidUntil)
			event.Term.Go(func(ctx context.Context) error { w.work(ctx, event.Term); return nil })
			w.confirm(read)
		case events.Renewed:
			until(event.ValidUntil)
			w.confirm(read)
			w.renewed(1 + event.Skipped)
		case events.Lost:
			if event.Term.Context().Err() == nil {
				w.t.Errorf("%s: %s, but the term's context goes on", name, event)
			}
			if event.Time.After(trust) {
				w.t.Errorf("%s: %s at %v, but trust ended at %v", name, event, event.Time, trust)
			}
			if late := read - trustEnds; late > noise {
				w.t.Errorf("%s: %s is read %v after the end of trust", name, event, late)
			}
			w.lost(event, read-trustEnds)
		case events.Error:
			w.failure(name, event)
		case events.LeaderChanged:
		}
		if _, ok := event.(events.Renewed); !ok {
			w.tell(read, fmt.Sprint(name, ": ", event))
		}
	}
}

func (w *watchers) work(ctx context.Context, term events.Term) {
	s := &span{who: term.Identity(), token: term.Token(), begin: monotonic.Now()}
	w.mu.Lock()
	w.spans = append(w.spans, s)
	w.mu.Unlock()
	<-ctx.Done()
	w.mu.Lock()
	s.end = monotonic.Now()
	w.mu.Unlock()
}

func (w *watchers) failure(name string, e events.Error) {
	w.mu.Lock()
	w.errors[e.Class] += 1 + e.Skipped
	w.mu.Unlock()
	if !e.Retryable {
		w.t.Errorf("%s: %s is not tried again", name, e)
	}
	if e.Class != events.ClassDecode {
		return
	}
	var decode *elector.DecodeError
	if !errors.As(e.Err, &decode) {
		w.t.Errorf("%s: %s is no DecodeError", name, e)
	} else if decode.Status == 0 && decode.Body == "" {
		w.t.Errorf("%s: %s tells neither status nor body", name, e)
	}
}

func (w *watchers) lost(e events.Lost, late time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reasons[e.Reason]++
	if e.Reason == events.ReasonExpired {
		w.lates = append(w.lates, late)
	}
}

func (w *watchers) renewed(times int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.renewals += times
}

func (w *watchers) confirm(at time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.confirmed = max(w.confirmed, at)
	close(w.changed)
	w.changed = make(chan struct{})
}

func (w *watchers) tell(at time.Duration, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.story = append(w.story, line{at, text})
}

// shower is the share of rubbish between the storms: terms live on in it, though some of their renewals were answered
// with rubbish, and some of these were done all the same.
const shower = 0.4

// pass lets a storm pass over, waits until somebody leads again, and lets a shower follow.
func (w *watchers) pass(storm time.Duration) {
	w.t.Helper()
	w.tell(monotonic.Now(), fmt.Sprint("-- a storm of ", storm))
	w.proxy.rain(1)
	w.wait(storm)
	w.proxy.rain(0)
	w.tell(monotonic.Now(), "-- the storm is over")
	took := w.awaitLeader("after a storm", recovery)
	w.mu.Lock()
	w.storms, w.recoveries = append(w.storms, storm), append(w.recoveries, took)
	w.mu.Unlock()
	w.proxy.rain(shower)
	w.wait(time.Duration(w.rand.Int64N(int64(3 * rubbishLease))))
}

// wait lets time pass: nothing ends a storm but time.
func (w *watchers) wait(d time.Duration) { <-time.After(d) }

// awaitLeader waits until a write is confirmed that is read from now on, and returns how long that took.
func (w *watchers) awaitLeader(when string, longest time.Duration) time.Duration {
	w.t.Helper()
	began := monotonic.Now()
	ctx := within(w.t, time.Minute)
	for {
		w.mu.Lock()
		confirmed, changed := w.confirmed, w.changed
		w.mu.Unlock()
		if confirmed > began {
			took := confirmed - began
			if took > longest {
				w.t.Errorf("%s nobody led for %v, want %v at most", when, took, longest)
			}
			return took
		}
		select {
		case <-changed:
		case <-ctx.Done():
			w.t.Fatalf("%s nobody leads", when)
		}
	}
}

// check compares all the work that was done.
func (w *watchers) check() {
	w.t.Helper()
	slices.SortFunc(w.spans, func(a, b *span) int { return cmp.Compare(a.begin, b.begin) })
	latest := &span{}
	for _, s := range w.spans {
		if s.begin < latest.end {
			w.t.Errorf("two work at once: %+v, %+v", *latest, *s)
		}
		if s.token <= latest.token {
			w.t.Errorf("the tokens do not grow: %+v, %+v", *latest, *s)
		}
		if s.end > latest.end {
			latest = s
		}
	}
	if w.errors[events.ClassDecode] == 0 {
		w.t.Error("no answer was unreadable")
	}
	w.t.Logf("%d terms, %d renewals, %d storms, losses %v, errors %v", len(w.spans), w.renewals, len(w.storms), w.reasons, w.errors)
	w.t.Logf("a leader again after at most %v; Lost read at most %v after the end of trust",
		longestOf(w.recoveries), longestOf(w.lates))
}

func longestOf(d []time.Duration) time.Duration { return slices.Max(append(d, 0)) }

func (w *watchers) print() {
	w.mu.Lock()
	defer w.mu.Unlock()
	var b strings.Builder
	for _, l := range w.story {
		fmt.Fprintf(&b, "%14.6f  %.200s\n", l.at.Seconds(), l.text)
	}
	w.t.Logf("what happened:\n%s", &b)
}

// report writes what a run has shown.
func (w *watchers) report(file string, seed int64, took time.Duration) {
	w.t.Helper()
	seconds := func(all []time.Duration) []float64 {
		s := []float64{}
		for _, d := range all {
			s = append(s, d.Round(time.Millisecond).Seconds())
		}
		return s
	}
	losses, failures := map[string]int{}, map[string]int{}
	for reason, n := range w.reasons {
		losses[reason.String()] = n
	}
	for class, n := range w.errors {
		failures[class.String()] = n
	}
	writeReport(w.t, file, struct {
		provenance
		Passed     bool           `json:"passed"`
		Seed       int64          `json:"seed"`
		Took       string         `json:"took"`
		Terms      int            `json:"terms"`
		Renewals   int            `json:"renewals"`
		Losses     map[string]int `json:"losses"`
		Errors     map[string]int `json:"errors"`
		Storms     []float64      `json:"stormSeconds"`
		Recoveries []float64      `json:"secondsFromEachStormToALeader"`
		Lates      []float64      `json:"secondsFromTheEndOfTrustToTheReadingOfLost"`
		Rubbish    map[string]int `json:"rubbishServed"`
	}{
		provenanceOf(w.t, fmt.Sprintf("cd integration && RUBBISH_SECONDS=%s RUBBISH_SEED=%d RUBBISH_REPORT=%s "+
			"go test -count=1 -timeout=30m -run TestSurvivesRubbish .", os.Getenv("RUBBISH_SECONDS"), seed, file)),
		!w.t.Failed(), seed, took.Round(time.Second).String(), len(w.spans), w.renewals, losses, failures,
		seconds(w.storms), seconds(w.recoveries), seconds(w.lates), w.proxy.served,
	})
}
