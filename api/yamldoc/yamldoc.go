// Package yamldoc reads one YAML or JSON document that anybody may have written, such as
// the content of a Secret. What it costs is bounded by the size of the document, and
// nothing in it is dropped. The main function is [Decode].
package yamldoc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// Limits of a document. A Secret is no larger, and what aliases repeat counts as often as
// it is repeated, so that a few lines cannot fill the memory.
const (
	maxDocument = 1 << 20
	maxExpanded = 4 * maxDocument
)

// LimitError is what is wrong with a document as a whole. It quotes nothing of it.
type LimitError struct{ what string }

// Error implements error.
func (l *LimitError) Error() string { return l.what }

func limit(format string, args ...any) error { return &LimitError{fmt.Sprintf(format, args...)} }

// Decode reads the document into the values that encoding/json makes. A member that is
// there twice and a second document are errors: one of the two would be dropped. An empty
// document is nil. An error that is no [LimitError] may quote the document.
func Decode(raw []byte) (any, error) {
	if len(raw) > maxDocument {
		return nil, limit("has %d bytes, and at most %d are read", len(raw), maxDocument)
	}
	if err := check(raw); err != nil {
		return nil, err
	}
	var value any
	if err := yaml.UnmarshalStrict(raw, &value); err != nil {
		return nil, fmt.Errorf("not valid YAML: %w", err)
	}
	return value, nil
}

// check looks at the document before its aliases are replaced.
func check(raw []byte) error {
	decoder := yamlv3.NewDecoder(bytes.NewReader(raw))
	for n := 0; ; n++ {
		var document yamlv3.Node
		err := decoder.Decode(&document)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("not valid YAML: %w", err)
		case n > 0 && !isEmpty(&document):
			return limit("has more than one YAML document; keep one")
		case expanded(&document, map[*yamlv3.Node]int{}) > maxExpanded:
			return limit("has more than %d bytes once its aliases are replaced", maxExpanded)
		}
	}
}

// isEmpty tells whether there is nothing behind a separator of documents.
func isEmpty(document *yamlv3.Node) bool {
	return len(document.Content) == 1 && document.Content[0].Kind == yamlv3.ScalarNode && document.Content[0].Value == ""
}

// twoNumbers is an integer that one version of YAML reads in base eight, or in groups of
// digits, and another one not.
var twoNumbers = regexp.MustCompile(`^[-+]?(0[0-9]+|[0-9]+(_[0-9]+)+)$`)

// Ambiguous says which number of a document that [Decode] has read is one to some readers
// and another one to others; nil for none.
func Ambiguous(raw []byte) error {
	var document yamlv3.Node
	if err := yamlv3.Unmarshal(raw, &document); err != nil {
		return fmt.Errorf("not valid YAML: %w", err)
	}
	return ambiguous(&document)
}

func ambiguous(n *yamlv3.Node) error {
	if n.Kind == yamlv3.ScalarNode && n.Style == 0 && twoNumbers.MatchString(n.Value) {
		digits := strings.ReplaceAll(n.Value, "_", "")
		one, err := strconv.ParseInt(digits, 0, 64)
		decimal, _ := strconv.ParseInt(digits, 10, 64) // it fits where one does
		other := strconv.FormatInt(decimal, 10)
		if digits != n.Value {
			other = "a text"
		}
		if err == nil && other != strconv.FormatInt(one, 10) {
			return fmt.Errorf("line %d: %s is %d to some readers and %s to others; write it without zeros in front and underscores, or in quotes if it is a name", n.Line, n.Value, one, other)
		}
	}
	for _, c := range n.Content {
		if err := ambiguous(c); err != nil {
			return err
		}
	}
	return nil
}

// expanded is the size of a node with its aliases replaced, or a number above the limit.
// Sizes of nodes that aliases name are kept, so that each is counted once.
func expanded(n *yamlv3.Node, known map[*yamlv3.Node]int) int {
	if n.Kind == yamlv3.AliasNode {
		n = n.Alias
	}
	if size, is := known[n]; is {
		return size
	}
	known[n] = maxExpanded + 1 // a node within itself has no end
	size := len(n.Value) + 1
	for _, c := range n.Content {
		if size = min(size+expanded(c, known), maxExpanded+1); size > maxExpanded {
			break
		}
	}
	known[n] = size
	return size
}
