package events

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"
)

// The values of the field "kind" in the JSON of an event.
const (
	kindAcquired      = "acquired"
	kindRenewed       = "renewed"
	kindLost          = "lost"
	kindLeaderChanged = "leaderChanged"
	kindError         = "error"
)

// MarshalJSON gives an object with the kind "acquired". A nil Term and an empty previous or skipped are left out.
// The term tells ValidUntil, if it is set, and otherwise what it tells now. An error is a time outside the years 0
// to 9999.
func (e Acquired) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Kind     string    `json:"kind"`
		Time     time.Time `json:"time"`
		Term     *wireTerm `json:"term,omitzero"`
		Previous string    `json:"previous,omitzero"`
		Vacant   string    `json:"vacant"`
		How      How       `json:"how"`
		Skipped  int       `json:"skipped,omitzero"`
	}{
		kindAcquired, e.Time.UTC(), wire(e.Term, e.ValidUntil),
		utf8Text(e.Previous), e.Vacant.String(), e.How, e.Skipped,
	})
}

// MarshalJSON gives an object with the kind "renewed". A nil Term, a zero validUntil and a zero skipped are left out.
// An error is a time outside the years 0 to 9999.
func (e Renewed) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Kind       string    `json:"kind"`
		Time       time.Time `json:"time"`
		Term       *wireTerm `json:"term,omitzero"`
		ValidUntil time.Time `json:"validUntil,omitzero"`
		RoundTrip  string    `json:"roundTrip"`
		Skipped    int       `json:"skipped,omitzero"`
	}{
		kindRenewed, e.Time.UTC(), wire(e.Term, e.ValidUntil),
		e.ValidUntil.UTC(), e.RoundTrip.String(), e.Skipped,
	})
}

// MarshalJSON gives an object with the kind "lost". A nil Term or Err and an empty holder are left out.
// The term tells ValidUntil, if it is set, and otherwise what it tells now. An error is a time outside the years 0
// to 9999.
func (e Lost) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Kind   string    `json:"kind"`
		Time   time.Time `json:"time"`
		Term   *wireTerm `json:"term,omitzero"`
		Reason Reason    `json:"reason"`
		Holder string    `json:"holder,omitzero"`
		Err    string    `json:"error,omitzero"`
	}{
		kindLost, e.Time.UTC(), wire(e.Term, e.ValidUntil),
		e.Reason, utf8Text(e.Holder), errorText(e.Err),
	})
}

// MarshalJSON gives an object with the kind "leaderChanged". A zero since is left out.
// An error is a time outside the years 0 to 9999.
func (e LeaderChanged) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Kind        string    `json:"kind"`
		Time        time.Time `json:"time"`
		From        string    `json:"from"`
		To          string    `json:"to"`
		Since       time.Time `json:"since,omitzero"`
		Transitions int64     `json:"transitions"`
	}{
		kindLeaderChanged, e.Time.UTC(), utf8Text(e.From), utf8Text(e.To), e.Since.UTC(), e.Transitions,
	})
}

// MarshalJSON gives an object with the kind "error". A nil Err and a zero retryAt, remaining or skipped are left out.
// An error is a time outside the years 0 to 9999.
func (e Error) MarshalJSON() ([]byte, error) {
	var remaining string
	if e.Remaining != 0 {
		remaining = e.Remaining.String()
	}
	return json.Marshal(struct {
		Kind        string    `json:"kind"`
		Time        time.Time `json:"time"`
		Op          Op        `json:"op"`
		Class       Class     `json:"class"`
		Err         string    `json:"error,omitzero"`
		Retryable   bool      `json:"retryable"`
		RetryAt     time.Time `json:"retryAt,omitzero"`
		Consecutive int       `json:"consecutive"`
		Remaining   string    `json:"remaining,omitzero"`
		Skipped     int       `json:"skipped,omitzero"`
	}{
		kindError, e.Time.UTC(), e.Op, e.Class, errorText(e.Err),
		e.Retryable, e.RetryAt.UTC(), e.Consecutive, remaining, e.Skipped,
	})
}

// wireTerm is a Term in JSON.
type wireTerm struct {
	Identity   string    `json:"identity"`
	Number     int64     `json:"number"`
	Token      uint64    `json:"token"`
	ValidUntil time.Time `json:"validUntil,omitzero"`
}

func wire(t Term, validUntil time.Time) *wireTerm {
	if t == nil {
		return nil
	}
	f := freeze(t, validUntil)
	return &wireTerm{utf8Text(f.identity), f.number, f.token, f.validUntil.UTC()}
}

// utf8Text replaces what JSON cannot carry, so that the text is read back as it was written.
func utf8Text(s string) string { return strings.ToValidUTF8(s, string(utf8.RuneError)) }

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return utf8Text(err.Error())
}
