package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	restwatch "k8s.io/client-go/rest/watch"
)

// newScheme knows what a watch of hosts can deliver.
func newScheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	if err := metal3.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return scheme
}

// watched is everything that a stream delivers with these codecs, in words, and
// how it ended.
func watched(codecs runtime.NegotiatedSerializer, stream io.Reader) (events []string) {
	info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	frames := info.StreamSerializer.NewFrameReader(io.NopCloser(stream))
	decoder := restwatch.NewDecoder(streaming.NewDecoder(frames, info.StreamSerializer.Serializer), codecs.DecoderToVersion(info.Serializer, nil))
	for {
		kind, object, err := decoder.Decode()
		if err != nil {
			return append(events, err.Error())
		}
		document, err := json.Marshal(object)
		events = append(events, fmt.Sprintf("%s %T %s %v", kind, object, document, err))
	}
}

const (
	aHost    = `{"apiVersion":"metal3.io/v1alpha1","kind":"BareMetalHost","metadata":{"name":"a","namespace":"metal","resourceVersion":"7"},"spec":{"online":true},"status":{"hardware":{"cpu":{"count":3}}}}`
	aStatus  = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old \"resource version\"","reason":"Expired","code":410}`
	aPointer = `{"kind":"BareMetalHost","apiVersion":"metal3.io/v1alpha1","metadata":{"resourceVersion":"12"},"spec":{"online":false}}`
)

var streams = map[string]string{
	"nothing":                "",
	"a host":                 `{"type":"ADDED","object":` + aHost + "}\n",
	"several":                `{"type":"ADDED","object":` + aHost + "}\n" + `{"type":"DELETED","object":` + aHost + "}\n",
	"a mark and an error":    `{"type":"BOOKMARK","object":` + aPointer + "}\n" + `{"type":"ERROR","object":` + aStatus + "}\n",
	"the object first":       `{"object":` + aHost + `,"type":"MODIFIED"}` + "\n",
	"blanks":                 `{ "type": "MODIFIED", "object": ` + aHost + " }\n",
	"empty lines":            "\n\n" + `{"type":"ADDED","object":` + aHost + "}\n\n",
	"an escape in its kind":  `{"type":"ADDED","object":` + strings.Replace(aHost, "BareMetalHost", `BareMetal\u0048ost`, 1) + "}\n",
	"a kind nobody knows":    `{"type":"ADDED","object":{"apiVersion":"metal3.io/v1alpha1","kind":"Teapot"}}` + "\n",
	"no kind":                `{"type":"ADDED","object":{"apiVersion":"metal3.io/v1alpha1"}}` + "\n",
	"an event nobody knows":  `{"type":"PAINTED","object":` + aHost + "}\n",
	"more than the buffers":  `{"type":"ADDED","object":` + strings.Replace(aHost, `"name":"a"`, `"name":"`+strings.Repeat("long", 100_000)+`"`, 1) + "}\n" + `{"type":"ADDED","object":` + aHost + "}\n",
	"escapes in the content": `{"type":"ADDED","object":` + strings.Replace(aHost, `"name":"a"`, `"name":"a\n\"}\u00e9é"`, 1) + "}\n",
}

// TestWatchReadsAsTheLibraryDoes compares what comes out of streams.
func TestWatchReadsAsTheLibraryDoes(t *testing.T) {
	scheme := newScheme(t)
	library := serializer.WithoutConversionCodecFactory{CodecFactory: serializer.NewCodecFactory(scheme)}
	for name, stream := range streams {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			want := watched(library, strings.NewReader(stream))
			g.Expect(watched(newCodecs(scheme), strings.NewReader(stream))).To(Equal(want))
			g.Expect(watched(newCodecs(scheme), iotest.OneByteReader(strings.NewReader(stream)))).To(Equal(want), "byte by byte")
			g.Expect(watched(newCodecs(scheme), iotest.DataErrReader(strings.NewReader(stream)))).To(Equal(want), "with the end at once")
		})
	}
}

// FuzzWithoutOwners compares what is left of objects with what is left when their
// managedFields are deleted.
func FuzzWithoutOwners(f *testing.F) {
	for _, text := range []string{"", "a", `],"name":"x`, `,"managedFields":[`, `k:{"type":"Ready"}`, "\\\"", "é]}}"} {
		f.Add(text, 2)
		f.Add(text, -1)
	}
	f.Fuzz(func(t *testing.T, text string, owners int) {
		owner := map[string]any{"manager": text, "fieldsV1": map[string]any{"f:" + text: map[string]any{"v:[" + text + "]": map[string]any{}}}}
		metadata := map[string]any{"creationTimestamp": text, "annotations": map[string]any{text: text}, "name": text, "uid": text}
		object := map[string]any{"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost", "metadata": metadata, "spec": map[string]any{"x" + text: text}}
		want := asSent(t, object)
		if owners >= 0 {
			metadata["managedFields"] = slices.Repeat([]any{owner}, owners%5)
		}
		if got := withoutOwners(asSent(t, object)); string(got) != string(want) {
			t.Errorf("%s, not %s", got, want)
		}
	})
}

// asSent is an object with its members in order, as the API server sends it.
func asSent(t *testing.T, object map[string]any) []byte {
	t.Helper()
	document, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return document
}

// TestBrokenWatch ends with an error wherever a stream breaks off, after all that
// came whole.
func TestBrokenWatch(t *testing.T) {
	g := NewWithT(t)
	whole := streams["several"]
	for end := 1; end < len(whole)-1; end++ {
		events := watched(newCodecs(newScheme(t)), strings.NewReader(whole[:end]))
		g.Expect(events).To(HaveLen(1 + strings.Count(whole[:end], "\n")))
		if whole[end-1] != '\n' {
			g.Expect(events[len(events)-1]).To(Equal(io.ErrUnexpectedEOF.Error()))
		}
	}
	for _, line := range []string{"{", `{"type":"ADDED","object":}`, `{"type":"ADDED","object":{"apiVersion":"metal3.io/v1alpha1","kind":"BareMetalHost"`, "null", "[]", "x"} {
		g.Expect(watched(newCodecs(newScheme(t)), strings.NewReader(line+"\n"))).To(HaveLen(1), line)
	}
}

// TestLines reads random lines in pieces of all sizes.
func TestLines(t *testing.T) {
	g := NewWithT(t)
	r := rand.New(rand.NewPCG(1, 2)) // the same in each run
	for range 50 {
		var want [][]byte
		var stream []byte
		for range r.IntN(8) {
			line := bytes.Repeat([]byte("x"), 1+r.IntN(3*lineBuffer))
			want, stream = append(want, line), append(append(stream, line...), '\n')
		}
		reader := lines{}.NewFrameReader(io.NopCloser(bytes.NewReader(stream)))
		var got [][]byte
		var line []byte
		for {
			piece := make([]byte, 1+r.IntN(2*lineBuffer))
			n, err := reader.Read(piece)
			line = append(line, piece[:n]...)
			if err == nil {
				got, line = append(got, line), nil
			} else if err != io.ErrShortBuffer { //nolint:errorlint // what the decoder of streams compares
				g.Expect(err).To(Equal(io.EOF))
				break
			}
		}
		g.Expect(got).To(Equal(want))
	}
}

// FuzzKind compares the kind that is found in a document with what the library finds.
func FuzzKind(f *testing.F) {
	for _, document := range []string{aHost, aStatus, aPointer, `{"apiVersion":"a/b/c","kind":"K"}`, `{"apiVersion":"v1","kind":"\""}`} {
		f.Add([]byte(document))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		var v map[string]any
		if json.Unmarshal(document, &v) != nil {
			return
		}
		once, err := json.Marshal(v) // each member once, in order, as the API server writes them
		if err != nil {
			return
		}
		want, refused := kjson.SimpleMetaFactory{}.Interpret(once)
		got, err := quickMeta{}.Interpret(once)
		if (refused == nil) != (err == nil) || err == nil && *want != *got {
			t.Errorf("%s: %v, %v; the library: %v, %v", once, got, err, want, refused)
		}
	})
}
