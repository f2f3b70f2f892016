package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"

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

// The API server's brief answer: what asks for it, and how it begins.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches
const (
	acceptBrief = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
	briefBegins = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",`
)

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

// introduce puts the kind in the place of the one that a brief answer has. Any
// other answer stays as it is.
func introduce(response *http.Response, kind schema.GroupVersionKind) error {
	begins := make([]byte, len(briefBegins))
	n, err := io.ReadFull(response.Body, begins)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.Join(err, response.Body.Close())
	}
	begins = begins[:n]
	if string(begins) != briefBegins {
		response.Body = body{io.MultiReader(bytes.NewReader(begins), response.Body), response.Body}
		return nil
	}
	rest := answers.Get().(*bytes.Buffer)
	defer answers.Put(rest)
	rest.Reset()
	if _, err := rest.ReadFrom(response.Body); err != nil {
		return errors.Join(err, response.Body.Close())
	}
	answer := bytes.Join([][]byte{
		[]byte(`{"kind":"` + kind.Kind + `","apiVersion":"` + kind.GroupVersion().String() + `",`), withoutLastOwners(rest.Bytes()),
	}, nil)
	response.ContentLength = int64(len(answer))
	response.Header.Set("Content-Length", strconv.Itoa(len(answer)))
	response.Body = body{bytes.NewReader(answer), response.Body}
	return nil
}

// answers are buffers for brief answers, of which little is kept.
var answers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// withoutLastOwners cuts metadata.managedFields out of a brief answer, which writes
// them last.
func withoutLastOwners(rest []byte) []byte {
	const end = "]}}"
	before, from, found := bytes.Cut(rest, []byte(owners))
	if !found || !bytes.HasSuffix(bytes.TrimSpace(from), []byte(end)) {
		return rest
	}
	return append(before, "}}"...)
}

// body is read from one and closed at the other.
type body struct {
	io.Reader
	io.Closer
}

// isJSON reports whether a content type, or the first of those that are accepted, is JSON.
func isJSON(contentTypes string) bool {
	first, _, _ := strings.Cut(contentTypes, ",")
	kind, _, err := mime.ParseMediaType(first)
	return err == nil && kind == runtime.ContentTypeJSON
}
