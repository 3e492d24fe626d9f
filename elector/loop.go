package elector

import (
	"context"
	"runtime/debug"
	"time"

	"k8s.io/utils/clock"

	"github.com/seed2c765205/elect/events"
)

// loop drives the machine with goroutines: it owns the machine, one timer, the lock calls and the term. A call that
// hangs delays nothing, because no call runs on the loop.
type loop struct {
	elector *Elector
	m       *machine
	base    context.Context // of calls and terms: the values of Run's context, but not its end
	calls   *calls
	timer   clock.Timer
	term    *term // the present one, or the last
	seen    Status
	resigns []chan<- error
	stopped bool
	err     error
}

func newLoop(e *Elector, ctx context.Context) *loop {
	base := context.WithoutCancel(ctx)
	p := pacer{policy: e.config.Backoff, rand: e.config.Rand}
	return &loop{
		elector: e,
		m:       newMachine(e.config.rules(), p),
		base:    base,
		calls:   newCalls(e.config.Lock, base),
		seen:    Status{Identity: e.config.Identity},
	}
}

func (c *Config) rules() rules {
	r := rules{
		identity: c.Identity, lease: c.LeaseDuration, deadline: c.RenewDeadline, period: c.RenewPeriod,
		retry: c.RetryPeriod, drain: c.DrainTimeout, coolDown: c.CoolDown, reclaim: c.Reclaim,
		patience:   patience{own: c.LeaseDuration, most: c.MaxRecordDuration, rewrite: c.Corrupt == RewriteAtOnce},
		resolution: time.Microsecond,
	}
	if t, ok := c.Lock.(TimeResolver); ok {
		r.resolution = max(t.TimeResolution(), r.resolution)
	}
	return r
}

func (l *loop) run(ctx context.Context) (err error) {
	defer func() { err = l.finish(recover(), err) }()
	l.apply(l.m.start(l.now()))
	done := ctx.Done()
	for !l.stopped {
		wait := l.m.next() - l.now().mono
		if wait <= 0 {
			l.apply(l.m.tick(l.now()))
			continue
		}
		select {
		case <-l.arm(wait): // a hint only: the machine asks the clock
			l.apply(l.m.tick(l.now()))
		case a := <-l.calls.answers:
			l.answer(a)
		case <-l.elector.inbox.wake:
			l.read(l.elector.inbox.take())
		case <-done:
			done = nil
			l.apply(l.m.stop(l.now()))
		}
	}
	return l.err
}

func (l *loop) now() instant { return l.elector.watch.now() }

// arm sets the timer. Fake clocks hand out timers whose channel keeps an old tick; it is drained before a reset.
func (l *loop) arm(wait time.Duration) <-chan time.Time {
	if l.timer == nil {
		l.timer = l.elector.config.Clock.NewTimer(wait)
		return l.timer.C()
	}
	if !l.timer.Stop() {
		select {
		case <-l.timer.C():
		default:
		}
	}
	l.timer.Reset(wait)
	return l.timer.C()
}

func (l *loop) answer(a answer) {
	l.calls.forget(a.call)
	if a.write {
		l.apply(l.m.writeAnswer(l.now(), a.call, a.snapshot, a.err))
	} else {
		l.apply(l.m.readAnswer(l.now(), a.call, a.snapshot, a.err))
	}
}

// read takes the mail in an order in which nothing is lost: what ended the term before the news that its work is done.
func (l *loop) read(m mail) {
	for _, w := range m.ended {
		if w.term == l.term {
			l.apply(l.m.workEnded(l.now(), w.reason, w.err))
		}
	}
	if m.lapsed != nil && m.lapsed == l.term {
		l.apply(l.m.lapse(l.now()))
	}
	if len(m.resigns) > 0 {
		l.apply(l.m.resign(l.now()))
	}
	if m.stop {
		l.apply(l.m.stop(l.now()))
	}
	if m.wound {
		l.apply(l.m.holds(l.now(), l.term.working()))
	}
	l.resigns = append(l.resigns, m.resigns...)
	l.settleResigns()
}

// apply does what the machine asks for. The list is only good until the machine's next input, which the end of a term
// needs: it reports the term's holds.
func (l *loop) apply(actions []action) {
	var ended, out bool
	for i := range actions {
		a := &actions[i]
		switch a.kind {
		case doRead, doWrite:
			l.calls.start(a)
		case doCancel:
			l.calls.cancel(a.call, a.err)
		case doEnd:
			ended, out = true, l.end(a)
		case doStop:
			l.stopped, l.err = true, a.err
		case doBegin, doExtend, doLeader, doError:
			l.tell(a)
		}
	}
	l.publish()
	if ended {
		l.apply(l.m.holds(l.now(), out))
	}
	l.settleResigns()
}

// end cancels the term's context before its Lost can be read, and takes the term from readers before that.
func (l *loop) end(a *action) (out bool) {
	t := l.term
	l.elector.current.Store(nil)
	out = t.end(&LostError{Reason: a.reason, Holder: a.to, Err: a.err})
	l.elector.hub.Publish(events.Lost{Time: a.at, Term: t, Reason: a.reason, Holder: a.to, Err: a.err})
	return out
}

// tell turns an action into its event.
func (l *loop) tell(a *action) {
	hub, now := l.elector.hub, l.m.now.wall
	switch a.kind {
	case doBegin:
		l.term = newTerm(l.elector, l.base, a)
		l.elector.current.Store(l.term)
		hub.Publish(events.Acquired{Time: now, Term: l.term, Previous: a.from, Vacant: a.vacant, How: a.how})
	case doExtend:
		l.term.extend(a.sent)
		if l.m.state == StateLeading {
			hub.Publish(events.Renewed{Time: now, Term: l.term, ValidUntil: l.term.ValidUntil(), RoundTrip: a.roundTrip})
		}
	case doLeader:
		l.seen.Leader, l.seen.Since, l.seen.Transitions = a.to, a.at, a.number
		hub.Publish(events.LeaderChanged{Time: now, From: a.from, To: a.to, Since: a.at, Transitions: a.number})
	case doError:
		l.seen.LastError, l.seen.LastClass = a.err, a.class
		hub.Publish(events.Error{
			Time: a.at, Op: a.op, Class: a.class, Err: a.err, Retryable: !a.retryAt.IsZero(), RetryAt: a.retryAt,
			Consecutive: a.consecutive, Remaining: a.remaining,
		})
	case doRead, doWrite, doCancel, doEnd, doStop:
	}
}

// publish gives readers of Status a new snapshot.
func (l *loop) publish() {
	s := l.seen
	s.State, s.Consecutive = l.m.state, l.m.fails.n
	var until time.Duration
	if s.Waiting, until = l.m.waiting(); until != never {
		s.WaitingUntil = l.m.now.wall.Add(until - l.m.now.mono)
	}
	l.elector.status.Store(&s)
}

// settleResigns answers the callers of Resign once nothing of theirs is under way.
func (l *loop) settleResigns() {
	if l.m.ask == askResign && !l.m.drain.late || l.m.state == StateDraining && !l.m.drain.late {
		return
	}
	l.replyResigns()
}

func (l *loop) replyResigns() {
	for _, reply := range l.resigns {
		if l.m.drain.late {
			reply <- ErrDrainTimeout
		} else {
			reply <- l.err
		}
	}
	l.resigns = nil
}

// finish leaves nothing behind, also if the loop panicked: the clock, the policy and the generator are the caller's.
func (l *loop) finish(panicked any, err error) error {
	if panicked != nil {
		err = &PanicError{Value: panicked, Stack: debug.Stack()}
		l.fall(err)
	}
	if l.timer != nil {
		l.timer.Stop()
	}
	l.calls.cancelAll()
	l.elector.inbox.setOpen(false)
	l.resigns = append(l.resigns, l.elector.inbox.take().resigns...)
	l.replyResigns()
	return err
}

// fall ends the term of a loop that cannot go on.
func (l *loop) fall(err error) {
	if t := l.elector.current.Load(); t != nil {
		l.end(&action{reason: events.ReasonStopped, err: err, at: l.m.now.wall})
	}
	l.elector.hub.Publish(events.Error{Time: l.m.now.wall, Class: events.ClassInternal, Err: err, Consecutive: 1})
	s := l.seen
	s.State, s.LastError, s.LastClass = StateStopped, err, events.ClassInternal
	l.elector.status.Store(&s)
}
