package elector

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/seed2c765205/elect/events"
)

// driver owns the machine and does what it asks for, whoever gives it its inputs: it makes events, begins and ends
// terms, and keeps the snapshot for readers of Status. It is used by one goroutine at a time.
type driver struct {
	elector *Elector
	m       *machine
	caller  caller
	base    context.Context // of calls and terms: the values of the driving context, but not its end
	term    *term           // the present one, or the last
	seen    Status
	resigns []chan<- error
	stopped bool
	err     error
	log     func(events.Event) // nil: events are logged elsewhere, or not at all
}

// A caller makes lock calls.
type caller interface {
	call(a *action)
	cancelCall(id int, cause error)
}

func newDriver(e *Elector, ctx context.Context, c caller) driver {
	p := pacer{policy: e.config.Backoff, rand: e.config.Rand}
	return driver{
		elector: e,
		m:       newMachine(e.config.rules(), p),
		caller:  c,
		base:    context.WithoutCancel(ctx),
		seen:    Status{Identity: e.config.Identity},
	}
}

// blink is a RenewPeriod, in which no more than one renewal can be missed, or the longest time between two looks of a
// follower whose calls succeed. A candidate that looks less often than that could not keep a term either.
func (c *Config) blink() time.Duration {
	return max(c.RenewPeriod, c.RetryPeriod/5*6+c.RenewDeadline/3)
}

func (c *Config) rules() rules {
	r := rules{
		identity: c.Identity, lease: c.LeaseDuration, deadline: c.RenewDeadline, period: c.RenewPeriod,
		retry: c.RetryPeriod, drain: c.DrainTimeout, coolDown: c.CoolDown, reclaim: c.Reclaim,
		patience:   patience{own: c.LeaseDuration, blink: c.blink(), slack: max(c.RenewPeriod+c.RenewDeadline-c.LeaseDuration, 0), most: c.MaxRecordDuration, rewrite: c.Corrupt == RewriteAtOnce},
		resolution: time.Microsecond,
	}
	if t, ok := c.Lock.(TimeResolver); ok {
		r.resolution = max(t.TimeResolution(), r.resolution)
	}
	return r
}

func (d *driver) now() instant { return d.elector.watch.now() }

// read takes the mail in an order in which nothing is lost: what ended the term before the news that its work is done.
func (d *driver) read(m mail) {
	for _, w := range m.ended {
		if w.term == d.term {
			d.apply(d.m.workEnded(d.now(), w.reason, w.err))
		}
	}
	if m.lapsed != nil && m.lapsed == d.term {
		d.apply(d.m.lapse(d.now()))
	}
	if len(m.resigns) > 0 {
		d.apply(d.m.resign(d.now()))
	}
	if m.stop {
		d.apply(d.m.stop(d.now()))
	}
	if m.wound {
		d.apply(d.m.holds(d.now(), d.term.working()))
	}
	d.resigns = append(d.resigns, m.resigns...)
	d.settleResigns()
}

// apply does what the machine asks for. The list is only good until the machine's next input, which the end of a term
// needs: it reports the term's holds.
func (d *driver) apply(actions []action) {
	var ended, out bool
	for i := range actions {
		a := &actions[i]
		switch a.kind {
		case doRead, doWrite:
			d.caller.call(a)
		case doCancel:
			d.caller.cancelCall(a.call, a.err)
		case doEnd:
			ended, out = true, d.end(a)
		case doStop:
			d.stopped, d.err = true, a.err
		case doBegin, doExtend, doLeader, doError:
			d.tell(a)
		}
	}
	d.publish()
	if ended {
		d.apply(d.m.holds(d.now(), out))
	}
	d.settleResigns()
}

// end cancels the term's context before its Lost can be read, and takes the term from readers before that.
func (d *driver) end(a *action) (out bool) {
	t := d.term
	d.elector.current.Store(nil)
	out = t.end(&LostError{Reason: a.reason, Holder: a.to, Err: a.err})
	d.emit(events.Lost{Time: a.at, Term: t, Reason: a.reason, Holder: a.to, Err: a.err})
	return out
}

// tell turns an action into its event.
func (d *driver) tell(a *action) {
	now := d.m.now.wall
	switch a.kind {
	case doBegin:
		d.term = newTerm(d.elector, d.base, a)
		d.elector.current.Store(d.term)
		d.seen.Leader = d.elector.config.Identity
		d.publish() // who reads Acquired finds Status in step with it
		d.emit(events.Acquired{Time: now, Term: d.term, Previous: a.from, Vacant: a.vacant, How: a.how})
	case doExtend:
		d.term.extend(a.sent)
		if d.m.state == StateLeading {
			d.emit(events.Renewed{Time: now, Term: d.term, ValidUntil: d.term.ValidUntil(), RoundTrip: a.roundTrip})
		}
	case doLeader:
		d.seen.Leader, d.seen.Since, d.seen.Transitions = a.to, a.at, a.number
		d.emit(events.LeaderChanged{Time: now, From: a.from, To: a.to, Since: a.at, Transitions: a.number})
	case doError:
		d.seen.LastError, d.seen.LastClass = a.err, a.class
		d.emit(events.Error{
			Time: a.at, Op: a.op, Class: a.class, Err: a.err, Retryable: !a.retryAt.IsZero(), RetryAt: a.retryAt,
			Consecutive: a.consecutive, Remaining: a.remaining,
		})
	case doRead, doWrite, doCancel, doEnd, doStop:
	}
}

func (d *driver) emit(e events.Event) {
	d.elector.hub.Publish(e)
	if d.log != nil {
		d.log(e)
	}
}

// publish gives readers of Status a new snapshot.
func (d *driver) publish() {
	s := d.seen
	s.State, s.Consecutive = d.m.state, d.m.fails.n
	var until time.Duration
	if s.Waiting, until = d.m.waiting(); until != never {
		s.WaitingUntil = d.m.now.wall.Add(until - d.m.now.mono)
	}
	d.elector.status.Store(&s)
}

// settleResigns answers the callers of Resign once nothing of theirs is under way.
func (d *driver) settleResigns() {
	if d.m.ask == askResign && !d.m.drain.late || d.m.state == StateDraining && !d.m.drain.late {
		return
	}
	d.replyResigns()
}

func (d *driver) replyResigns() {
	for _, reply := range d.resigns {
		if d.m.drain.late {
			reply <- ErrDrainTimeout
		} else {
			reply <- d.err
		}
	}
	d.resigns = nil
}

// hangUp takes no more mail, and answers who still waits.
func (d *driver) hangUp() {
	d.elector.inbox.setOpen(false)
	d.resigns = append(d.resigns, d.elector.inbox.take().resigns...)
	d.replyResigns()
}

// fall ends the term of a driver that cannot go on.
func (d *driver) fall(panicked any) error {
	err := &PanicError{Value: panicked, Stack: debug.Stack()}
	if t := d.elector.current.Load(); t != nil {
		d.end(&action{reason: events.ReasonStopped, err: err, at: d.m.now.wall})
	}
	d.emit(events.Error{Time: d.m.now.wall, Class: events.ClassInternal, Err: err, Consecutive: 1})
	s := d.seen
	s.State, s.LastError, s.LastClass = StateStopped, err, events.ClassInternal
	d.elector.status.Store(&s)
	return err
}
