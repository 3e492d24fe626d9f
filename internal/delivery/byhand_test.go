package delivery

import (
	"fmt"
	"slices"
	"testing"

	"github.com/seed2c765205/elect/events"
)

// byHand is a hub whose main reader is served by hand: all of it happens on one goroutine.
func byHand() (*Hub, *teller) {
	h := NewHub()
	h.ByHand()
	return h, &teller{h: h}
}

// inChannel reads what is in the channel; "closed" is last if it is closed.
func inChannel(c <-chan events.Event) (all []string) {
	for {
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

func TestE1_ByHandTheChannelGetsAllWithEachFlush(t *testing.T) {
	h, p := byHand()
	p.tell("C:b", "A")
	c := h.Events()
	if h.Events() != c {
		t.Error("the second call of Events gives another channel")
	}
	wantAll(t, "the reader", inChannel(c), "C:>b", "A1")
	p.tell("R", "R", "L", "C:a")
	wantAll(t, "the reader, before Flush,", inChannel(c))
	h.Flush()
	wantAll(t, "the reader", inChannel(c), "R1+1", "L1", "C:b>a")
}

func TestE2_ByHandOnlyWhatIsInTheChannelIsNoLongerThinnedOut(t *testing.T) {
	h, p := byHand()
	c := h.Events()
	p.tell("A", "R")
	h.Flush()
	p.tell("R", "R")
	h.Flush()
	wantAll(t, "the reader", inChannel(c), "A1", "R1", "R1+1")
}

func TestE3_ByHandNothingWaitsForAReaderAndMemoryIsBounded(t *testing.T) {
	h, p := byHand()
	c := h.Events()
	for range 1000 {
		p.tell("A", "R", "E", "C:a", "L", "C:")
		h.Flush()
	}
	if n := len(c); n != handRoom {
		t.Errorf("%d events are in the channel, want %d", n, handRoom)
	}
	if n := h.main.queue.line.len(); n > mostUnread {
		t.Errorf("%d events are kept beside the channel, want at most %d", n, mostUnread)
	}
	terms, lastSkipped := 0, 0
	h.End()
	h.Flush()
	for e := range c {
		if a, ok := e.(events.Acquired); ok {
			terms += 1 + a.Skipped
			lastSkipped = max(lastSkipped, a.Skipped)
		}
	}
	if terms != 1000 || lastSkipped == 0 {
		t.Errorf("the reader hears of %d terms, want all 1000, most of them as skipped", terms)
	}
}

func TestE5_ByHandTheChannelClosesAfterTheLastEvent(t *testing.T) {
	for _, terms := range []int{0, 1, 63, 200, 500} {
		t.Run(fmt.Sprint(terms, " terms unread"), func(t *testing.T) {
			h, p := byHand()
			c := h.Events()
			for range terms {
				p.tell("A", "R", "L")
				h.Flush()
			}
			p.tell("E", "C:a")
			h.End()
			h.Flush() // the only one after the end
			h.Flush() // harmless
			got := inChannel(c)
			if len(got) < 3 || !slices.Equal(got[len(got)-3:], []string{"E", "C:>a", "closed"}) {
				t.Errorf("the last that the reader gets is %v, want E, C:>a, closed", got[max(0, len(got)-3):])
			}
		})
	}
}

func TestE5_ByHandAChannelThatIsAskedForAfterTheEndHasAllAndIsClosed(t *testing.T) {
	h, p := byHand()
	p.tell(repeat(64, "A", "R", "L")...)
	for op := range events.OpWork + 1 {
		for class := range events.ClassInternal + 1 {
			h.Publish(events.Error{Op: op, Class: class})
		}
	}
	p.tell("C:a")
	h.End()
	h.Flush()
	got := inChannel(h.Events())
	if want := 64*3 + int(events.OpWork+1)*int(events.ClassInternal+1) + 1 + 1; len(got) != want || got[len(got)-1] != "closed" {
		t.Errorf("the reader gets %d events, the last of them %v; want %d", len(got), got[max(0, len(got)-2):], want)
	}
}

func TestByHandACutLeavesTheLostThatIsOwed(t *testing.T) {
	full := repeat(handRoom/2-1, "A", "L") // and room for two more
	tests := []struct {
		name          string
		first, second []string // the first is flushed, the second not
		want          []string // the last of what the reader gets
	}{
		{"nothing happened", nil, nil, []string{"closed"}},
		{"nothing is owed", []string{"A", "L"}, []string{"A", "R", "L"}, []string{"A1", "L1", "closed"}},
		{"a Lost is owed", []string{"A"}, []string{"R", "L", "C:a"}, []string{"A1", "L1", "closed"}},
		{"a Lost is owed, the channel is full", append(full, "E", "A"), []string{"R", "L", "A", "L"}, []string{"E", "A128", "L128", "closed"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h, p := byHand()
			c := h.Events()
			for _, w := range tt.first {
				p.tell(w)
				h.Flush()
			}
			p.tell(tt.second...)
			h.Cut()
			h.Cut()
			h.Flush()
			got := inChannel(c)
			if n := len(tt.want); len(got) < n || !slices.Equal(got[len(got)-n:], tt.want) {
				t.Errorf("the last that the reader gets is %v, want %v", got[max(0, len(got)-n):], tt.want)
			}
		})
	}
}

func TestByHandACutAfterTheEndAddsNothing(t *testing.T) {
	h, p := byHand()
	c := h.Events()
	p.tell("A", "L")
	h.End()
	h.Flush()
	h.Cut()
	wantAll(t, "the reader", inChannel(c), "A1", "L1", "closed")
}

func TestByHandComesTooLateForAChannelThatAPumpServes(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, p *teller) {
		c := h.Events()
		h.ByHand()
		p.tell("A")
		readOne(t, c, "A1")
		p.tell("L")
		h.Flush()
		readOne(t, c, "L1")
	})
}

func TestByHandServesTheMainReaderOnly(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Hub, p *teller) {
		h.ByHand()
		sub := h.Subscribe(t.Context())
		p.tell("A")
		readOne(t, sub, "A1")
		h.Flush() // nobody has asked for the channel
		wantAll(t, "the reader", inChannel(h.Events()), "A1")
	})
}
