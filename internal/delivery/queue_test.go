package delivery

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/seed2c765205/elect/events"
)

// A script is one event per word: A and L begin and end the next term, R renews it, C:x makes x the leader, E and F are
// errors of two classes, ! reads one event.
func play(t *testing.T, words ...string) (q *queue, got []string) {
	t.Helper()
	q = new(queue)
	terms, known := 0, ""
	for _, w := range words {
		switch w[0] {
		case 'A':
			terms++
			q.push(events.Acquired{Term: &fakeTerm{number: int64(terms)}})
		case 'R':
			q.push(events.Renewed{Term: &fakeTerm{number: int64(terms)}})
		case 'L':
			q.push(events.Lost{Term: &fakeTerm{number: int64(terms)}})
		case 'C':
			q.push(events.LeaderChanged{From: known, To: w[2:]})
			known = w[2:]
		case 'E':
			q.push(events.Error{Op: events.OpRead, Class: events.ClassTimeout})
		case 'F':
			q.push(events.Error{Op: events.OpRead, Class: events.ClassDecode})
		case '!':
			if it, ok := q.pop(); ok {
				got = append(got, show(it.value()))
			}
		}
	}
	return q, got
}

func rest(q *queue) (got []string) {
	for it, ok := q.pop(); ok; it, ok = q.pop() {
		got = append(got, show(it.value()))
	}
	return got
}

func show(e events.Event) string {
	plus := func(s string, n int) string {
		if n == 0 {
			return s
		}
		return fmt.Sprint(s, "+", n)
	}
	switch e := e.(type) {
	case events.Acquired:
		return plus(fmt.Sprint("A", e.Term.Number()), e.Skipped)
	case events.Renewed:
		return plus(fmt.Sprint("R", e.Term.Number()), e.Skipped)
	case events.Lost:
		return fmt.Sprint("L", e.Term.Number())
	case events.LeaderChanged:
		return fmt.Sprintf("C:%s>%s", e.From, e.To)
	case events.Error:
		if e.Class == events.ClassDecode {
			return plus("F", e.Skipped)
		}
		return plus("E", e.Skipped)
	}
	return "?"
}

func repeat(n int, words ...string) (all []string) {
	for range n {
		all = append(all, words...)
	}
	return all
}

func span(from, to int) (all []string) {
	for i := from; i <= to; i++ {
		all = append(all, fmt.Sprint("A", i), fmt.Sprint("L", i))
	}
	return all
}

func TestE2_WhatIsUnreadIsThinnedOut(t *testing.T) {
	words := func(w ...string) []string { return w }
	var acquired4to66 []string
	for i := 4; i <= 66; i++ {
		acquired4to66 = append(acquired4to66, fmt.Sprint("A", i))
	}
	tests := []struct {
		name   string
		script []string
		want   []string
	}{
		{"nothing", nil, nil},
		{"all that differs stays, in order", words("E", "A", "C:a", "F", "R", "L", "C:b"), words("E", "A1", "F", "R1", "L1", "C:>b")},
		{"of renewals of a term the latest", words("A", "R", "R", "R", "L", "A", "R", "R", "L"), words("A1", "R1+2", "L1", "A2", "R2+1", "L2")},
		{"the latest stands at its own place", words("A", "R", "E", "R"), words("A1", "E", "R1+1")},
		{"a renewal that was read is not counted", words("A", "R", "!", "!", "R", "R"), words("A1", "R1", "R1+1")},
		{"of errors of a class the latest", words("E", "F", "E", "E", "F"), words("E+2", "F+1")},
		{"errors of a class between terms", words("E", "A", "E", "L", "E"), words("A1", "L1", "E+2")},
		{"of leaders the latest", words("C:a", "C:b", "C:c"), words("C:>c")},
		{"joined to what was read", words("C:a", "!", "C:b", "C:c"), words("C:>a", "C:a>c")},
		{"back again is no change", words("C:a", "!", "C:b", "C:a"), words("C:>a")},
		{"from nobody to nobody is no change", words("C:a", "C:"), nil},
		{"no change first, a change later", words("C:a", "!", "C:b", "C:a", "C:c"), words("C:>a", "C:a>c")},
		{"64 terms behind: all", repeat(64, "A", "L"), span(1, 64)},
		{"64 terms behind, the last is on", append(repeat(63, "A", "L"), "A"), append(span(1, 63), "A64")},
		{"65 terms behind: the oldest goes", repeat(65, "A", "L"), append(words("A2+1", "L2"), span(3, 65)...)},
		{"65 terms behind, the last is on", append(repeat(64, "A", "L"), "A"), append(append(words("A2+1", "L2"), span(3, 64)...), "A65")},
		{"70 terms behind", repeat(70, "A", "L"), append(words("A7+6", "L7"), span(8, 70)...)},
		{"renewals go with their term, errors do not", append(words("A", "R", "E", "L"), repeat(64, "A", "L")...), append(words("E", "A2+1", "L2"), span(3, 65)...)},
		{"a read Acquired keeps its Lost", append(words("A", "!", "L"), repeat(64, "A", "L")...), append(words("A1", "L1"), span(2, 65)...)},
		{"and later terms go instead", append(words("A", "!", "R", "L"), repeat(66, "A", "L")...), append(words("A1", "R1", "L1", "A4+2", "L4"), span(5, 67)...)},
		{"terms that never ended go too", append([]string{"E"}, repeat(66, "A")...), append(words("E", "A3+2"), acquired4to66...)},
		{"dropped again after a read", append(append(repeat(65, "A", "L"), "!", "!"), repeat(2, "A", "L")...), append(words("A2+1", "L2", "A4+1", "L4"), span(5, 67)...)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q, got := play(t, tt.script...)
			if got = append(got, rest(q)...); !slices.Equal(got, tt.want) {
				t.Errorf("the reader gets\n%v, want\n%v", got, tt.want)
			}
		})
	}
}

func TestE2_SkippedCountsWhatWasSkippedBefore(t *testing.T) {
	var q queue
	for range 65 {
		q.push(events.Acquired{Skipped: 10})
		q.push(events.Renewed{Skipped: 3})
		q.push(events.Renewed{Skipped: 5})
		q.push(events.Lost{})
	}
	q.push(events.Error{Skipped: 7})
	q.push(events.Error{Skipped: 1})
	first, _ := q.pop()
	if e := first.value().(events.Acquired); e.Skipped != 10+1+10 {
		t.Errorf("Acquired.Skipped is %d, want 21", e.Skipped)
	}
	second, _ := q.pop()
	if e := second.value().(events.Renewed); e.Skipped != 5+1+3 {
		t.Errorf("Renewed.Skipped is %d, want 9", e.Skipped)
	}
	last := q.line.at(q.line.len() - 1)
	if e := last.value().(events.Error); e.Skipped != 1+1+7 {
		t.Errorf("Error.Skipped is %d, want 9", e.Skipped)
	}
}

func TestRestoredEventsAreJoinedWithWhatCameSince(t *testing.T) {
	tests := []struct {
		name    string
		before  []string
		pops    int
		between []events.Event
		want    []string
	}{
		{"nothing came", []string{"A", "C:a"}, 2, nil, []string{"A1", "C:>a"}},
		{"a renewal", []string{"A", "!", "R"}, 1, []events.Event{events.Renewed{Term: &fakeTerm{number: 1}}}, []string{"R1+1"}},
		{"a leader", []string{"C:a", "!", "C:b"}, 1, []events.Event{events.LeaderChanged{From: "b", To: "c"}}, []string{"C:a>c"}},
		{"the leader before", []string{"C:a", "!", "C:b"}, 1, []events.Event{events.LeaderChanged{From: "b", To: "a"}}, nil},
		{"an error", []string{"E", "A"}, 2, []events.Event{events.Error{Op: events.OpRead, Class: events.ClassTimeout}}, []string{"A1", "E+1"}},
		{"a term too many", repeat(64, "A", "L"), 2, []events.Event{events.Acquired{Term: &fakeTerm{number: 65}}}, append(append([]string{"A2+1", "L2"}, span(3, 64)...), "A65")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q, _ := play(t, tt.before...)
			var out []item
			for range tt.pops {
				it, _ := q.pop()
				out = append(out, it)
			}
			for _, e := range tt.between {
				q.push(e)
			}
			for _, it := range slices.Backward(out) {
				q.restore(it)
			}
			if got := rest(q); !slices.Equal(got, tt.want) {
				t.Errorf("the reader gets\n%v, want\n%v", got, tt.want)
			}
		})
	}
}

func TestOnlyALostWhoseAcquiredWasReadIsOwed(t *testing.T) {
	tests := []struct {
		name   string
		script []string
		want   string
	}{
		{"nothing was published", nil, ""},
		{"nothing was read", []string{"A", "L"}, ""},
		{"its Acquired was read", []string{"A", "!", "R", "C:a", "L", "A", "L"}, "L1"},
		{"both were read", []string{"A", "!", "L", "!", "A", "L"}, ""},
		{"the term is on", []string{"A", "!", "R"}, ""},
		{"of the second term", []string{"A", "L", "A", "!", "!", "!", "L"}, "L2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q, _ := play(t, tt.script...)
			got := ""
			if it, ok := q.owed(); ok {
				got = show(it.value())
			}
			if got != tt.want {
				t.Errorf("owed is %q, want %q", got, tt.want)
			}
		})
	}
}

func TestWhatIsNoEventIsIgnored(t *testing.T) {
	var q queue
	q.push(nil)
	q.push(&events.Acquired{})
	if n := q.line.len(); n != 0 {
		t.Errorf("%d events are queued, want none", n)
	}
}

// A rig is a queue beside its model.
type rig struct {
	*testing.T

	q      queue
	m      model
	s      story
	out    []item // on the way, oldest first
	pushed bool   // since the oldest of them was popped
}

// drive lets the bytes choose what happens to a queue and its model, and compares them all the while.
func drive(t *testing.T, choices []byte) {
	t.Helper()
	r := rig{T: t}
	for i, c := range choices {
		switch {
		case c < 160:
			r.publish(uint64(c)<<32 | uint64(i))
		case c < 220:
			r.pop()
		case c < 240:
			r.read()
		default:
			r.restore()
		}
		if len(r.out) == 0 && (i%8 == 0 || i == len(choices)-1) {
			compare(t, &r.q, &r.m, &r.s)
		}
	}
}

func (r *rig) publish(choice uint64) {
	f := r.s.next(seeded(choice).Uint64())
	r.q.push(f.event)
	r.m.publish(f)
	r.pushed = true
}

func (r *rig) pop() {
	r.Helper()
	if r.pushed || len(r.out) == 2 {
		r.restore()
	}
	it, ok := r.q.pop()
	want, wantOK := r.m.pop()
	if ok != wantOK {
		r.Fatalf("after %d events there is one to pop: %t, want %t", r.s.seq, ok, wantOK)
	}
	if !ok {
		return
	}
	if it.value() != want {
		r.Fatalf("after %d events popped\n%#v, want\n%#v", r.s.seq, it.value(), want)
	}
	r.out = append(r.out, it)
}

func (r *rig) read() {
	if len(r.out) > 0 {
		r.out = r.out[1:]
		r.m.read()
	}
}

func (r *rig) restore() {
	for _, it := range slices.Backward(r.out) {
		r.q.restore(it)
		r.m.restore()
	}
	r.out, r.pushed = nil, false
}

// compare compares all that the reader would get, and that memory is bounded.
func compare(t *testing.T, q *queue, m *model, s *story) {
	t.Helper()
	const most = 64*3 + 1 + 1 + 1 + 2*3 // terms, one owed Lost and its Renewed, a leader, errors
	if n := q.line.len(); n > most {
		t.Fatalf("%d events are kept, want at most %d", n, most)
	}
	c := queue{line: line{items: slices.Clone(q.line.items), head: q.line.head}, term: q.term, behind: q.behind, open: q.open, leader: q.leader}
	for _, want := range m.view() {
		it, ok := c.pop()
		if !ok || it.value() != want.event {
			t.Fatalf("after %d events the reader gets\n%#v, want\n%#v", s.seq, it.value(), want.event)
		}
	}
	if it, ok := c.pop(); ok {
		t.Fatalf("after %d events the reader gets %v too", s.seq, it.value())
	}
}

func TestE2_QueueDoesWhatTheModelSays(t *testing.T) {
	for seed := range uint64(30) {
		r := seeded(seed)
		reluctance := r.IntN(96) // some readers read much, some little
		choices := make([]byte, 600)
		for i := range choices {
			c := r.IntN(256)
			if c >= 160 && r.IntN(96) < reluctance {
				c = r.IntN(160)
			}
			choices[i] = byte(c)
		}
		drive(t, choices)
	}
}

func FuzzQueue(f *testing.F) {
	f.Add([]byte{0, 160, 1, 2, 230, 250})
	f.Add(slices.Repeat([]byte{0, 8, 16, 161}, 100))
	f.Fuzz(func(t *testing.T, choices []byte) {
		if len(choices) < 500 {
			drive(t, choices)
		}
	})
}

func TestE3_CoalescingDoesNotAllocate(t *testing.T) {
	var q queue
	in := []events.Event{
		events.Acquired{Time: time.Time{}}, events.Renewed{}, events.Error{}, events.LeaderChanged{To: "a"},
	}
	for range 2 {
		for _, e := range in {
			q.push(e)
		}
	}
	if n := testing.AllocsPerRun(1000, func() { q.push(in[1]); q.push(in[2]); q.push(in[3]) }); n != 0 {
		t.Errorf("three publications allocate %v times, want 0", n)
	}
}
