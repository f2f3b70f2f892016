package network

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// Limits of a document. A Secret is no larger, and what aliases repeat counts as often as
// it is repeated, so that a few lines cannot fill the memory.
const (
	maxDocument = 1 << 20
	maxExpanded = 4 * maxDocument
)

// decode reads YAML or JSON. A member that is there twice and a second document are
// errors: one of the two would be dropped.
func decode(raw []byte) (any, error) {
	if len(raw) > maxDocument {
		return nil, fmt.Errorf("has %d bytes, and at most %d are read", len(raw), maxDocument)
	}
	decoder := yamlv3.NewDecoder(bytes.NewReader(raw))
	var first, second yamlv3.Node
	if err := decoder.Decode(&first); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("not valid YAML: %w", err)
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, errors.New("has more than one YAML document; keep one")
	}
	if expanded(&first, map[*yamlv3.Node]int{}) > maxExpanded {
		return nil, fmt.Errorf("has more than %d bytes once its aliases are replaced", maxExpanded)
	}
	var value any
	if err := yaml.UnmarshalStrict(raw, &value); err != nil {
		return nil, fmt.Errorf("not valid YAML: %w", err)
	}
	return value, nil
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
