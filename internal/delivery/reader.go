package delivery

import "github.com/seed2c765205/elect/events"

// A reader is one receiver of events: its queue, its channel, and the pump between them.
//
// The hub's lock guards the queue; the pump alone uses the other fields. An event on its way out is in one of two
// places: offered, popped and waiting for room in the channel; then handed, in the channel's one slot. In both it is
// still unread. They are zero when nothing is there.
type reader struct {
	hub   *Hub
	queue queue
	out   chan events.Event // nil until the pump is started, as wake is
	wake  chan struct{}     // something was published, or the stream has ended
	gone  <-chan struct{}   // closes when the reader wants no more; nil: never

	woken, left     bool
	offered, handed item
}

// start starts the pump. The hub's lock is held, and the hub is not cut.
func (r *reader) start() {
	r.out = make(chan events.Event, 1)
	r.wake = make(chan struct{}, 1)
	r.hub.pumps.Go(r.pump)
}

// nudge wakes the pump, if there is one. It never blocks.
func (r *reader) nudge() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// pump hands over events until there will be no more, and closes the channel.
func (r *reader) pump() {
	for r.prepare() {
		r.wait()
	}
}

// prepare makes the oldest unread event the offered one, if there is any. At the end it closes the channel and
// returns false.
func (r *reader) prepare() bool {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	if r.left || r.hub.cut {
		r.finish()
		return false
	}
	if r.awake() {
		r.takeBack() // the rules apply to what is on its way too
	}
	r.offered, _ = r.queue.pop()
	if r.offered.isZero() && r.hub.ended {
		close(r.out)
		r.hub.remove(r)
		return false
	}
	return true
}

// awake tells whether anything was published since the last call. The hub nudges under its lock, so while that is held
// the answer does not grow old.
func (r *reader) awake() bool {
	woken := r.woken
	r.woken = false
	select {
	case <-r.wake:
		return true
	default:
		return woken
	}
}

// wait returns when the offered event was handed over, or when there is another reason to look again.
func (r *reader) wait() {
	var out chan events.Event
	var e events.Event
	if !r.offered.isZero() {
		out, e = r.out, r.offered.value()
	}
	select {
	case out <- e:
		r.handed, r.offered = r.offered, item{} // there was room: the one that was handed before has been read
	case <-r.wake:
		r.woken = true
	case <-r.gone:
		r.left = true
	case <-r.hub.stop:
	}
}

// takeBack restores what is on its way out. The pump alone sends, so the channel is empty afterwards.
func (r *reader) takeBack() {
	if !r.offered.isZero() {
		r.queue.restore(r.offered)
		r.offered = item{}
	}
	select {
	case <-r.out:
		r.queue.restore(r.handed)
	default: // it has been read
	}
	r.handed = item{}
}

// finish leaves nothing for the reader but the Lost that it is owed.
func (r *reader) finish() {
	r.takeBack()
	if it, ok := r.queue.owed(); ok {
		r.out <- it.value()
	}
	close(r.out)
	r.queue = queue{}
	r.hub.remove(r)
}

// flush fills the channel of a reader that is served by hand, and closes it after the last event. The hub's lock is
// held, and nobody else sends: where there is room, it stays.
func (r *reader) flush() {
	if r.left {
		return
	}
	room := handRoom
	if r.hub.ended {
		room = cap(r.out)
	}
	for len(r.out) < room {
		it, ok := r.queue.pop()
		if !ok {
			break
		}
		r.out <- it.value()
	}
	if r.hub.ended {
		r.leave()
	}
}

// finishByHand leaves the Lost that the reader is owed.
func (r *reader) finishByHand() {
	if r.left {
		return
	}
	if it, ok := r.queue.owed(); ok {
		r.out <- it.value()
	}
	r.leave()
}

// leave ends a reader that is served by hand.
func (r *reader) leave() {
	r.left = true
	close(r.out)
	r.queue = queue{}
	r.hub.remove(r)
}
