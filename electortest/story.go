package electortest

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed2c765205/elect/events"
)

// told is how many events a story shows at most: the last ones.
const told = 50

// A story is what came from a stream.
type story struct {
	stream <-chan events.Event
	limit  *time.Timer
	came   []events.Event
}

// newStory limits the wait by real time, whatever clock the elector has: in a bubble that is virtual, and outside one it
// only keeps a test from running for ever.
func newStory(stream <-chan events.Event) *story {
	return &story{stream: stream, limit: time.NewTimer(patience)}
}

func (s *story) end() { s.limit.Stop() }

// next reads an event, or tells why there is none.
func (s *story) next() (event events.Event, why string) {
	select {
	case e, ok := <-s.stream:
		if !ok {
			return nil, "the stream closed"
		}
		s.came = append(s.came, e)
		return e, ""
	case <-s.limit.C:
		return nil, fmt.Sprintf("%v went by", patience)
	}
}

// String tells one event a line, with the time since the first.
func (s *story) String() string {
	if len(s.came) == 0 {
		return "nothing came"
	}
	var b strings.Builder
	b.WriteString("what came:")
	last := s.came[max(0, len(s.came)-told):]
	if n := len(s.came) - len(last); n > 0 {
		fmt.Fprintf(&b, "\n\t%d events, and then", n)
	}
	for _, e := range last {
		fmt.Fprintf(&b, "\n\t%10v  %v", e.When().Sub(s.came[0].When()), e)
	}
	return b.String()
}
