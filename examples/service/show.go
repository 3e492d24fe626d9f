package main

import (
	"context"
	"errors"
	"time"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/events"
	"github.com/seed2c765205/elect/locks"
)

// showLease is short, so that the show is. In production keep the default of 15 s, or what an outage of the API server
// lasts that leaders shall survive.
const showLease = 3 * time.Second

// show lets three candidates follow one another: the first leader is cut off, the second stops, the third stays.
func show(ctx context.Context, log *log) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := stage{lock: locks.NewMemory(), leads: make(chan *actor), ended: make(chan error), log: log}
	for _, name := range []string{"pod-a", "pod-b", "pod-c"} {
		if err := s.enter(ctx, name); err != nil {
			return err
		}
	}
	for _, scene := range []func(*actor){(*actor).cutOff, (*actor).leave, (*actor).stay} {
		select {
		case leader := <-s.leads:
			pause(ctx, 2500*time.Millisecond)
			scene(leader)
		case <-ctx.Done():
		}
	}
	cancel()
	return s.wait()
}

// A stage is where the candidates of a show stand.
type stage struct {
	lock   elector.Lock
	leads  chan *actor // gets who leads now
	ended  chan error
	actors int
	log    *log
}

// An actor is a candidate in a show.
type actor struct {
	log   *candidateLog
	cable *cable
	stop  context.CancelFunc
}

// cutOff is how a crash looks to the others: nothing is heard any more. The candidate itself finds that it can renew
// nothing, and ends its term before any other may begin one.
func (a *actor) cutOff() {
	a.log.say("is cut off from the lock; to the others it has crashed")
	close(a.cable.broken)
}

func (a *actor) leave() {
	a.log.say("is told to stop, as by SIGTERM")
	a.stop()
}

func (a *actor) stay() { a.log.say("the show is over") }

func (s *stage) enter(ctx context.Context, name string) error {
	ctx, leave := context.WithCancel(ctx)
	a := &actor{log: s.log.of(name), cable: &cable{Lock: s.lock, broken: make(chan struct{})}, stop: leave}
	e, err := elector.New(elector.Config{Lock: a.cable, Identity: name, LeaseDuration: showLease})
	if err != nil {
		leave()
		return err
	}
	s.actors++
	go func() { s.ended <- serve(ctx, e, a.log) }()
	go func() {
		for event := range e.Subscribe(ctx) {
			if _, ok := event.(events.Acquired); ok {
				select {
				case s.leads <- a:
				case <-ctx.Done():
				}
			}
		}
	}()
	return nil
}

// wait returns when all candidates have stopped.
func (s *stage) wait() (err error) {
	for range s.actors {
		err = errors.Join(err, <-s.ended)
	}
	return err
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
