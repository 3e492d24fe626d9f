package delivery

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/seed2c765205/elect/events"
)

// A watcher checks what one reader gets, whatever its pace.
type watcher struct {
	at               time.Time
	term, open       int64 // the last term, and the one that is on
	known            string
	renewals, errors int  // sums, what they count included
	late             bool // it gets the current state first, which is older than what follows
	wrong            []string
}

func (w *watcher) check(ok bool, e events.Event) {
	if !ok {
		w.wrong = append(w.wrong, fmt.Sprintf("after term %d, open %d, leader %q: %#v", w.term, w.open, w.known, e))
	}
}

func (w *watcher) see(e events.Event) {
	w.check(e.When().After(w.at) || w.late, e) // one order
	w.at = e.When()
	switch e := e.(type) {
	case events.Acquired:
		n := e.Term.Number()
		w.check(w.open == 0 && (n == w.term+1+int64(e.Skipped) || w.late && w.term == 0), e)
		w.term, w.open = n, n
	case events.Renewed:
		w.check(w.open == e.Term.Number(), e)
		w.renewals += 1 + e.Skipped
	case events.Lost:
		w.check(w.open == e.Term.Number(), e)
		w.open = 0
	case events.LeaderChanged:
		w.late = w.late && w.term == 0
		w.check(e.From == w.known && e.To != e.From, e)
		w.known = e.To
	case events.Error:
		w.errors += 1 + e.Skipped
	}
}

// watch reads to the end, with breaks of its own.
func watch(c <-chan events.Event, breaks int, w *watcher) {
	n := 0
	for e := range c {
		w.see(e)
		if n++; breaks > 0 && n%breaks == 0 {
			runtime.Gosched()
		}
	}
}

func report(t *testing.T, w *watcher) {
	t.Helper()
	if len(w.wrong) > 0 {
		t.Errorf("%d events do not fit; the first: %s", len(w.wrong), w.wrong[0])
	}
}

// publishTerms publishes whole terms: each with three renewals, an error and two changes of leaders.
func publishTerms(h *Hub, terms int) {
	at := start
	next := func() time.Time { at = at.Add(1); return at }
	for i := range int64(terms) {
		term := &fakeTerm{number: i + 1}
		h.Publish(events.Acquired{Time: next(), Term: term})
		h.Publish(events.LeaderChanged{Time: next(), To: "me"})
		for range 3 {
			h.Publish(events.Renewed{Time: next(), Term: term})
		}
		h.Publish(events.Error{Time: next(), Op: events.OpWrite, Class: events.ClassTimeout})
		h.Publish(events.Lost{Time: next(), Term: term})
		h.Publish(events.LeaderChanged{Time: next(), From: "me", To: fmt.Sprint(i % 5)})
		if i%7 == 0 {
			runtime.Gosched()
		}
	}
}

func TestE1_ReadersOfAnyPaceSeeATrueStory(t *testing.T) {
	const terms = 3000
	h := NewHub()
	watchers := make([]watcher, 4)
	var readers sync.WaitGroup
	for i := range watchers {
		c := h.Subscribe(t.Context())
		if i == 0 {
			c = h.Events()
		}
		readers.Go(func() { watch(c, i, &watchers[i]) })
	}
	publishTerms(h, terms)
	h.End()
	readers.Wait()
	for i := range watchers {
		w := &watchers[i]
		report(t, w)
		if w.term != terms || w.open != 0 || w.known != fmt.Sprint((terms-1)%5) {
			t.Errorf("reader %d ends in term %d, open %d, leader %q", i, w.term, w.open, w.known)
		}
		if w.errors != terms {
			t.Errorf("reader %d: %d errors were read or counted, want %d", i, w.errors, terms)
		}
	}
	h.Cut()
}

// Whoever has read an Acquired reads its Lost, whenever the deliveries are cut.
func TestE2_ACutAtAnyMomentOwesNothing(t *testing.T) {
	for i := range 200 {
		h := NewHub()
		var readers sync.WaitGroup
		watchers := make([]watcher, 3)
		for j := range watchers {
			c := h.Subscribe(t.Context())
			if j == 0 {
				c = h.Events()
			}
			readers.Go(func() { watch(c, j, &watchers[j]) })
		}
		publishTerms(h, 1+i%9)
		h.Cut()
		readers.Wait()
		for j := range watchers {
			report(t, &watchers[j])
			if n := watchers[j].open; n != 0 {
				t.Fatalf("reader %d has not read the Lost of term %d", j, n)
			}
		}
	}
}

func TestReadersComeAndGoWhileEventsArePublished(t *testing.T) {
	h := NewHub()
	var readers sync.WaitGroup
	for i := range 3 {
		readers.Go(func() {
			for range 200 {
				ctx, cancel := context.WithCancel(t.Context())
				w := watcher{late: true}
				for e := range h.Subscribe(ctx) {
					w.see(e)
					if w.term%int64(2+i) == 0 {
						cancel()
					}
				}
				cancel()
				report(t, &w)
			}
		})
	}
	readers.Go(func() { publishTerms(h, 2000); h.End() })
	readers.Wait()
	h.Cut()
	if n := len(h.readers); n != 1 {
		t.Errorf("the hub knows %d readers, want only the main one", n)
	}
}

func TestCutFromManyPlacesAtOnce(t *testing.T) {
	h := NewHub()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { publishTerms(h, 50) })
		all.Go(func() {
			for range h.Subscribe(t.Context()) {
				runtime.Gosched()
			}
		})
		all.Go(h.Cut)
		all.Go(func() { h.Events() })
	}
	all.Wait()
	for range h.Events() {
	}
}
