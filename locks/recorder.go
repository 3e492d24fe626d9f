package locks

import (
	"errors"
	"io"
	"mime"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/seed2c765205/elect/locks/internal/lockerr"
)

const (
	// objectLimit bounds an answer that is decoded. An object in etcd has at most 1.5 MiB, a request 3 MiB.
	objectLimit = 8 << 20
	// textLimit bounds one that is only quoted, such as the page of a proxy.
	textLimit = 64 << 10
)

var (
	errNoAnswer = errors.New("there was no answer")
	errTooLong  = errors.New("the answer is longer than any object can be")
)

// A recorder is the transport of a private client. It notes what client-go does not keep of an answer, and hides from
// client-go what would make it repeat a request: the header Retry-After, and errors that look like a lost connection. The
// elector decides what to repeat, and when.
type recorder struct {
	connections *connections
}

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	a := answerOf(req)
	if a == nil {
		a = &answer{}
	}
	*a = answer{}
	resp, err := r.connections.current().RoundTrip(req)
	if err != nil {
		r.connections.unanswered(req.Context())
		a.transport = err
		return nil, errNoAnswer
	}
	a.status, a.contentType, a.retryAfter = resp.StatusCode, resp.Header.Get("Content-Type"), retryAfter(resp.Header)
	resp.Header.Del("Retry-After")
	resp.Body = r.body(req, resp, a)
	return resp, nil
}

func (r *recorder) body(req *http.Request, resp *http.Response, a *answer) io.ReadCloser {
	b := &recordedBody{ReadCloser: resp.Body, answer: a, left: textLimit, over: io.EOF, end: func(err error) {
		if err == nil {
			r.connections.answered()
		} else {
			r.connections.unanswered(req.Context())
		}
	}}
	if isDecoded(a.contentType) {
		b.left, b.over = objectLimit, errTooLong
	}
	return b
}

// isDecoded tells whether client-go decodes answers of a content type. It takes a missing one for its own.
func isDecoded(contentType string) bool {
	mediaType, _, _ := mime.ParseMediaType(contentType)
	switch mediaType {
	case "", runtime.ContentTypeJSON, runtime.ContentTypeProtobuf, runtime.ContentTypeCBOR:
		return true
	}
	return false
}

// A recordedBody notes how a body begins and ends, and ends it before it gets too long.
type recordedBody struct {
	io.ReadCloser
	answer *answer
	left   int   // bytes that may still be read
	over   error // what a read returns after them
	end    func(error)
}

func (b *recordedBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, b.finish(b.over)
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	if room := lockerr.BodyLimit - len(b.answer.begin); room > 0 {
		b.answer.begin = append(b.answer.begin, p[:min(n, room)]...)
	}
	return n, b.finish(err)
}

// finish tells once how the body ended: an end that was made up here is an end.
func (b *recordedBody) finish(err error) error {
	switch {
	case err == nil || b.end == nil:
		return err
	case errors.Is(err, io.EOF), errors.Is(err, errTooLong):
		b.end(nil)
	default:
		b.end(err)
	}
	b.end = nil
	return err
}
