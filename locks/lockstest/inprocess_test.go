package lockstest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/seed2c765205/elect/locks/lockstest"
)

func hang(_ http.ResponseWriter, r *http.Request) bool {
	<-r.Context().Done()
	return true
}

func TestAHungCallReturnsWhenItsContextEndsInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := lockstest.NewServer()
		s.Intercept(hang)
		start := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		_, err := s.Client().CoordinationV1().Leases("default").Get(ctx, "demo", metav1.GetOptions{})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 3*time.Second {
			t.Errorf("got %v after %v, want the deadline after 3s", err, time.Since(start))
		}
	})
}

func TestAWatchEndsWithItsContextOrItsTimeoutInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := lockstest.NewServer()
		start := time.Now()
		w, err := s.Client().CoordinationV1().Leases("default").Watch(context.Background(), metav1.ListOptions{TimeoutSeconds: ptr(int64(60))})
		if err != nil {
			t.Fatal(err)
		}
		if _, open := <-w.ResultChan(); open || time.Since(start) != time.Minute {
			t.Errorf("open %v after %v, want closed after 1m", open, time.Since(start))
		}
		ctx, cancel := context.WithCancel(context.Background())
		w, err = s.Client().CoordinationV1().Leases("default").Watch(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		for e := range w.ResultChan() { // client-go may tell of the broken stream; then the channel closes
			if e.Type != watch.Error {
				t.Errorf("event %v after the context ended", e)
			}
		}
	})
}

// net/http notices that a client is gone only once the request's body has been read.
func TestAHungWriteEndsAtTheServerWhenItsClientIsGone(t *testing.T) {
	everyWire(t, func(t *testing.T, s *lockstest.Server, c kubernetes.Interface) {
		ctx, cancel := context.WithCancel(ctx)
		ended := make(chan error, 1)
		s.Intercept(func(_ http.ResponseWriter, r *http.Request) bool {
			cancel()
			<-r.Context().Done()
			ended <- r.Context().Err()
			return true
		})
		_, err := c.CoordinationV1().Leases("default").Create(ctx, lease("demo"), metav1.CreateOptions{})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the client got %v", err)
		}
		if err := <-ended; err == nil {
			t.Error("the server's context has not ended")
		}
	})
}

// roundTrip sends a GET in process to a server that answers by answer.
func roundTrip(ctx context.Context, answer func(http.ResponseWriter, *http.Request) bool) (*http.Response, error) {
	s := lockstest.NewServer()
	s.Intercept(answer)
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://x/", nil)
	return s.Config().Transport.RoundTrip(req)
}

func TestInProcessAnswersHaveTheShapesOfNetHTTP(t *testing.T) {
	t.Run("a connection closed without an answer is EOF", func(t *testing.T) {
		_, err := roundTrip(ctx, func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) })
		if err != io.EOF {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a stream that breaks", func(t *testing.T) {
		r, err := roundTrip(ctx, func(w http.ResponseWriter, _ *http.Request) bool {
			_, _ = io.WriteString(w, "beginning")
			_ = http.NewResponseController(w).Flush()
			_, _ = io.WriteString(w, " and more")
			panic(http.ErrAbortHandler)
		})
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		if string(body) != "beginning and more" || err != io.ErrUnexpectedEOF {
			t.Errorf("got %q, %v", body, err)
		}
		r.Body.Close()
	})
	t.Run("a body shorter than its Content-Length", func(t *testing.T) {
		r, err := roundTrip(ctx, func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "<html>")
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		if string(body) != "<html>" || err != io.ErrUnexpectedEOF || r.ContentLength != 100 {
			t.Errorf("got %q, %v, %d", body, err, r.ContentLength)
		}
		if got := r.Header.Get("Content-Type"); got != "text/html; charset=utf-8" {
			t.Errorf("sniffed %q", got)
		}
	})
	t.Run("a context that has ended sends nothing", func(t *testing.T) {
		ended, cancel := context.WithCancelCause(ctx)
		errMine := errors.New("mine")
		cancel(errMine)
		_, err := roundTrip(ended, func(http.ResponseWriter, *http.Request) bool { t.Error("sent"); return true })
		if err != errMine {
			t.Errorf("got %v, want the cause", err)
		}
	})
	t.Run("a body that cannot be read is not sent", func(t *testing.T) {
		req, _ := http.NewRequest(http.MethodPost, "http://x/", io.MultiReader(strings.NewReader("x"), broken{}))
		if _, err := lockstest.NewServer().Config().Transport.RoundTrip(req); err != errBroken {
			t.Errorf("got %v", err)
		}
	})
}

var errBroken = errors.New("broken")

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errBroken }
