package events_test

import (
	"context"
	"errors"
	"time"

	"github.com/seed2c765205/elect/events"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// liveTerm is a term that may move on after an event told of it.
type liveTerm struct {
	identity   string
	number     int64
	token      uint64
	validUntil time.Time
}

func (t *liveTerm) Context() context.Context       { return context.Background() }
func (t *liveTerm) Identity() string               { return t.identity }
func (t *liveTerm) Number() int64                  { return t.number }
func (t *liveTerm) Token() uint64                  { return t.token }
func (t *liveTerm) ValidUntil() time.Time          { return t.validUntil }
func (t *liveTerm) Valid() bool                    { return true }
func (t *liveTerm) Hold() (done func())            { return func() {} }
func (t *liveTerm) Go(func(context.Context) error) {}

func term() *liveTerm {
	return &liveTerm{identity: "a", number: 7, token: 1<<63 + 5, validUntil: noon.Add(10 * time.Second)}
}

// full is one event of each kind with all fields set.
func full() []events.Event {
	return []events.Event{
		events.Acquired{
			Time: noon, Term: term(), ValidUntil: noon.Add(9 * time.Second), Previous: "b",
			Vacant: 3*time.Second + 5, How: events.HowExpired, Skipped: 2,
		},
		events.Renewed{
			Time: noon.Add(5), Term: term(), ValidUntil: noon.Add(15 * time.Second),
			RoundTrip: 3 * time.Millisecond, Skipped: 2,
		},
		events.Lost{
			Time: noon, Term: term(), ValidUntil: noon.Add(8 * time.Second), Reason: events.ReasonTaken,
			Holder: "b", Err: errors.New("read another holder"),
		},
		events.LeaderChanged{Time: noon, From: "a", To: "b", Since: noon.Add(-time.Second), Transitions: 8},
		events.Error{
			Time: noon, Op: events.OpWrite, Class: events.ClassTimeout, Err: errors.New("no answer\nin 3s"),
			Retryable: true, RetryAt: noon.Add(2 * time.Second), Consecutive: 2, Remaining: 4 * time.Second, Skipped: 1,
		},
	}
}

// empty is one event of each kind with no field set.
func empty() []events.Event {
	return []events.Event{
		events.Acquired{}, events.Renewed{}, events.Lost{}, events.LeaderChanged{}, events.Error{},
	}
}
