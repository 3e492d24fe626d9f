package locks

import (
	"context"
	"net/http"
	"strconv"
	"time"
)

// answer is what was seen of an HTTP answer before client-go made an object or an error of it: by the transport of a
// private client, or else pieced together from the error.
type answer struct {
	status      int
	contentType string
	begin       []byte        // of the body, at most lockerr.BodyLimit
	retryAfter  time.Duration // what the server asked for
	transport   error         // why there is no answer
}

type answerKey struct{}

func withAnswer(ctx context.Context, a *answer) context.Context {
	return context.WithValue(ctx, answerKey{}, a)
}

// answerOf finds the answer to fill in for a request; nil if it is not a lock's.
func answerOf(req *http.Request) *answer {
	a, _ := req.Context().Value(answerKey{}).(*answer)
	return a
}

// longest is the longest wait that a server is believed to mean.
const longest = 365 * 24 * time.Hour

// retryAfter reads a Retry-After header: seconds, or an instant, which is compared with the answer's own Date, since a
// lock reads no clock. 0 if there is none, or none that can be read.
func retryAfter(h http.Header) time.Duration {
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(value, 10, 32); err == nil {
		return min(time.Duration(seconds)*time.Second, longest)
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0
	}
	return min(max(until.Sub(now), 0), longest)
}
