// Package contract holds every answer of the hub's REST API against its OpenAPI
// document: status, members, types, enumerations, formats. An answer that a
// client's generated code would not understand fails the test that got it.
//
// [Checked] wraps an API. What it has seen succeed is kept for the table of
// operations, see [Succeeded]; what test hubs have put on their timelines for the
// table of events, see [Told].
package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/ironflow/ironflow/hub/openapi"
)

// specification is the document in the form in which answers are checked.
type specification struct {
	// mux finds an operation's pattern by a request.
	mux         *http.ServeMux
	operations  map[string]operation
	definitions schema
}

type operation struct {
	id        string
	file      bool
	responses schema
}

// schema is a JSON object of the document.
type schema = map[string]any

var specify = sync.OnceValues(func() (*specification, error) {
	raw, err := openapi.Document("test")
	if err != nil {
		return nil, err
	}
	var d struct {
		BasePath    string
		Paths       map[string]map[string]schema
		Definitions schema
	}
	if err := decode(raw, &d); err != nil {
		return nil, err
	}
	s := &specification{mux: http.NewServeMux(), operations: map[string]operation{}, definitions: d.Definitions}
	for path, methods := range d.Paths {
		for method, op := range methods {
			pattern := strings.ToUpper(method) + " " + d.BasePath + path
			s.mux.HandleFunc(pattern, func(http.ResponseWriter, *http.Request) {})
			responses, _ := op["responses"].(schema)
			id, _ := op["operationId"].(string)
			s.operations[pattern] = operation{id: id, file: op["produces"] != nil, responses: responses}
		}
	}
	return s, nil
})

// decode keeps numbers as they are written.
func decode(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(into)
}

// record is which tests of this program have shown what, by the names of the outermost ones.
type record struct {
	mu sync.Mutex
	by map[string]map[string]bool
}

func (r *record) add(what, test string) {
	outermost, _, _ := strings.Cut(test, "/")
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.by == nil {
		r.by = map[string]map[string]bool{}
	}
	if r.by[what] == nil {
		r.by[what] = map[string]bool{}
	}
	r.by[what][outermost] = true
}

func (r *record) tests(what string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.by[what]))
}

var operationsSeen, eventsSeen record

// Succeeded returns the tests in which the operation gave a good answer, in this
// program.
func Succeeded(operationID string) []string { return operationsSeen.tests(operationID) }

// Told returns the tests in which the event came onto a timeline, in this program.
func Told(event string) []string { return eventsSeen.tests(event) }

// Tell notes an event of a test.
func Tell(event, test string) { eventsSeen.add(event, test) }

// Checked returns the API with each of its answers held against the document.
func Checked(t testing.TB, api http.Handler) http.Handler {
	t.Helper()
	spec, err := specify()
	if err != nil {
		t.Fatal(err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		copied := &recorder{ResponseWriter: w, code: http.StatusOK}
		api.ServeHTTP(copied, r)
		_, pattern := spec.mux.Handler(r)
		op, known := spec.operations[pattern]
		if !known {
			return // what the protocol does not have; the tests of the error model have it
		}
		if wrong := spec.check(op, copied); wrong != nil {
			t.Errorf("%s %s answered %d against the OpenAPI document: %v\n%s", r.Method, r.URL.Path, copied.code, wrong, clip(copied.body.Bytes()))
			return
		}
		if copied.code < http.StatusMultipleChoices {
			operationsSeen.add(op.id, t.Name())
		}
	})
}

func clip(body []byte) []byte { return body[:min(len(body), 2000)] }

// brokenBody is the answer to a body that breaks the document, whatever the operation.
var brokenBody = schema{
	"type": "object", "required": []any{"code", "message"}, "properties": schema{"code": schema{"type": "integer"}, "message": schema{"type": "string"}},
}

// check says what is wrong with an answer.
func (s *specification) check(op operation, got *recorder) error {
	if got.code == http.StatusNotImplemented && op.id != "V2ListManagedDomains" {
		return fmt.Errorf("operation %s is not served", op.id)
	}
	if op.file && (got.code == http.StatusPartialContent || got.code == http.StatusNotModified || got.code == http.StatusRequestedRangeNotSatisfiable) {
		return nil
	}
	response, listed := op.responses[strconv.Itoa(got.code)].(schema)
	if !listed {
		if got.code < http.StatusBadRequest {
			return fmt.Errorf("operation %s has no such answer", op.id)
		}
		response, _ = op.responses["default"].(schema)
	}
	kind := got.Header().Get("Content-Type")
	want, hasBody := response["schema"].(schema)
	switch {
	case !hasBody:
		if body := bytes.TrimSpace(got.body.Bytes()); len(body) > 0 {
			return fmt.Errorf("there is a body, want none")
		}
		return nil
	case want["type"] == "file":
		if kind != "application/octet-stream" || got.Header().Get("Content-Disposition") == "" {
			return fmt.Errorf("a download has the headers %v", got.Header())
		}
		return nil
	case kind != "application/json":
		return fmt.Errorf("Content-Type is %q", kind)
	}
	for name := range sub(response, "headers") {
		if _, err := strconv.Atoi(got.Header().Get(name)); err != nil {
			return fmt.Errorf("header %s: %w", name, err)
		}
	}
	var value any
	if err := decode(got.body.Bytes(), &value); err != nil {
		return fmt.Errorf("the body is no JSON: %w", err)
	}
	if members, ok := value.(map[string]any); ok && got.code == http.StatusBadRequest && members["message"] != nil {
		want = brokenBody
	}
	return s.value("body", want, value)
}

// recorder passes an answer on and keeps a copy.
type recorder struct {
	http.ResponseWriter
	code int
	body bytes.Buffer
}

// WriteHeader implements [http.ResponseWriter].
func (r *recorder) WriteHeader(code int) {
	r.code = code
	r.ResponseWriter.WriteHeader(code)
}

// Write implements [http.ResponseWriter].
func (r *recorder) Write(p []byte) (int, error) {
	r.body.Write(p)
	return r.ResponseWriter.Write(p)
}

// Unwrap lets net/http reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
