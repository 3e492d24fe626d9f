package locks

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/seed2c765205/elect/elector"
)

// annotationForm keeps a record in LeaderAnnotation, as JSON.
type annotationForm struct{}

func (annotationForm) fresh() *corev1.ConfigMap { return &corev1.ConfigMap{} }

func (annotationForm) encode(cm *corev1.ConfigMap, r elector.Record) error {
	text, err := encodeAnnotation(r)
	if err == nil {
		annotate(cm, LeaderAnnotation, text)
	}
	return err
}

func (annotationForm) decode(cm *corev1.ConfigMap) (elector.Record, string, error) {
	text, ok := cm.Annotations[LeaderAnnotation]
	if !ok {
		return elector.Record{}, "", nil
	}
	record, err := decodeAnnotation(text)
	return record, text, err
}

// annotated is the record in the words of client-go up to 0.26, whose fields other readers expect, all of them.
type annotated struct {
	Holder               string      `json:"holderIdentity"`
	LeaseDurationSeconds int32       `json:"leaseDurationSeconds"`
	AcquireTime          *secondTime `json:"acquireTime"`
	RenewTime            *secondTime `json:"renewTime"`
	Transitions          int32       `json:"leaderTransitions"`
}

func encodeAnnotation(r elector.Record) (string, error) {
	seconds, err := wholeSeconds(r.LeaseDuration)
	if err != nil {
		return "", err
	}
	transitions, err := count(r.Transitions)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(annotated{
		Holder: r.Holder, LeaseDurationSeconds: seconds, Transitions: transitions,
		AcquireTime: toSecond(r.AcquireTime), RenewTime: toSecond(r.RenewTime),
	})
	return string(text), err
}

// secondTime is written to the second, in UTC.
type secondTime time.Time

func toSecond(t time.Time) *secondTime {
	if t.IsZero() {
		return nil
	}
	return (*secondTime)(&t)
}

// MarshalText implements encoding.TextMarshaler.
func (t *secondTime) MarshalText() ([]byte, error) {
	return time.Time(*t).UTC().AppendFormat(nil, time.RFC3339), nil
}

var errNoObject = errors.New("it is no JSON object")

// decodeAnnotation reads what any known elector writes. It matches names exactly, and takes the last of several.
func decodeAnnotation(text string) (elector.Record, error) {
	var fields map[string]any
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		return elector.Record{}, err
	}
	if fields == nil {
		return elector.Record{}, errNoObject
	}
	holder, holderErr := textField(fields, "holderIdentity")
	acquired, acquiredErr := textField(fields, "acquireTime")
	renewed, renewedErr := textField(fields, "renewTime")
	duration, durationErr := leaseDuration(fields)
	transitions, transitionsErr := numberField(fields, "leaderTransitions")
	if err := errors.Join(holderErr, acquiredErr, renewedErr, durationErr, transitionsErr); err != nil {
		return elector.Record{}, err
	}
	return elector.Record{
		Holder: holder, LeaseDuration: duration, AcquireTime: anyTime(acquired), RenewTime: anyTime(renewed),
		Transitions: saturate(transitions),
	}, nil
}

// leaseDuration is in leaseDurationSeconds, or, as fabric8 writes it, in leaseDuration.
func leaseDuration(fields map[string]any) (time.Duration, error) {
	seconds, err := numberField(fields, "leaseDurationSeconds")
	if err != nil || seconds != 0 {
		return inSeconds(seconds), err
	}
	if text, ok := fields["leaseDuration"].(string); ok {
		if d, ok := isoDuration(text); ok {
			return d, nil
		}
	}
	seconds, err = numberField(fields, "leaseDuration")
	return inSeconds(seconds), err
}

func wrongType(name string, value any) error { return fmt.Errorf("%s is a %T", name, value) }
