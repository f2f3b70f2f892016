package kubeapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// request is a request as its path says.
type request struct {
	*http.Request

	kind *kind
	key  key // without a name: all objects, of a namespace if there is one
	sub  string
	body []byte
	bare bool // only the metadata is wanted
}

// RoundTrip implements http.RoundTripper: a request has its effect before it returns.
func (s *Server) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	intercept := s.intercept
	s.mu.Unlock()
	var fault *Fault
	if intercept != nil {
		fault = intercept(r)
	}
	if fault != nil && !fault.AfterHandling {
		return fault.answer(r)
	}
	answer := s.handle(r)
	if fault != nil {
		return fault.answer(r)
	}
	return answer, nil
}

func (f *Fault) answer(r *http.Request) (*http.Response, error) {
	if f.Err != nil {
		return nil, f.Err
	}
	refused := apierrors.NewGenericServerResponse(f.Status, strings.ToLower(r.Method), schema.GroupResource{}, "", f.Text, 0, true)
	return respond(r, refused.Status().Code, encode(refused.Status())), nil
}

func (s *Server) handle(r *http.Request) *http.Response {
	asked, err := s.parse(r)
	var answer *http.Response
	var raw []byte
	switch {
	case err != nil:
	case asked.verb() == "watch":
		if answer, err = s.watch(asked); err == nil {
			return answer
		}
	default:
		s.mu.Lock()
		raw, err = s.answer(asked)
		s.mu.Unlock()
	}
	if err != nil {
		status := apierrors.APIStatus(apierrors.NewInternalError(err))
		errors.As(err, &status)
		told := status.Status()
		if asked != nil && asked.kind != nil {
			s.mu.Lock()
			s.count(asked, fmt.Sprint(told.Code, " ", asked.verb()))
			s.mu.Unlock()
		}
		told.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
		return respond(r, told.Code, encode(told))
	}
	code := int32(http.StatusOK)
	if r.Method == http.MethodPost {
		code = http.StatusCreated
	}
	return respond(r, code, raw)
}

// parse reads the path: /api/v1 or /apis/group/version, then /namespaces/x unless
// all are meant, the resource, a name and a subresource.
func (s *Server) parse(r *http.Request) (*request, error) {
	asked := &request{Request: r, bare: strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata")}
	if r.Body != nil {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, fmt.Errorf("read the request: %w", err)
		}
		asked.body = raw
	}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if parts[0] == "api" {
		parts = append([]string{"apis", ""}, parts[1:]...)
	}
	for len(parts) < 8 {
		parts = append(parts, "")
	}
	gv, rest := schema.GroupVersion{Group: parts[1], Version: parts[2]}, parts[3:]
	if rest[0] == "namespaces" && rest[2] != "" {
		asked.key.namespace, rest = rest[1], rest[2:]
	}
	asked.key.name, asked.sub = rest[1], rest[2]
	if asked.kind = s.kinds[gv.WithResource(rest[0])]; asked.kind == nil {
		return nil, apierrors.NewGenericServerResponse(http.StatusNotFound, "", schema.GroupResource{}, "", "no such resource: "+r.URL.Path, 0, true)
	}
	return asked, nil
}

// verb is what the API server calls the request.
func (r *request) verb() string {
	switch {
	case r.Method == http.MethodGet && r.URL.Query().Get("watch") != "":
		return "watch"
	case r.Method == http.MethodGet && r.key.name == "":
		return "list"
	case r.Method == http.MethodPost:
		return "create"
	case r.Method == http.MethodPut:
		return "update"
	}
	return strings.ToLower(r.Method)
}

// answer carries a request out; the lock is held.
func (s *Server) answer(r *request) ([]byte, error) {
	verb := r.verb()
	s.count(r, verb)
	var o *object
	var err error
	switch verb {
	case "list":
		return s.list(r)
	case "get":
		o, err = r.kind.get(r.key)
	case "create":
		o, err = s.create(r)
	case "update":
		var d document
		if d, err = parse(r.body); err == nil {
			o, err = s.update(r, d)
		}
	case "patch":
		o, err = s.patch(r)
	case "delete":
		return s.remove(r)
	default:
		err = apierrors.NewMethodNotSupported(r.kind.resource.GroupResource(), verb)
	}
	if err != nil {
		return nil, err
	}
	return o.shown(r.bare), nil
}

func (s *Server) count(r *request, verb string) {
	s.counts[strings.TrimSuffix(verb+" "+r.kind.resource.Resource+"/"+r.sub, "/")]++
}

func respond(r *http.Request, code int32, raw []byte) *http.Response {
	return &http.Response{
		StatusCode: int(code), Status: http.StatusText(int(code)), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(raw)), ContentLength: int64(len(raw)),
	}
}

// encode makes JSON of a value that always has some.
func encode(value any) []byte {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("encode %T: %v", value, err)) //nolint:forbidigo // all that is encoded here has JSON
	}
	return raw
}
