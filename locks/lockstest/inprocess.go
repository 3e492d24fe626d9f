package lockstest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
)

// inProcess is an http.RoundTripper that calls a handler without any socket: each request is answered on a goroutine of
// its own, so that a call whose context ends returns at once even if the handler hangs. Errors are those of net/http:
// the context's cause, and io.EOF for a handler that panics with http.ErrAbortHandler.
type inProcess struct{ handler http.Handler }

// RoundTrip answers when the handler has returned, or has flushed the beginning of a stream.
func (t inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		defer req.Body.Close()
	}
	if req.Context().Err() != nil {
		return nil, context.Cause(req.Context())
	}
	sent, err := received(req)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	x := &exchange{request: req, header: http.Header{}, cancel: cancel, head: make(chan head, 1)}
	go x.serve(t.handler, sent.WithContext(ctx))
	select {
	case h := <-x.head:
		return h.unlessEnded(req.Context())
	case <-req.Context().Done():
		return nil, context.Cause(req.Context())
	}
}

// received is the request as a server sees it, its body read: it outlives the call of a client that gave up.
func received(req *http.Request) (*http.Request, error) {
	r := req.Clone(req.Context())
	r.RequestURI, r.Body = req.URL.RequestURI(), http.NoBody
	if req.Body != nil {
		data, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(data))
	}
	return r, nil
}

// head is how a call ends: the response, its body perhaps still to come, or an error.
type head struct {
	response *http.Response
	err      error
}

// unlessEnded is the end of a call unless its context ended first: a handler that hung until then has answered, too, but
// nobody waits for that.
func (h head) unlessEnded(ctx context.Context) (*http.Response, error) {
	if ctx.Err() == nil {
		return h.response, h.err
	}
	if h.response != nil {
		h.response.Body.Close()
	}
	return nil, context.Cause(ctx)
}

// exchange is one request and its answer. It is used by the handler's goroutine only, but for head.
type exchange struct {
	request *http.Request
	cancel  context.CancelCauseFunc
	header  http.Header
	status  int
	body    bytes.Buffer   // until the first Flush
	stream  *io.PipeWriter // from then on
	head    chan head
}

func (x *exchange) serve(handler http.Handler, r *http.Request) {
	defer x.finish()
	handler.ServeHTTP(x, r)
}

// finish ends the answer. A handler's panic is the connection's end, as in net/http, but quiet.
func (x *exchange) finish() {
	aborted := recover() != nil
	switch {
	case x.stream != nil && aborted:
		x.stream.CloseWithError(io.ErrUnexpectedEOF)
	case x.stream != nil:
		_ = x.stream.Close() // it never fails
	case aborted:
		x.head <- head{err: io.EOF}
	default:
		x.WriteHeader(http.StatusOK)
		x.head <- head{response: x.response(x.whole())}
	}
	x.cancel(errors.New("the request has been answered"))
}

func (x *exchange) Header() http.Header { return x.header }

func (x *exchange) WriteHeader(status int) {
	if x.status == 0 {
		x.status = status
	}
}

func (x *exchange) Write(data []byte) (int, error) {
	x.WriteHeader(http.StatusOK)
	if x.stream != nil {
		return x.stream.Write(data)
	}
	return x.body.Write(data)
}

// Flush begins a stream: the client gets the head now, and the body as it is written.
func (x *exchange) Flush() {
	x.WriteHeader(http.StatusOK)
	if x.stream != nil {
		return
	}
	read, write := io.Pipe()
	ctx := x.request.Context()
	stop := context.AfterFunc(ctx, func() { read.CloseWithError(context.Cause(ctx)) })
	closed := func() { stop(); x.cancel(errors.New("the client has closed the body")) }
	x.stream = write
	early := bytes.Clone(x.body.Bytes())
	x.head <- head{response: x.response(&streamBody{PipeReader: read, closed: closed})}
	if len(early) > 0 {
		_, _ = write.Write(early)
	}
}

// response has its own copy of the header: the handler may go on writing to x.header.
func (x *exchange) response(body io.ReadCloser) *http.Response {
	header := x.header.Clone()
	if _, set := header["Content-Type"]; !set && x.body.Len() > 0 {
		header.Set("Content-Type", http.DetectContentType(x.body.Bytes()))
	}
	length := int64(-1)
	if n, err := strconv.ParseInt(header.Get("Content-Length"), 10, 64); err == nil {
		length = n
	} else if x.stream == nil {
		length = int64(x.body.Len())
	}
	return &http.Response{
		Status: strconv.Itoa(x.status) + " " + http.StatusText(x.status), StatusCode: x.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: body, ContentLength: length, Request: x.request,
	}
}

// whole is a body that was written at once. One that is shorter than its Content-Length ends with an error.
func (x *exchange) whole() io.ReadCloser {
	var body io.Reader = bytes.NewReader(x.body.Bytes())
	if n, err := strconv.Atoi(x.header.Get("Content-Length")); err == nil && n > x.body.Len() {
		body = io.MultiReader(body, cut{})
	}
	return io.NopCloser(body)
}

type cut struct{}

func (cut) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

type streamBody struct {
	*io.PipeReader
	closed func()
}

func (b *streamBody) Close() error {
	b.closed()
	return b.PipeReader.Close()
}
