package locks

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seed2c765205/elect/elector"
	"github.com/seed2c765205/elect/events"
)

// What the API server says in plain text instead of a Status.
const (
	notServed = "404 page not found"
	tooMany   = "Too many requests, please try again later."
)

// failure translates an error of client-go into the words of the Lock contract.
func (c *call) failure(err error) error {
	if c.answer.transport != nil {
		err = c.answer.transport
	}
	var known apierrors.APIStatus
	switch {
	case errors.As(err, &known) && c.isStatus(known.Status()):
		return c.answered(err, known.Status())
	case c.caller.Err() != nil:
		return c.ended(err, c.unsent())
	case strings.HasPrefix(err.Error(), "client rate limiter Wait"):
		return c.rejected(events.ClassThrottled, err)
	case isTimeout(err):
		return c.unanswered(events.ClassTimeout, err)
	case c.isTransport(err):
		return c.unanswered(events.ClassUnavailable, err)
	}
	return c.undecodable(err)
}

// isStatus tells a Status that was answered from one that client-go made up because it could not read the answer: a
// Content-Type that does not parse becomes a Status of code 500, whatever the answer's code was.
func (c *call) isStatus(s metav1.Status) bool {
	seen := c.answer.status
	return seen == 0 || seen == int(s.Code) || seen/100 == 2
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

// isTransport tells an error of the way to the server from an answer that cannot be read. What http.Client fails with is a
// *url.Error; client-go's complaints about an answer have no type.
func (c *call) isTransport(err error) bool {
	var failed *url.Error
	return c.answer.transport != nil || errors.As(err, &failed)
}

// unanswered is the error of a request that got no answer.
func (c *call) unanswered(class events.Class, err error) error {
	if c.unsent() || !c.wanted.Load() && isDial(err) {
		return c.rejected(class, err)
	}
	return c.uncertain(class, err)
}

// isDial tells an error of opening a connection, for transports that do not report to httptrace.
func isDial(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// answered translates an answer with an HTTP status of failure.
func (c *call) answered(err error, s metav1.Status) error {
	if c.answer.retryAfter == 0 {
		if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
			c.answer.retryAfter = time.Duration(seconds) * time.Second
		}
	}
	if cause, ok := apierrors.StatusCause(err, metav1.CauseTypeUnexpectedServerResponse); ok {
		return c.notAStatus(err, s, cause.Message)
	}
	switch s.Code {
	case http.StatusNotFound:
		return c.notFound(err, s)
	case http.StatusConflict:
		return c.conflict(err, s)
	}
	if slices.Contains(refusals, int(s.Code)) {
		return c.rejected(class(s), err)
	}
	return c.uncertain(class(s), err)
}

// refusals are the codes by which the API server says that it did not do what it was asked.
var refusals = []int{
	http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed,
	http.StatusNotAcceptable, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType,
	http.StatusUnprocessableEntity, http.StatusTooManyRequests,
}

// class sorts a Status that needs no second look.
func class(s metav1.Status) events.Class {
	switch {
	case s.Code == http.StatusUnauthorized:
		return events.ClassUnauthorized
	case s.Code == http.StatusForbidden:
		return events.ClassForbidden
	case s.Code == http.StatusTooManyRequests:
		return events.ClassThrottled
	case s.Code == http.StatusRequestTimeout, s.Code == http.StatusGatewayTimeout,
		s.Reason == metav1.StatusReasonTimeout, s.Reason == metav1.StatusReasonServerTimeout:
		return events.ClassTimeout
	case s.Code >= 500, s.Code == http.StatusGone:
		return events.ClassUnavailable
	}
	return events.ClassInvalid
}

// notFound translates a 404 Status. Only one about the lock's own object says that it does not exist.
func (c *call) notFound(err error, s metav1.Status) error {
	switch about := c.place.isAbout(s.Details); {
	case about && c.verb == "read":
		return fmt.Errorf("%s: %w: %w", c, elector.ErrNotFound, err)
	case about && c.verb == "update":
		return fmt.Errorf("%s: %w: %w", c, elector.ErrConflict, err)
	case s.Details != nil && s.Details.Group == "" && s.Details.Kind == "namespaces" && s.Details.Name == c.place.namespace:
		return c.rejected(events.ClassNotFound, err)
	}
	return c.fromText(events.ClassNotFound, err, s, "")
}

// conflict translates a 409 Status. One about something else, such as a quota, is not about the state of the lock.
func (c *call) conflict(err error, s metav1.Status) error {
	mine := map[string]metav1.StatusReason{"create": metav1.StatusReasonAlreadyExists, "update": metav1.StatusReasonConflict}
	if c.place.isAbout(s.Details) && s.Reason == mine[c.verb] {
		return fmt.Errorf("%s: %w: %w", c, elector.ErrConflict, err)
	}
	return c.uncertain(events.ClassConflict, err)
}

// notAStatus translates an answer that has only a code and a text.
func (c *call) notAStatus(err error, s metav1.Status, text string) error {
	switch {
	case s.Code == http.StatusTooManyRequests && text == tooMany:
		return c.rejected(events.ClassThrottled, err)
	case s.Code == http.StatusNotFound && text == notServed:
		return c.fromText(events.ClassNotFound, err, s, text)
	}
	return c.fromText(events.ClassDecode, err, s, text)
}

// fromText fills in what only the error tells of the answer, where no private client has seen it.
func (c *call) fromText(class events.Class, err error, s metav1.Status, text string) error {
	if c.answer.status == 0 {
		c.answer.status = int(s.Code)
		if text != "unknown" { // what client-go says of a body that is not a text
			c.answer.begin = []byte(text)
		}
	}
	return c.unreadable(class, err)
}
