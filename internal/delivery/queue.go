package delivery

import (
	"slices"

	"github.com/seed2c765205/elect/events"
)

// maxTerms is how many terms a reader may be behind before the oldest unread terms are dropped.
const maxTerms = 64

// mostUnread is more than a queue holds: 64 terms of three events, two of a term whose Acquired was read, a leader, and
// the errors of each operation and class.
const mostUnread = maxTerms*3 + 2 + 1 + int(events.OpWork+1)*int(events.ClassInternal+1)

// A queue holds the events that one reader has not read, thinned out by the rules in the package comment.
// The zero value is an empty queue of a reader that has heard of no leader. It is not safe for concurrent use.
//
// An event that was popped counts as read, until it is restored. Restoring is only possible in the reverse order of
// popping, and what may yet be restored must be before another is popped, if anything was pushed since.
type queue struct {
	line   line
	term   uint64 // ordinal of the latest Acquired pushed; the first is 1
	behind int    // how many Acquired are in line
	open   bool   // an Acquired was popped and its Lost was not
	leader string // To of the last LeaderChanged popped
}

// push adds an event as the newest. An event that is none of the five kinds is ignored.
func (q *queue) push(e events.Event) {
	if _, ok := e.(events.Acquired); ok {
		q.term++
	}
	it := item{event: e, key: keyOf(e, q.term)}
	switch it.key.kind {
	case other:
		return
	case acquired:
		q.behind++
	case renewed, leader, failure:
		if i := q.line.find(it.key); i >= 0 {
			it.skipped = q.line.at(i).weight()
			q.line.remove(i)
		}
	case lost:
	}
	q.line.append(it)
	q.limit()
}

// pop takes out the oldest event.
func (q *queue) pop() (item, bool) {
	for {
		it, ok := q.line.takeFirst()
		if !ok {
			return item{}, false
		}
		switch it.key.kind {
		case acquired:
			q.behind--
			q.open = true
		case lost:
			q.open = false
		case leader:
			if it.to() == q.leader {
				continue
			}
			it.from, q.leader = q.leader, it.to()
		case renewed, failure, other:
		}
		return it, true
	}
}

// restore undoes the latest pop that was not undone yet: the reader has not read it after all. The rules apply to it
// again, together with what was pushed since.
func (q *queue) restore(it item) {
	switch it.key.kind {
	case acquired:
		q.behind++
		q.open = false
	case lost:
		q.open = true
	case leader:
		q.leader = it.from
	case renewed, failure, other:
	}
	if i := q.line.find(it.key); i >= 0 {
		q.line.at(i).skipped += it.weight()
		return
	}
	q.line.prepend(it)
	q.limit()
}

// owed returns the unread Lost of the term whose Acquired was read.
func (q *queue) owed() (item, bool) {
	if !q.open {
		return item{}, false
	}
	for i := range q.line.len() {
		if it := q.line.at(i); it.key.kind == lost {
			return *it, true
		}
	}
	return item{}, false
}

// limit drops the oldest unread terms of which there are too many, and counts them in the next.
func (q *queue) limit() {
	for q.behind > maxTerms {
		oldest := q.line.at(q.line.firstOf(acquired))
		term, weight := oldest.key.term, oldest.weight()
		q.line.removeTerm(term)
		q.behind--
		q.line.at(q.line.firstOf(acquired)).skipped += weight
	}
}

// A line is a sequence of items that grows at both ends without moving what is in it.
type line struct {
	items []item
	head  int // items before it are free
}

func (l *line) len() int       { return len(l.items) - l.head }
func (l *line) at(i int) *item { return &l.items[l.head+i] }

func (l *line) append(it item) {
	if len(l.items) == cap(l.items) && l.head > 0 {
		l.items = slices.Delete(l.items, 0, l.head)
		l.head = 0
	}
	l.items = append(l.items, it)
}

func (l *line) prepend(it item) {
	if l.head == 0 {
		l.items = slices.Insert(l.items, 0, it)
		return
	}
	l.head--
	l.items[l.head] = it
}

func (l *line) takeFirst() (item, bool) {
	if l.len() == 0 {
		return item{}, false
	}
	it := l.items[l.head]
	l.items[l.head] = item{}
	l.head++
	if l.len() == 0 {
		l.items, l.head = l.items[:0], 0
	}
	return it, true
}

func (l *line) remove(i int) {
	l.items = slices.Delete(l.items, l.head+i, l.head+i+1)
}

// removeTerm removes the Acquired, the Renewed and the Lost of a term. It is quick if they are near the front.
func (l *line) removeTerm(term uint64) {
	last := slices.IndexFunc(l.items[l.head:], func(it item) bool { return it.key.kind == lost && it.key.term == term })
	if last < 0 {
		last = l.len() - 1
	}
	free := last
	for i := last; i >= 0; i-- {
		if it := l.at(i); it.key.term != term {
			*l.at(free) = *it
			free--
		}
	}
	clear(l.items[l.head : l.head+free+1])
	l.head += free + 1
}

// find returns the place of the newest item with this key, or -1.
func (l *line) find(k key) int {
	for i := l.len() - 1; i >= 0; i-- {
		at := &l.at(i).key
		if *at == k {
			return i
		}
		if at.kind == acquired && at.term == k.term {
			break // nothing of a term comes before its Acquired
		}
	}
	return -1
}

// firstOf returns the place of the oldest item of this kind, or -1.
func (l *line) firstOf(k kind) int {
	return slices.IndexFunc(l.items[l.head:], func(it item) bool { return it.key.kind == k })
}
