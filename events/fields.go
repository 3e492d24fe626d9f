package events

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// fields reads the fields of a JSON object, and keeps the first error.
type fields struct {
	raw  map[string]json.RawMessage
	path string // before each name in an error
	err  error
}

// field reads one field. rule tells in an error what it should be.
func field[T any](f *fields, name, rule string) T {
	var v, zero T
	raw, ok := f.raw[name]
	if !ok {
		return zero
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		f.fail(name, string(raw), rule)
		return zero
	}
	return v
}

func (f *fields) fail(name, value, rule string) {
	if f.err == nil {
		f.err = fmt.Errorf("events: field %s%s is %s: want %s", f.path, name, clip(value), rule)
	}
}

// clip keeps an error readable.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return utf8Text(s[:most]) + "…"
}

// wireTime is a time whose UTC form can be written again.
type wireTime time.Time

func (w *wireTime) UnmarshalText(text []byte) error {
	var t time.Time
	if err := t.UnmarshalText(text); err != nil {
		return err
	}
	t = t.UTC()
	if y := t.Year(); y < 0 || y > 9999 {
		return errors.New("the year is out of range")
	}
	*w = wireTime(t)
	return nil
}

type wireDuration time.Duration

func (w *wireDuration) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	*w = wireDuration(d)
	return err
}
