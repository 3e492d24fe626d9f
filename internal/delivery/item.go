package delivery

import "github.com/seed2c765205/elect/events"

type kind uint8

const (
	other kind = iota
	acquired
	renewed
	lost
	leader
	failure
)

// A key is what unread events have in common of which only the latest stays. For Acquired and Lost it is unique.
type key struct {
	kind  kind
	op    events.Op
	class events.Class
	term  uint64 // 0 if the kind does not belong to a term
}

func keyOf(e events.Event, term uint64) key {
	switch e := e.(type) {
	case events.Acquired:
		return key{kind: acquired, term: term}
	case events.Renewed:
		return key{kind: renewed, term: term}
	case events.Lost:
		return key{kind: lost, term: term}
	case events.LeaderChanged:
		return key{kind: leader}
	case events.Error:
		return key{kind: failure, op: e.Op, class: e.Class}
	}
	return key{}
}

// An item is an event in the queue. What the queue learns about it later is kept beside it, so that publishing does
// not allocate; value puts the two together.
type item struct {
	event   events.Event
	key     key
	skipped int    // how many dropped events or terms it stands for, besides those that the event itself counts
	from    string // for a LeaderChanged that was popped: the leader whom the reader knew before
}

func (it *item) isZero() bool { return it.key.kind == other }

// value is the event as its reader shall see it.
func (it *item) value() events.Event {
	switch e := it.event.(type) {
	case events.Acquired:
		if it.skipped > 0 {
			e.Skipped += it.skipped
			return e
		}
	case events.Renewed:
		if it.skipped > 0 {
			e.Skipped += it.skipped
			return e
		}
	case events.LeaderChanged:
		if e.From != it.from {
			e.From = it.from
			return e
		}
	case events.Error:
		if it.skipped > 0 {
			e.Skipped += it.skipped
			return e
		}
	case events.Lost:
	}
	return it.event
}

// weight is by how much the Skipped of another event grows when this one is dropped in its favour.
func (it *item) weight() int {
	n := it.skipped + 1
	switch e := it.event.(type) {
	case events.Acquired:
		n += e.Skipped
	case events.Renewed:
		n += e.Skipped
	case events.Error:
		n += e.Skipped
	case events.Lost, events.LeaderChanged:
	}
	return n
}

func (it *item) to() string {
	e, _ := it.event.(events.LeaderChanged)
	return e.To
}
