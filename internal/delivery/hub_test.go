package delivery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed2c765205/elect/events"
)

// tell publishes a script as play pushes it.
type teller struct {
	h     *Hub
	terms int64
	known string
}

func (p *teller) tell(words ...string) {
	for _, w := range words {
		term := &fakeTerm{number: p.terms}
		switch w[0] {
		case 'A':
			p.terms++
			p.h.Publish(events.Acquired{Term: &fakeTerm{number: p.terms}})
		case 'R':
			p.h.Publish(events.Renewed{Term: term})
		case 'L':
			p.h.Publish(events.Lost{Term: term})
		case 'C':
			p.h.Publish(events.LeaderChanged{From: p.known, To: w[2:]})
			p.known = w[2:]
		case 'E':
			p.h.Publish(events.Error{Op: events.OpRead, Class: events.ClassTimeout})
		}
	}
}

// readNow reads what can be read without waiting for another publication; "closed" is last if the channel is.
func readNow(c <-chan events.Event) (all []string) {
	for {
		synctest.Wait()
		select {
		case e, ok := <-c:
			if !ok {
				return append(all, "closed")
			}
			all = append(all, show(e))
		default:
			return all
		}
	}
}

func readOne(t *testing.T, c <-chan events.Event, want string) {
	t.Helper()
	synctest.Wait()
	select {
	case e, ok := <-c:
		if !ok {
			t.Fatalf("the channel is closed, want %s", want)
		}
		if got := show(e); got != want {
			t.Fatalf("read %s, want %s", got, want)
		}
	default:
		t.Fatalf("nothing to read, want %s", want)
	}
}

func wantAll(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s gets\n%v, want\n%v", what, got, want)
	}
}

// inBubble runs a test on a hub in a bubble, and cuts it in the end.
func inBubble(t *testing.T, test func(t *testing.T, h *Hub, p *teller)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		defer h.Cut()
		test(t, h, &teller{h: h})
	})
}

func TestE1_AllReadersSeeOneOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, p *teller) {
		main, sub := h.Events(), h.Subscribe(t.Context())
		script := []string{"C:b", "E", "C:", "A", "C:a", "R", "L", "C:b"}
		want := []string{"C:>b", "E", "C:b>", "A1", "C:>a", "R1", "L1", "C:a>b"}
		for i := range script {
			p.tell(script[i])
			readOne(t, main, want[i])
			readOne(t, sub, want[i])
		}
	})
}

func TestE1_EventsIsOneChannelThatRecordsFromTheStart(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, p *teller) {
		p.tell("C:b", "A", "R", "L")
		c := h.Events()
		p.tell("A")
		if h.Events() != c {
			t.Error("the second call of Events gives another channel")
		}
		h.End()
		wantAll(t, "the reader", readNow(c), "C:>b", "A1", "R1", "L1", "A2", "closed")
		if h.Events() != c {
			t.Error("after the end, Events gives another channel")
		}
	})
}

// An event in the channel that nobody has taken is as unread as any.
func TestE2_TheEventInTheChannelIsStillUnread(t *testing.T) {
	tests := []struct {
		name          string
		read          int
		first, second []string
		want          []string
	}{
		{"a leader", 0, []string{"C:a"}, []string{"C:b"}, []string{"C:>b"}},
		{"a leader, and back", 1, []string{"C:a", "C:b"}, []string{"C:a"}, nil},
		{"a renewal", 1, []string{"A", "R"}, []string{"R"}, []string{"R1+1"}},
		{"an error, behind it a term", 0, []string{"E", "A"}, []string{"E"}, []string{"A1", "E+1"}},
		{"the first of too many terms", 0, repeat(64, "A", "L"), []string{"A"}, append(append([]string{"A2+1", "L2"}, span(3, 64)...), "A65")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, h *Hub, p *teller) {
				c := h.Events()
				for i, w := range tt.first {
					p.tell(w)
					if i < tt.read {
						synctest.Wait()
						<-c
					}
				}
				synctest.Wait()
				p.tell(tt.second...)
				wantAll(t, "the reader", readNow(c), tt.want...)
			})
		})
	}
}

// Between any two operations the pumps come to rest, so that what is read is exact.
func TestE2_HubDoesWhatTheModelSays(t *testing.T) {
	for seed := range uint64(20) {
		inBubble(t, func(t *testing.T, h *Hub, _ *teller) {
			r, s, m := seeded(seed), story{}, model{}
			c, reluctance := h.Events(), r.IntN(9)
			for i := range 400 {
				if r.IntN(10) < 5+reluctance/2 {
					f := s.next(r.Uint64())
					h.Publish(f.event)
					m.publish(f)
					continue
				}
				synctest.Wait()
				want, ok := m.pop()
				select {
				case got := <-c:
					if got != want {
						t.Fatalf("seed %d, step %d: read\n%#v, want\n%#v", seed, i, got, want)
					}
					m.read()
				default:
					if ok {
						t.Fatalf("seed %d, step %d: nothing to read, want\n%#v", seed, i, want)
					}
				}
			}
			h.End()
			for _, want := range m.view() {
				if got := <-c; got != want.event {
					t.Fatalf("seed %d, at the end: read\n%#v, want\n%#v", seed, got, want.event)
				}
			}
			if e, ok := <-c; ok {
				t.Fatalf("seed %d: read %v after the last", seed, e)
			}
		})
	}
}

func TestE3_PublishNeverWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, p *teller) {
		main, sub := h.Events(), h.Subscribe(t.Context())
		for range 2_000 {
			p.tell("A", "R", "R", "E", "C:a", "L", "C:b")
		}
		p.tell("A", "C:c")
		first := fmt.Sprint("A", 2001-63, "+", 2001-64)
		for _, c := range []<-chan events.Event{main, sub} {
			got := readNow(c)
			if len(got) != 63*3+3 || got[0] != first || !slices.Equal(got[len(got)-4:], []string{"E+1999", "L2000", "A2001", "C:>c"}) {
				t.Errorf("a reader that was asleep gets %d events, %v … %v", len(got), got[0], got[len(got)-4:])
			}
		}
	})
}

func TestE5_ALateReaderFirstGetsTheCurrentState(t *testing.T) {
	tests := []struct {
		name   string
		script []string
		end    bool
		want   []string
	}{
		{"nothing happened", nil, false, nil},
		{"only errors", []string{"E"}, false, nil},
		{"another leads", []string{"C:a", "C:b"}, false, []string{"C:>b"}},
		{"nobody leads any more", []string{"C:a", "C:"}, false, nil},
		{"a term is on", []string{"C:b", "C:", "A", "R", "R"}, false, []string{"A1"}},
		{"a term is on and known", []string{"C:b", "A", "C:me", "R"}, false, []string{"A1", "C:>me"}},
		{"a term is over", []string{"A", "C:me", "L", "C:b"}, false, []string{"C:>b"}},
		{"the second term is on", []string{"A", "L", "A"}, false, []string{"A2"}},
		{"it is all over", []string{"A", "C:me", "L", "C:b"}, true, []string{"C:>b", "closed"}},
		{"it ended before it began", nil, true, []string{"closed"}},
		{"it ended within a term", []string{"A"}, true, []string{"closed"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, h *Hub, p *teller) {
				p.tell(tt.script...)
				if tt.end {
					h.End()
				}
				wantAll(t, "the late reader", readNow(h.Subscribe(t.Context())), tt.want...)
			})
		})
	}
}

func TestE5_ALateReaderThenGetsWhatIsNew(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, p *teller) {
		p.tell("A", "C:me", "R")
		c := h.Subscribe(t.Context())
		p.tell("R", "L", "C:", "A")
		wantAll(t, "the late reader", readNow(c), "A1", "R1", "L1", "A2")
		p.tell("C:me")
		wantAll(t, "the late reader", readNow(c), "C:>me")
	})
}

// What one reader skipped says nothing about another.
func TestE5_ALateReaderSkippedNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, _ *teller) {
		term := &fakeTerm{number: 9}
		h.Publish(events.Acquired{Term: term, Skipped: 3})
		e, ok := (<-h.Subscribe(t.Context())).(events.Acquired)
		if !ok || e.Skipped != 0 || e.Term != events.Term(term) {
			t.Errorf("it gets %#v, want the term with Skipped 0", e)
		}
	})
}

func TestE5_ChannelsCloseAfterTheLastEvent(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, p *teller) {
		main, sub := h.Events(), h.Subscribe(t.Context())
		p.tell("A", "R", "L")
		readOne(t, main, "A1")
		h.End()
		h.End()
		p.tell("A", "E")
		wantAll(t, "the reader", readNow(main), "R1", "L1", "closed")
		wantAll(t, "the subscriber", readNow(sub), "A1", "R1", "L1", "closed")
	})
}

// A reader that never asks again must not keep a goroutine: the last event waits in the channel alone.
func TestReadersThatHaveAllAreForgotten(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, p *teller) {
		p.tell("C:a")
		h.End()
		for range 10 {
			wantAll(t, "the subscriber", readNow(h.Subscribe(t.Context())), "C:>a", "closed")
		}
		wantAll(t, "the reader", readNow(h.Events()), "C:>a", "closed")
		if n := len(h.readers); n != 0 {
			t.Errorf("the hub keeps %d readers", n)
		}
	})
}

func TestThePumpEndsWithTheLastEventInTheChannel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the bubble panics if a goroutine is left
		h := NewHub()
		c := h.Events()
		(&teller{h: h}).tell("A", "L")
		<-c
		h.End()
		synctest.Wait()
		h.pumps.Wait()
		wantAll(t, "the reader", readNow(c), "L1", "closed")
	})
}

func TestCutLeavesOnlyTheLostThatIsOwed(t *testing.T) {
	tests := []struct {
		name          string
		first, second []string // the reader reads all of the first
		want          []string
	}{
		{"nothing happened", nil, nil, nil},
		{"nothing was read", nil, []string{"A", "R", "L", "C:b"}, nil},
		{"all was read", []string{"A", "L", "C:b"}, nil, nil},
		{"a Lost is owed, in the channel", []string{"A", "R"}, []string{"L"}, []string{"L1"}},
		{"a Lost is owed, behind others", []string{"A"}, []string{"R", "E", "C:a", "L", "C:b", "A", "L"}, []string{"L1"}},
		{"a Lost was read, later ones are not owed", []string{"A", "L"}, []string{"A", "R", "L"}, nil},
		{"the term is on", []string{"A"}, []string{"R", "E"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, h *Hub, p *teller) {
				main, sub := h.Events(), h.Subscribe(t.Context())
				for _, w := range tt.first {
					p.tell(w)
					synctest.Wait()
					<-main
					<-sub
				}
				p.tell(tt.second...)
				synctest.Wait()
				h.Cut()
				want := append(tt.want, "closed")
				wantAll(t, "the reader", readNow(main), want...)
				wantAll(t, "the subscriber", readNow(sub), want...)
				if h.Events() != main {
					t.Error("after the cut, Events gives another channel")
				}
			})
		})
	}
}

func TestCutBeforeAnybodyAsked(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, p *teller) {
		p.tell("A", "L", "C:b")
		h.Cut()
		h.Cut()
		p.tell("A")
		wantAll(t, "the reader", readNow(h.Events()), "closed")
		if first := h.Events(); first != h.Events() {
			t.Error("Events gives another channel each time")
		}
		wantAll(t, "the subscriber", readNow(h.Subscribe(t.Context())), "closed")
		h.End()
	})
}

func TestCutReturnsWhenAllPumpsHaveEnded(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, p *teller) {
		readers := []<-chan events.Event{h.Events()}
		for range 100 {
			readers = append(readers, h.Subscribe(t.Context()))
		}
		p.tell("A", "C:a")
		h.Cut()
		for i, c := range readers {
			select {
			case e, ok := <-c:
				if ok {
					t.Errorf("reader %d gets %v", i, e)
				}
			default:
				t.Errorf("the channel of reader %d is still open", i)
			}
		}
		if n := len(h.readers); n != 0 {
			t.Errorf("the hub knows %d readers, want none", n)
		}
	})
}

func TestCutAfterTheEndOfTheStream(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, p *teller) {
		c := h.Events()
		p.tell("A")
		readOne(t, c, "A1")
		p.tell("R", "L", "C:b")
		h.End()
		synctest.Wait()
		h.Cut()
		wantAll(t, "the reader", readNow(c), "L1", "closed")
	})
}

func TestASubscriptionEndsWithItsContext(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, p *teller) {
		ctx, cancel := context.WithCancel(t.Context())
		main, sub := h.Events(), h.Subscribe(ctx)
		p.tell("A")
		readOne(t, sub, "A1")
		p.tell("R", "L", "A")
		synctest.Wait()
		cancel()
		synctest.Wait()
		p.tell("L")
		wantAll(t, "the subscriber", readNow(sub), "L1", "closed")
		wantAll(t, "the reader", readNow(main), "A1", "R1", "L1", "A2", "L2")
		if n := len(h.readers); n != 1 {
			t.Errorf("the hub knows %d readers, want 1", n)
		}
		p.tell("A")
		for range 50 {
			if e, ok := <-h.Subscribe(ctx); ok {
				t.Fatalf("a reader whose context has ended gets %v", e)
			}
		}
	})
}

// Per reader nothing may be left behind, however many there were.
func TestAThousandSubscriptionsLeaveNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, p *teller) {
		for range 1000 {
			ctx, cancel := context.WithCancel(t.Context())
			c := h.Subscribe(ctx)
			p.tell("A", "L")
			<-c
			cancel()
			synctest.Wait()
		}
		if n := len(h.readers); n != 1 {
			t.Errorf("the hub knows %d readers, want 1", n)
		}
		h.pumps.Wait()
	})
}

func TestPublishFreezesWhatTheTermTells(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, _ *teller) {
		c, term := h.Events(), &fakeTerm{validUntil: start}
		own := start.Add(time.Hour)
		cause := errors.New("taken")
		for _, e := range []events.Event{
			events.Acquired{Term: term}, events.Lost{Term: term, Err: cause},
			events.Acquired{Term: term, ValidUntil: own}, events.Lost{Term: term, ValidUntil: own},
			events.Acquired{}, events.Lost{},
		} {
			h.Publish(e)
		}
		term.validUntil = start.Add(time.Minute)
		h.End()
		var got []events.Event
		for e := range c {
			got = append(got, e)
		}
		want := []events.Event{
			events.Acquired{Term: term, ValidUntil: start}, events.Lost{Term: term, ValidUntil: start, Err: cause},
			events.Acquired{Term: term, ValidUntil: own}, events.Lost{Term: term, ValidUntil: own},
			events.Acquired{}, events.Lost{},
		}
		if !slices.Equal(got, want) {
			t.Errorf("the reader gets\n%v, want\n%v", got, want)
		}
	})
}
