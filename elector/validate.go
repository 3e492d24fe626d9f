package elector

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"
)

// ConfigError is one field of a Config that breaks a rule.
type ConfigError struct {
	Field string
	Value any
	Rule  string
}

func (e *ConfigError) Error() string {
	return fmt.Sprintf("elector: Config.%s is %v: %s", e.Field, e.Value, e.Rule)
}

// Validator is implemented by a Lock that can tell, before any call, that it was made with unusable arguments.
type Validator interface {
	Validate() error
}

// shortest bounds the periods from below: less would only load the API server.
const shortest = 10 * time.Millisecond

// validate checks a Config whose defaults are filled in. It reports every rule that is broken.
func (c Config) validate() error {
	var broken []error
	rule := func(ok bool, field string, value any, format string, args ...any) {
		if !ok {
			broken = append(broken, &ConfigError{Field: field, Value: value, Rule: fmt.Sprintf(format, args...)})
		}
	}
	c.checkParts(rule)
	c.checkLease(rule)
	c.checkPeriods(rule)
	return errors.Join(append(broken, c.checkLock())...)
}

type ruleFunc func(ok bool, field string, value any, format string, args ...any)

func (c Config) checkParts(rule ruleFunc) {
	rule(!isNil(c.Lock), "Lock", "nil", "it is required")
	rule(!isNil(c.Clock), "Clock", "a nil pointer", "leave it out for the real clock")
	rule(c.Identity == "" || strings.TrimSpace(c.Identity) != "", "Identity", fmt.Sprintf("%q", c.Identity),
		"it must not be blank; leave it empty for hostname_uuid")
	rule(c.hasBackoff(), "Backoff", "a policy that panics or returns nil", "a policy must return a backoff.BackOff")
	rule(c.Corrupt == WaitOut || c.Corrupt == RewriteAtOnce, "Corrupt", int(c.Corrupt),
		"it must be WaitOut or RewriteAtOnce")
}

func (c Config) checkLease(rule ruleFunc) {
	const most = math.MaxInt32 * time.Second
	rule(c.LeaseDuration >= time.Second && c.LeaseDuration%time.Second == 0, "LeaseDuration", c.LeaseDuration,
		"it must be at least 1s and whole seconds, as it is stored in seconds")
	rule(c.LeaseDuration <= most, "LeaseDuration", c.LeaseDuration, "it must be at most %v, as it is stored in 32 bits", most)
	rule(c.MaxRecordDuration == 0 || c.MaxRecordDuration >= c.LeaseDuration, "MaxRecordDuration", c.MaxRecordDuration,
		"it must be 0 (no cap) or at least LeaseDuration (%v), or candidates like this one would be cut short", c.LeaseDuration)
	rule(c.CoolDown > 0, "CoolDown", c.CoolDown, "it must not be negative")
}

func (c Config) checkPeriods(rule ruleFunc) {
	rule(c.RenewDeadline > 0 && c.RenewDeadline < c.LeaseDuration, "RenewDeadline", c.RenewDeadline,
		"it must be positive and less than LeaseDuration (%v)", c.LeaseDuration)
	rule(c.RenewPeriod >= shortest && c.RenewPeriod <= c.RenewDeadline/3*2, "RenewPeriod", c.RenewPeriod,
		"it must be at least %v and at most 2/3 of RenewDeadline (%v), to leave time for a second attempt",
		shortest, c.RenewDeadline)
	rule(c.RetryPeriod >= shortest && c.RetryPeriod < c.RenewDeadline, "RetryPeriod", c.RetryPeriod,
		"it must be at least %v and less than RenewDeadline (%v)", shortest, c.RenewDeadline)
}

// isNil tells a missing value, also one that is a nil pointer in an interface.
func isNil(v any) bool {
	p := reflect.ValueOf(v)
	return v == nil || (p.Kind() == reflect.Pointer && p.IsNil())
}

func (c Config) hasBackoff() (ok bool) {
	defer func() { _ = recover() }()
	return !isNil(c.Backoff())
}

func (c Config) checkLock() error {
	v, ok := c.Lock.(Validator)
	if !ok || isNil(c.Lock) {
		return nil
	}
	if err := v.Validate(); err != nil {
		return fmt.Errorf("elector: Config.Lock: %w", err)
	}
	return nil
}
