package events

import (
	"log/slog"
	"time"
)

// LogValue is a group of the fields that are set, under the names they have in JSON.
func (e Acquired) LogValue() slog.Value {
	a := attrs{slog.String("kind", kindAcquired), slog.Time("time", e.Time)}
	a.term(e.Term, e.ValidUntil)
	a.text("previous", e.Previous)
	a = append(a, slog.Duration("vacant", e.Vacant), slog.String("how", e.How.String()))
	a.count("skipped", e.Skipped)
	return slog.GroupValue(a...)
}

// LogValue is a group of the fields that are set, under the names they have in JSON.
func (e Renewed) LogValue() slog.Value {
	a := attrs{slog.String("kind", kindRenewed), slog.Time("time", e.Time)}
	a.term(e.Term, e.ValidUntil)
	a.time("validUntil", e.ValidUntil)
	a = append(a, slog.Duration("roundTrip", e.RoundTrip))
	a.count("skipped", e.Skipped)
	return slog.GroupValue(a...)
}

// LogValue is a group of the fields that are set, under the names they have in JSON.
func (e Lost) LogValue() slog.Value {
	a := attrs{slog.String("kind", kindLost), slog.Time("time", e.Time)}
	a.term(e.Term, e.ValidUntil)
	a = append(a, slog.String("reason", e.Reason.String()))
	a.text("holder", e.Holder)
	a.err(e.Err)
	return slog.GroupValue(a...)
}

// LogValue is a group of the fields that are set, under the names they have in JSON.
func (e LeaderChanged) LogValue() slog.Value {
	a := attrs{
		slog.String("kind", kindLeaderChanged), slog.Time("time", e.Time),
		slog.String("from", e.From), slog.String("to", e.To),
	}
	a.time("since", e.Since)
	a = append(a, slog.Int64("transitions", e.Transitions))
	return slog.GroupValue(a...)
}

// LogValue is a group of the fields that are set, under the names they have in JSON.
func (e Error) LogValue() slog.Value {
	a := attrs{
		slog.String("kind", kindError), slog.Time("time", e.Time),
		slog.String("op", e.Op.String()), slog.String("class", e.Class.String()),
	}
	a.err(e.Err)
	a = append(a, slog.Bool("retryable", e.Retryable))
	a.time("retryAt", e.RetryAt)
	a = append(a, slog.Int("consecutive", e.Consecutive))
	if e.Remaining != 0 {
		a = append(a, slog.Duration("remaining", e.Remaining))
	}
	a.count("skipped", e.Skipped)
	return slog.GroupValue(a...)
}

// attrs collects attributes and leaves out what is not set.
type attrs []slog.Attr

func (a *attrs) text(name, s string) {
	if s != "" {
		*a = append(*a, slog.String(name, s))
	}
}

func (a *attrs) time(name string, t time.Time) {
	if !t.IsZero() {
		*a = append(*a, slog.Time(name, t))
	}
}

func (a *attrs) count(name string, n int) {
	if n != 0 {
		*a = append(*a, slog.Int(name, n))
	}
}

func (a *attrs) err(err error) {
	if err != nil {
		*a = append(*a, slog.Any("error", err))
	}
}

func (a *attrs) term(t Term, validUntil time.Time) {
	if t == nil {
		return
	}
	f := freeze(t, validUntil)
	g := attrs{
		slog.String("identity", f.identity),
		slog.Int64("number", f.number),
		slog.Uint64("token", f.token),
	}
	g.time("validUntil", f.validUntil)
	*a = append(*a, slog.Attr{Key: "term", Value: slog.GroupValue(g...)})
}
