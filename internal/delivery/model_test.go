package delivery

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/seed2c765205/elect/events"
)

// A model says what a reader must get, from all that was published and that it has not got: the rules of the package
// comment once more, computed anew from the whole each time.
type model struct {
	unread []fact // in the order of publication, what stands for it or will be dropped for it included
	known  string // the leader that the reader last heard of
	moving []got  // on the way out, oldest first: popped and not yet known to be read
}

// A fact is an event that was published.
type fact struct {
	seq   int
	term  int // 0 if it belongs to none
	event events.Event
	group group
}

// A group is what only the latest of stays.
type group struct {
	name  string
	which int
	class events.Class
}

func groupOf(f fact) group {
	switch e := f.event.(type) {
	case events.Renewed:
		return group{name: "renewed", which: f.term}
	case events.LeaderChanged:
		return group{name: "leader"}
	case events.Error:
		return group{"error", int(e.Op), e.Class}
	case events.Acquired, events.Lost:
	}
	return group{name: "alone", which: f.seq}
}

// A got is an event as the reader must see it, with the facts that it settles.
type got struct {
	event   events.Event
	settles []int
}

func (m *model) publish(f fact) {
	f.group = groupOf(f)
	m.unread = append(m.unread, f)
}

// view is all that the reader would get if nothing more were published.
func (m *model) view() []got {
	known := m.known
	left := slices.Clone(m.unread)
	for _, g := range m.moving {
		left = slices.DeleteFunc(left, func(f fact) bool { return slices.Contains(g.settles, f.seq) })
		if e, ok := g.event.(events.LeaderChanged); ok {
			known = e.To
		}
	}
	left, dropped, count := dropTerms(left)
	groups := map[group][]fact{}
	for _, f := range left {
		groups[f.group] = append(groups[f.group], f)
	}
	var all []got
	for _, f := range left {
		members := groups[f.group]
		if members[len(members)-1].seq != f.seq {
			continue // a later one stands for it
		}
		g := stand(members)
		switch e := g.event.(type) {
		case events.Acquired:
			e.Skipped += count
			g.event, g.settles = e, append(g.settles, dropped...)
			dropped, count = nil, 0
		case events.LeaderChanged:
			e.From = known
			g.event = e
			if e.To == known {
				continue // it is nothing new
			}
		case events.Renewed, events.Lost, events.Error:
		}
		all = append(all, g)
	}
	return all
}

// dropTerms takes out what belongs to the oldest terms beyond 64, tells what that was and what the next Acquired counts.
func dropTerms(left []fact) (rest []fact, dropped []int, count int) {
	var terms []fact
	for _, f := range left {
		if _, ok := f.event.(events.Acquired); ok {
			terms = append(terms, f)
		}
	}
	for len(terms) > 64 {
		term := terms[0].term
		count += 1 + terms[0].event.(events.Acquired).Skipped
		left = slices.DeleteFunc(left, func(f fact) bool {
			if f.term == term {
				dropped = append(dropped, f.seq)
			}
			return f.term == term
		})
		terms = terms[1:]
	}
	return left, dropped, count
}

// stand is the last of a group, standing for all.
func stand(members []fact) got {
	var g got
	sum := 0
	for _, f := range members[:len(members)-1] {
		g.settles = append(g.settles, f.seq)
		sum += 1 + ownSkipped(f.event)
	}
	last := members[len(members)-1]
	g.settles = append(g.settles, last.seq)
	switch e := last.event.(type) {
	case events.Renewed:
		e.Skipped += sum
		g.event = e
	case events.Error:
		e.Skipped += sum
		g.event = e
	case events.Acquired, events.Lost, events.LeaderChanged:
		g.event = e
	}
	return g
}

func ownSkipped(e events.Event) int {
	switch e := e.(type) {
	case events.Renewed:
		return e.Skipped
	case events.Error:
		return e.Skipped
	case events.Acquired, events.Lost, events.LeaderChanged:
	}
	return 0
}

// pop sends the first of the view on its way.
func (m *model) pop() (events.Event, bool) {
	v := m.view()
	if len(v) == 0 {
		return nil, false
	}
	m.moving = append(m.moving, v[0])
	return v[0].event, true
}

// restore takes back what was sent on its way last.
func (m *model) restore() { m.moving = m.moving[:len(m.moving)-1] }

// read tells that the reader has what was sent on its way first.
func (m *model) read() {
	g := m.moving[0]
	m.moving = m.moving[1:]
	m.unread = slices.DeleteFunc(m.unread, func(f fact) bool { return slices.Contains(g.settles, f.seq) })
	if e, ok := g.event.(events.LeaderChanged); ok {
		m.known = e.To
	}
}

// A story publishes what an elector might: terms one after another, each with its own term value, and in between what
// comes in between. Each event carries its place in the order in Time.
type story struct {
	seq, terms int
	on         *fakeTerm
	leader     string
	all        []fact
}

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// next makes the event that the number chooses.
func (s *story) next(n uint64) fact {
	s.seq++
	f := fact{seq: s.seq, term: s.terms}
	at := start.Add(time.Duration(s.seq) * time.Second)
	own := int(n>>8) % 3 % 2
	switch n % 8 {
	case 0, 1, 2:
		f.event = s.turn(at, &f)
	case 3, 4:
		if s.on != nil {
			f.event = events.Renewed{Time: at, Term: s.on, ValidUntil: at.Add(time.Minute), Skipped: own}
			break
		}
		fallthrough
	case 5, 6:
		f.term = 0
		to := []string{"", "a", "b", "c"}[n>>10%4]
		f.event = events.LeaderChanged{Time: at, From: s.leader, To: to, Transitions: int64(s.seq)}
		s.leader = to
	default:
		f.term = 0
		f.event = events.Error{
			Time: at, Op: events.Op(1 + n>>10%2), Class: events.Class(1 + n>>12%3), Consecutive: s.seq, Skipped: own,
		}
	}
	s.all = append(s.all, f)
	return f
}

// turn begins a term, or ends the one that is on.
func (s *story) turn(at time.Time, f *fact) events.Event {
	if t := s.on; t != nil {
		s.on = nil
		return events.Lost{Time: at, Term: t, ValidUntil: at, Reason: events.ReasonTaken}
	}
	s.terms++
	f.term = s.terms
	s.on = &fakeTerm{number: int64(s.terms)}
	return events.Acquired{Time: at, Term: s.on, ValidUntil: at.Add(time.Minute), How: events.HowFree}
}

// fakeTerm is a term of which only the number and the instant matter.
type fakeTerm struct {
	events.Term
	number     int64
	validUntil time.Time
}

func (t *fakeTerm) Identity() string      { return "me" }
func (t *fakeTerm) Number() int64         { return t.number }
func (t *fakeTerm) Token() uint64         { return uint64(t.number) }
func (t *fakeTerm) ValidUntil() time.Time { return t.validUntil }

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }
