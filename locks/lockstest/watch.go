package lockstest

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
)

// watch streams changes until the request ends, its timeoutSeconds have passed, or CloseWatches is called.
//
// It starts after the resourceVersion that was asked for; at the present state, which it tells as ADDED, if none was. A
// resourceVersion whose successors are forgotten is answered by an ERROR event with the Status 410 Expired.
func (s *Server) watch(w http.ResponseWriter, r *http.Request, k *kind, match func(key) bool) {
	query := r.URL.Query()
	from, err := strconv.ParseUint(query.Get("resourceVersion"), 10, 64)
	if err != nil && query.Get("resourceVersion") != "" {
		refuse(w, r, apierrors.NewBadRequest("invalid resource version"))
		return
	}
	ctx := r.Context()
	if seconds, err := strconv.Atoi(query.Get("timeoutSeconds")); err == nil && seconds > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
		defer cancel()
	}
	stream := openStream(w, r)
	if from == 0 {
		var present []object
		present, from = s.store.list(match)
		for _, obj := range present {
			stream.send(watch.Added, obj)
		}
	}
	s.follow(ctx, stream, from, match)
}

func (s *Server) follow(ctx context.Context, stream *stream, from uint64, match func(key) bool) {
	closing := s.watchesEnd()
	for stream.err == nil {
		events, changed, ok := s.store.since(from, match)
		if !ok {
			stream.sendExpired()
			return
		}
		for _, e := range events {
			stream.send(e.kind, e.object)
			from = e.revision
		}
		select {
		case <-changed:
		case <-closing:
			return
		case <-ctx.Done():
			return
		}
	}
}

// A stream writes watch events on the wire that was asked for.
type stream struct {
	objects runtime.Encoder
	events  streaming.Encoder
	flush   func()
	err     error // the first one; nothing is written after it
}

func openStream(w http.ResponseWriter, r *http.Request) *stream {
	info := negotiate(r)
	mediaType := info.MediaType
	switch mediaType {
	case runtime.ContentTypeProtobuf:
		mediaType += ";stream=watch"
	case runtime.ContentTypeCBOR:
		mediaType = runtime.ContentTypeCBORSequence
	}
	w.Header().Set("Content-Type", mediaType)
	w.WriteHeader(http.StatusOK)
	st := &stream{
		objects: info.Serializer,
		events:  streaming.NewEncoder(info.StreamSerializer.Framer.NewFrameWriter(w), info.StreamSerializer.Serializer),
		flush:   func() { _ = http.NewResponseController(w).Flush() },
	}
	st.flush()
	return st
}

func (st *stream) send(kind watch.EventType, obj runtime.Object) {
	if st.err != nil {
		return
	}
	var raw bytes.Buffer
	if st.err = st.objects.Encode(obj, &raw); st.err != nil {
		return
	}
	st.err = st.events.Encode(&metav1.WatchEvent{
		Type: string(kind), Object: runtime.RawExtension{Raw: bytes.TrimRight(raw.Bytes(), "\n")},
	})
	st.flush()
}

func (st *stream) sendExpired() {
	status := apierrors.NewResourceExpired("too old resource version").Status()
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	st.send(watch.Error, &status)
}
