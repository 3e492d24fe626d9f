package elector

import (
	"context"
	"time"

	"k8s.io/utils/clock"
)

// loop drives the machine with goroutines, for Run: one timer, and lock calls that run beside it. A call that hangs
// delays nothing, because no call runs on the loop.
type loop struct {
	driver
	calls *calls
	timer clock.Timer
}

func newLoop(e *Elector, ctx context.Context) *loop {
	l := &loop{}
	l.driver = newDriver(e, ctx, l)
	l.calls = newCalls(e.config.Lock, l.base)
	return l
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

func (l *loop) call(a *action) { l.calls.start(a) }

func (l *loop) cancelCall(id int, cause error) { l.calls.cancel(id, cause) }

// finish leaves nothing behind, also if the loop panicked: the clock, the policy and the generator are the caller's.
func (l *loop) finish(panicked any, err error) error {
	if panicked != nil {
		err = l.fall(panicked)
	}
	if l.timer != nil {
		l.timer.Stop()
	}
	l.calls.cancelAll()
	l.hangUp()
	return err
}
