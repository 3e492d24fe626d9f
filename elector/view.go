package elector

import (
	"time"

	"github.com/seed2c765205/elect/events"
)

// view is what a candidate knows of the stored record, and its judgement of when it may take the lock. Others are
// judged by change alone: a record is expired when its stored bytes have not changed, on this candidate's monotonic
// hand, for the duration written in it. Times in the record are never compared with a clock.
type view struct {
	patience patience

	snap    Snapshot      // the last state read or written; Version "" if nothing is stored
	looked  bool          // some state is known
	sure    time.Duration // until when nothing that matters can have happened unseen
	until   time.Duration // when the record expires if its bytes do not change
	live    known         // the last record that was seen to be held by somebody
	longest time.Duration // the last duration read from this lock
	// how the lock is free, as of the last look; 0 while it is held
	free events.How
	// vacantSince is when the lock was first seen to be free, if that was seen.
	vacantSince time.Duration
	vacant      bool
	previous    string // the last holder that was seen
}

// known is a live record as it stood, to wait out if it vanishes without having been released.
type known struct {
	ok       bool
	unseen   bool // it is only assumed that there was one
	record   Record
	duration time.Duration // for which it is waited
	until    time.Duration
}

// patience is how long candidates wait, from Config.
type patience struct {
	own     time.Duration // LeaseDuration
	blink   time.Duration // RenewPeriod: how long one may look away and miss no more than one renewal
	most    time.Duration // MaxRecordDuration; 0: no cap
	rewrite bool          // CorruptPolicy RewriteAtOnce
}

// look takes in a state that was read at now. The zero Snapshot means that nothing is stored.
func (v *view) look(now time.Duration, s Snapshot) {
	first, moved := !v.looked, s.Version != v.snap.Version
	changed := first || s.Stamp != v.snap.Stamp || (moved && (s.empty() || v.snap.empty() || s.Damage != nil))
	if blind := !first && now > v.sure; blind && (changed || moved || s.empty()) {
		changed = true
		v.suspect(now)
	}
	v.snap, v.looked, v.sure = s, true, plus(now, v.patience.blink)
	switch {
	case s.Damage != nil:
		v.lookAtDamage(now, changed)
	case s.Record.Holder != "":
		v.lookAtHolder(now, changed)
	default:
		v.lookAtNobody(now, first)
	}
}

// suspect: the candidate has not looked for long, and what is stored may have changed meanwhile. A holder may have
// renewed, another may have begun, the same bytes may have been put back over a renewal. What is found then is no proof
// that the lock is free.
func (v *view) suspect(now time.Duration) {
	if v.live.ok {
		v.live.until = max(v.live.until, plus(now, v.live.duration))
		return
	}
	d := v.duration(0)
	v.live = known{ok: true, unseen: true, record: v.snap.Record, duration: d, until: plus(now, d)}
}

// lookAtDamage: an unreadable record is held by an unknown, from the first sight of those bytes. Equal bytes at another
// version start the wait again: unlike a record, damage can come back byte for byte over a holder's repair.
func (v *view) lookAtDamage(now time.Duration, changed bool) {
	if v.patience.rewrite {
		v.vacate(now, events.HowRepaired)
		return
	}
	if changed {
		d := v.duration(0)
		until := max(plus(now, d), v.live.waitUntil(now))
		v.hold(until)
		v.live = known{ok: true, unseen: true, record: v.live.record, duration: d, until: until}
	}
	if now >= v.until {
		v.vacate(v.until, events.HowRepaired)
	}
}

func (v *view) lookAtHolder(now time.Duration, changed bool) {
	r := &v.snap.Record
	if changed {
		d := v.duration(r.LeaseDuration)
		until := plus(now, d)
		if !v.live.unseen && v.live.untouched(r) {
			until, d = max(until, v.live.until), max(d, v.live.duration)
		}
		v.hold(until)
		v.live = known{ok: true, record: *r, duration: d, until: until}
		v.previous = r.Holder
	}
	if now >= v.until {
		v.vacate(v.until, events.HowExpired)
	}
}

// lookAtNobody: the object, the record or the holder is gone. A release touches renewTime; anything else that makes a
// live record vanish did not come from its holder, who may be working still.
func (v *view) lookAtNobody(now time.Duration, first bool) {
	vanished := v.live.ok && (v.snap.empty() || v.live.untouched(&v.snap.Record))
	switch {
	case vanished && now < v.live.until:
		v.hold(v.live.until)
		return
	case vanished:
		v.vacate(v.live.until, events.HowExpired)
	case v.live.ok:
		v.vacate(now, events.HowReleased)
	case first:
		v.free = events.HowFree // since when is unknown
	case v.free == 0:
		v.vacate(now, events.HowFree)
	}
	v.live = known{}
}

// own notes that the stored record is this candidate's own. Nobody takes it before it has run out, unless it says that it
// is released.
func (v *view) own(now time.Duration, s Snapshot) {
	v.snap, v.looked, v.sure = s, true, plus(now, v.patience.own)
	if s.Record.Holder == "" {
		v.sure = plus(now, v.patience.blink)
	}
	v.live, v.previous = known{}, s.Record.Holder
	v.hold(0)
}

// hold notes that the lock is held until the given moment, if its bytes do not change.
func (v *view) hold(until time.Duration) {
	v.until, v.free, v.vacant = until, 0, false
}

// vacate notes that the lock is free since the given moment. An earlier moment stands.
func (v *view) vacate(since time.Duration, how events.How) {
	if v.free != 0 && v.vacant {
		return
	}
	v.free, v.vacantSince, v.vacant = how, since, true
}

// duration is how long a record asks to be waited for. One that does not say is waited for as long as the larger of
// the candidate's own lease and the last duration that this lock showed; never is it expired at once.
func (v *view) duration(d time.Duration) time.Duration {
	if d > 0 {
		v.longest = d
	} else {
		d = max(v.patience.own, v.longest)
	}
	if v.patience.most > 0 {
		d = min(d, v.patience.most)
	}
	return d
}

// untouched reports whether r came about without the holder of the known record: it carries that record's renewTime, or
// it is that record, perhaps renewed unseen, with the holder emptied or the duration cut. A holder that lets go touches
// both times, or drops them.
func (k *known) untouched(r *Record) bool {
	if !k.ok || k.record.RenewTime.Equal(r.RenewTime) {
		return k.ok
	}
	if k.unseen {
		return !r.AcquireTime.Equal(r.RenewTime) && !r.AcquireTime.IsZero() && !r.RenewTime.IsZero()
	}
	sameTerm := !r.AcquireTime.IsZero() && r.AcquireTime.Equal(k.record.AcquireTime)
	return sameTerm && (r.Holder == "" || r.LeaseDuration < k.record.LeaseDuration)
}

func (k *known) waitUntil(now time.Duration) time.Duration {
	if k.ok {
		return k.until
	}
	return now
}

// holder is whom the stored record names.
func (v *view) holder() string {
	if v.snap.empty() || v.snap.Damage != nil {
		return ""
	}
	return v.snap.Record.Holder
}
