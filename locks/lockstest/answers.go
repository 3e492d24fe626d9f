package lockstest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// maxBody is the server's limit for a request's body.
const maxBody = 3 << 20

// negotiate picks the wire that a request asks for: the first of its Accept header that is served, else JSON.
func negotiate(r *http.Request) runtime.SerializerInfo {
	for _, accepted := range strings.Split(r.Header.Get("Accept"), ",") {
		if info, ok := wire(accepted); ok {
			return info
		}
	}
	info, _ := wire(runtime.ContentTypeJSON)
	return info
}

func wire(contentType string) (runtime.SerializerInfo, bool) {
	mediaType, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return runtime.SerializerInfo{}, false
	}
	return runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), mediaType)
}

// answer writes an object on the wire that was asked for. Objects carry their kind, so that they can be encoded as they
// are, without a copy.
func answer(w http.ResponseWriter, r *http.Request, code int, obj runtime.Object) {
	info := negotiate(r)
	var body bytes.Buffer
	if err := info.Serializer.Encode(obj, &body); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", info.MediaType)
	w.WriteHeader(code)
	_, _ = w.Write(body.Bytes())
}

// refuse answers with the Status of an error.
func refuse(w http.ResponseWriter, r *http.Request, err error) {
	var known apierrors.APIStatus
	if !errors.As(err, &known) {
		known = apierrors.NewInternalError(err)
	}
	status := known.Status()
	if d := status.Details; d != nil && d.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(d.RetryAfterSeconds)))
	}
	answerStatus(w, r, &status)
}

func answerStatus(w http.ResponseWriter, r *http.Request, status *metav1.Status) {
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	answer(w, r, int(status.Code), status)
}

// body decodes what a request carries into into, on the wire that its Content-Type names.
func body(r *http.Request, into runtime.Object) error {
	data, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if len(data) > maxBody {
		return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", maxBody))
	}
	info, ok := wire(r.Header.Get("Content-Type"))
	if !ok {
		return apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, r.Method, noResource, "",
			"the body of the request was in an unknown format", 0, false)
	}
	return decode(info.Serializer, data, into)
}

func decode(from runtime.Decoder, data []byte, into runtime.Object) error {
	gvks, _, err := scheme.ObjectKinds(into)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	got, _, err := from.Decode(data, &gvks[0], into)
	if err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v",
			gvks[0].Kind, gvks[0].Version, gvks[0].Kind, err))
	}
	if got != into {
		return apierrors.NewBadRequest(fmt.Sprintf("the body is a %T, not a %T", got, into))
	}
	return nil
}
