package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
)

// codecs decode what a watch of custom resources delivers.
type codecs struct {
	serializer.WithoutConversionCodecFactory
	info runtime.SerializerInfo
}

// newCodecs makes the codecs for the kinds of a scheme.
func newCodecs(scheme *runtime.Scheme) codecs {
	plain := serializer.WithoutConversionCodecFactory{CodecFactory: serializer.NewCodecFactory(scheme)}
	info, _ := runtime.SerializerInfoForMediaType(plain.SupportedMediaTypes(), runtime.ContentTypeJSON)
	info.Serializer = json.NewSerializerWithOptions(quickMeta{}, scheme, scheme, json.SerializerOptions{})
	info.StreamSerializer = &runtime.StreamSerializerInfo{
		EncodesAsText: true, Serializer: watchEvents{info.StreamSerializer.Serializer}, Framer: lines{},
	}
	return codecs{plain, info}
}

// SupportedMediaTypes implements runtime.NegotiatedSerializer: JSON alone.
func (c codecs) SupportedMediaTypes() []runtime.SerializerInfo {
	return []runtime.SerializerInfo{c.info}
}

// quickMeta finds the kind of a document that begins with it, as custom resources do.
type quickMeta struct{ json.SimpleMetaFactory }

// Interpret implements json.MetaFactory.
func (q quickMeta) Interpret(document []byte) (*schema.GroupVersionKind, error) {
	version, rest, found := member(document, `{"apiVersion":"`)
	if found {
		if kind, _, found := member(rest, `,"kind":"`); found {
			if gv, err := schema.ParseGroupVersion(version); err == nil {
				gvk := gv.WithKind(kind)
				return &gvk, nil
			}
		}
	}
	return q.SimpleMetaFactory.Interpret(document)
}

// member is the text behind a prefix that ends with an opening quote, up to the
// closing one, and what follows. Text with an escape in it is not found.
func member(document []byte, prefix string) (text string, rest []byte, found bool) {
	behind, is := bytes.CutPrefix(document, []byte(prefix))
	if !is {
		return "", nil, false
	}
	end := bytes.IndexByte(behind, '"')
	if end < 0 || bytes.IndexByte(behind[:end], '\\') >= 0 {
		return "", nil, false
	}
	return string(behind[:end]), behind[end+1:], true
}

// watchEvents decodes watch events.
type watchEvents struct{ runtime.Serializer }

// Decode implements runtime.Decoder. What it finds in the event is a part of
// document, and good until the next event is read. Whether that is JSON is seen
// when it is decoded.
func (e watchEvents) Decode(document []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	if event, is := into.(*metav1.WatchEvent); is {
		if kind, rest, found := member(document, `{"type":"`); found {
			object, first := bytes.CutPrefix(rest, []byte(`,"object":`))
			object, last := bytes.CutSuffix(object, []byte("}"))
			if first && last {
				event.Type, event.Object = kind, runtime.RawExtension{Raw: withoutOwners(object)}
				return event, &schema.GroupVersionKind{Version: "v1", Kind: "WatchEvent"}, nil
			}
		}
	}
	return e.Serializer.Decode(document, defaults, into)
}

// withoutOwners cuts metadata.managedFields out of a custom resource, in place: a
// good part of what a host has to say is who wrote which of its fields, which no cache
// here keeps. The API server writes custom resources with their members in order, so
// that the name comes next; within managedFields there is no other list, the quotes
// of its texts are escaped, and no kind of the group has a member of that name.
func withoutOwners(object []byte) []byte {
	before, from, found := bytes.Cut(object, []byte(owners))
	if !found {
		return object
	}
	_, after, found := bytes.Cut(from, []byte(`],"name":`))
	if !found {
		return object
	}
	return append(append(before, `,"name":`...), after...)
}

// owners is how the list begins that says who wrote what.
const owners = `,"managedFields":[`

// lines frames a stream with one document a line, which is how the API server
// writes JSON.
type lines struct{}

// NewFrameReader implements runtime.Framer.
func (lines) NewFrameReader(r io.ReadCloser) io.ReadCloser {
	return &lineReader{Closer: r, from: bufio.NewReaderSize(r, lineBuffer)}
}

// NewFrameWriter implements runtime.Framer.
func (lines) NewFrameWriter(w io.Writer) io.Writer { return json.Framer.NewFrameWriter(w) }

// lineBuffer holds most events whole.
const lineBuffer = 32 << 10

// lineReader reads a line at a time.
type lineReader struct {
	io.Closer
	from   *bufio.Reader
	line   []byte // what was read of it and not handed out
	midway bool   // its end was not read yet
}

// Read hands out the line, or as much of it as p holds with [io.ErrShortBuffer].
func (l *lineReader) Read(p []byte) (n int, err error) {
	for {
		part := copy(p[n:], l.line)
		n, l.line = n+part, l.line[part:]
		switch {
		case len(l.line) > 0:
			return n, io.ErrShortBuffer
		case n > 0 && !l.midway:
			return n, nil
		}
		if err := l.more(); err != nil {
			return 0, err
		}
	}
}

// more reads on, to the end of the line if the buffer holds it.
func (l *lineReader) more() error {
	line, err := l.from.ReadSlice('\n')
	switch {
	case err == nil:
		l.line, l.midway = line[:len(line)-1], false
	case errors.Is(err, bufio.ErrBufferFull):
		l.line, l.midway = line, true
	case errors.Is(err, io.EOF) && (l.midway || len(line) > 0):
		return io.ErrUnexpectedEOF
	default:
		return err
	}
	return nil
}
