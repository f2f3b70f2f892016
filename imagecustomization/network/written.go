package network

import (
	"encoding/json"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
)

// written is a number of a document, with the characters that it was written in. What is
// a number to YAML may be a name to whoever wrote it: 1e3 is a card of that name, and no
// other one than 1000.
type written struct {
	number float64
	text   string
}

// MarshalJSON implements json.Marshaler: to whoever reads the document next, it is the
// number.
func (w written) MarshalJSON() ([]byte, error) { return json.Marshal(w.number) }

// asWritten puts the characters of numbers into a value that was read from the node.
func asWritten(n *yamlv3.Node, value any) any {
	if n.Kind == yamlv3.AliasNode {
		n = n.Alias
	}
	switch v := value.(type) {
	case float64:
		if n.Kind == yamlv3.ScalarNode && n.Style == 0 {
			return written{v, n.Value}
		}
	case []any:
		if n.Kind == yamlv3.SequenceNode && len(n.Content) == len(v) {
			for i, c := range n.Content {
				v[i] = asWritten(c, v[i])
			}
		}
	case map[string]any:
		membersAsWritten(n, v)
	}
	return value
}

// membersAsWritten does the same with the members of a mapping, also with those that are
// merged into it: none of them is there twice.
func membersAsWritten(n *yamlv3.Node, members map[string]any) {
	if n.Kind == yamlv3.AliasNode {
		n = n.Alias
	}
	if n.Kind != yamlv3.MappingNode {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, content := n.Content[i], n.Content[i+1]
		member, there := members[key.Value]
		switch {
		case key.Tag == "!!merge" && content.Kind == yamlv3.SequenceNode:
			for _, merged := range content.Content {
				membersAsWritten(merged, members)
			}
		case key.Tag == "!!merge":
			membersAsWritten(content, members)
		case there:
			members[key.Value] = asWritten(content, member)
		}
	}
}

// named replaces the numbers in a value that are names as they are written.
func named(value any, isName func(string) bool) any {
	switch v := value.(type) {
	case written:
		if strings.ContainsAny(v.text, "eE.") && isName(v.text) {
			return v.text
		}
	case []any:
		for i := range v {
			v[i] = named(v[i], isName)
		}
	case map[string]any:
		for key := range v {
			v[key] = named(v[key], isName)
		}
	}
	return value
}
