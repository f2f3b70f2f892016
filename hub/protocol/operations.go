package protocol

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Base is the path that every operation lies below.
const Base = "/api/assisted-install"

//go:embed operations.tsv
var operationsTable string

// Operation is one operation of the protocol.
type Operation struct {
	// Method and Path as the protocol names them; Path has {parameters}.
	Method, Path string
	// ID is the operation's name, used in metrics.
	ID string
	// Access says who may call: one of these is enough.
	Access []Access
	// Params are what it takes.
	Params []Param
	// Consumes is the body's kind; empty for JSON.
	Consumes string
	// Success is the status of a good answer, Empty that of one without content; zero for none.
	Success, Empty int
	// Answer is the type of a good answer, as in [Field].Type; "file" for a
	// download, "object{…}" for members by name, empty for no body.
	Answer string
	// Headers are those of a good answer.
	Headers []string
	// Errors are the status codes that the protocol names.
	Errors []int
	// Deprecated operations are there for old clients.
	Deprecated bool
	// Stream tells that the answer is sent while it is made: its size has no bound.
	Stream bool
}

// Access is one way to be let in.
type Access struct {
	Scheme Scheme
	// Roles that may call; nil for all.
	Roles []string
}

// Roles are those that may call with the scheme; nil where the protocol names none.
func (o Operation) Roles(scheme Scheme) []string {
	for _, a := range o.Access {
		if a.Scheme == scheme {
			return a.Roles
		}
	}
	return nil
}

// Scheme is a kind of authentication.
type Scheme string

// The schemes of the protocol.
const (
	UserAuth     Scheme = "userAuth"
	AgentAuth    Scheme = "agentAuth"
	WatcherAuth  Scheme = "watcherAuth"
	URLAuth      Scheme = "urlAuth"
	ImageAuth    Scheme = "imageAuth"
	ImageURLAuth Scheme = "imageURLAuth"
)

// Param is one parameter of an operation.
type Param struct {
	// Name is what a client writes; of a body it is only a label.
	Name string
	// In is path, query, header, body or formData.
	In string
	// Type is as in [Field].Type, or "file".
	Type     string
	Required bool
	Enum     []string
	Default  string
	// MaxLength bounds the text or file, in bytes; empty for none.
	MaxLength string
	// Multi means that a list is repeated, not separated by commas.
	Multi bool
	// EmptyIsTrue means that the name alone is enough.
	EmptyIsTrue bool
}

// Operations returns the protocol's operations in the order of their paths.
func Operations() ([]Operation, error) {
	var out []Operation
	for i, cols := range lines(operationsTable) {
		if len(cols) != 8 {
			return nil, fmt.Errorf("operations.tsv line %d has %d columns, want 8", i+1, len(cols))
		}
		op, err := parseOperation(cols)
		if err != nil {
			return nil, fmt.Errorf("operations.tsv line %d: %w", i+1, err)
		}
		out = append(out, op)
	}
	return out, nil
}

func parseOperation(cols []string) (Operation, error) {
	op := Operation{Method: cols[0], Path: cols[1], ID: cols[2]}
	for text := range strings.SplitSeq(cols[3], ";") {
		if consumes, found := strings.CutPrefix(text, "consumes="); found {
			op.Consumes = consumes
			continue
		}
		if text == "" {
			continue
		}
		p, err := parseParam(text)
		if err != nil {
			return op, err
		}
		op.Params = append(op.Params, p)
	}
	if err := op.parseSuccess(cols[4]); err != nil {
		return op, fmt.Errorf("success %q: %w", cols[4], err)
	}
	for text := range strings.SplitSeq(cols[5], ",") {
		if text == "" {
			continue
		}
		code, _, _ := strings.Cut(text, "(")
		n, err := strconv.Atoi(code)
		if err != nil {
			return op, fmt.Errorf("errors: %w", err)
		}
		op.Errors = append(op.Errors, n)
	}
	for text := range strings.SplitSeq(cols[6], "|") {
		name, roles, limited := strings.Cut(strings.TrimSuffix(text, ")"), "(")
		access := Access{Scheme: Scheme(name)}
		if limited {
			access.Roles = strings.Split(roles, ",")
		}
		op.Access = append(op.Access, access)
	}
	for note := range strings.SplitSeq(cols[7], ",") {
		switch note {
		case "":
		case "deprecated":
			op.Deprecated = true
		case "stream":
			op.Stream = true
		default:
			return op, fmt.Errorf("note %q is not known", note)
		}
	}
	return op, nil
}

func parseParam(text string) (Param, error) {
	parts := strings.Split(text, ":")
	if len(parts) < 4 {
		return Param{}, fmt.Errorf("parameter %q: want name:in:type:required", text)
	}
	p := Param{Name: parts[0], In: parts[1], Required: parts[3] == "y"}
	p.Type = strings.TrimSuffix(strings.NewReplacer("ref(", "ref:", "array(", "array:").Replace(parts[2]), ")")
	for _, more := range parts[4:] {
		key, value, _ := strings.Cut(more, "=")
		switch key {
		case "enum":
			p.Enum = strings.Split(value, "|")
		case "default":
			p.Default = value
		case "maxLength":
			p.MaxLength = value
		case "collectionFormat":
			p.Multi = value == "multi"
		case "allowEmptyValue":
			p.EmptyIsTrue = true
		default:
			return p, fmt.Errorf("parameter %s: %q is not known", p.Name, more)
		}
	}
	return p, nil
}

// parseSuccess reads "200 ref:x", "200 file; 204 produces=…", "200 x headers=A|B" and "204".
func (o *Operation) parseSuccess(text string) error {
	good, other, hasEmpty := strings.Cut(text, "; ")
	if hasEmpty {
		code, _, _ := strings.Cut(other, " ")
		n, err := strconv.Atoi(code)
		if err != nil {
			return err
		}
		o.Empty = n
	}
	code, rest, _ := strings.Cut(good, " ")
	n, err := strconv.Atoi(code)
	if err != nil {
		return err
	}
	o.Success = n
	rest, headers, found := strings.Cut(rest, " headers=")
	if found {
		o.Headers = strings.Split(headers, "|")
	}
	o.Answer, _, _ = strings.Cut(rest, " produces=")
	return nil
}

// Accepts reports whether the scheme lets callers in.
func (o Operation) Accepts(s Scheme) bool {
	return slices.ContainsFunc(o.Access, func(a Access) bool { return a.Scheme == s })
}

// Body is the type of the JSON body; empty for none.
func (o Operation) Body() string {
	for _, p := range o.Params {
		if p.In == "body" {
			return p.Type
		}
	}
	return ""
}
