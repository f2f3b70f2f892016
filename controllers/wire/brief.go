package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// briefKey is the key of the kind in a context that [Brief] made.
type briefKey struct{}

// Brief has writes under the context answered with the object's metadata alone, if
// the client's connections go through [Transport]: whoever writes an object of that
// kind finds the rest of it empty afterwards, or as it was.
func Brief(ctx context.Context, kind schema.GroupVersionKind) context.Context {
	return context.WithValue(ctx, briefKey{}, kind)
}

// acceptBrief asks for metadata alone, and takes a whole object as well.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches
const acceptBrief = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"

// Transport makes writes under a context of [Brief] ask for metadata alone, and
// their answers ones of the kind that was written. It goes into
// [k8s.io/client-go/rest.Config.Wrap].
func Transport(next http.RoundTripper) http.RoundTripper { return brief{next} }

type brief struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b brief) RoundTrip(request *http.Request) (*http.Response, error) {
	kind, asked := request.Context().Value(briefKey{}).(schema.GroupVersionKind)
	if !asked || request.Method == http.MethodGet || !isJSON(request.Header.Get("Accept")) {
		return b.next.RoundTrip(request)
	}
	request = request.Clone(request.Context())
	request.Header.Set("Accept", acceptBrief)
	response, err := b.next.RoundTrip(request)
	if err != nil || !isJSON(response.Header.Get("Content-Type")) {
		return response, err
	}
	if err := introduce(response, kind); err != nil {
		return nil, err
	}
	return response, nil
}

// WrappedRoundTripper lets client-go find what is below.
func (b brief) WrappedRoundTripper() http.RoundTripper { return b.next }

// introduce turns an answer of metadata alone into an object of the kind that was
// written, without who wrote which field. Any other answer stays as it is.
func introduce(response *http.Response, kind schema.GroupVersionKind) error {
	answer, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return err
	}
	var partial metav1.PartialObjectMetadata
	if json.Unmarshal(answer, &partial) == nil && partial.GroupVersionKind() == metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata") {
		partial.SetGroupVersionKind(kind)
		partial.ManagedFields = nil
		if answer, err = json.Marshal(&partial); err != nil {
			return err
		}
	}
	response.ContentLength = int64(len(answer))
	response.Header.Set("Content-Length", strconv.Itoa(len(answer)))
	response.Body = io.NopCloser(bytes.NewReader(answer))
	return nil
}

// isJSON reports whether a content type, or the first of those that are accepted, is JSON.
func isJSON(contentTypes string) bool {
	first, _, _ := strings.Cut(contentTypes, ",")
	kind, _, err := mime.ParseMediaType(first)
	return err == nil && kind == runtime.ContentTypeJSON
}
