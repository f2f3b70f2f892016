package settings

import (
	"iter"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// members are those of a mapping, with the values that aliases stand for.
func members(n *yamlv3.Node) iter.Seq2[*yamlv3.Node, *yamlv3.Node] {
	return func(yield func(key, value *yamlv3.Node) bool) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], resolve(n.Content[i+1])) {
				return
			}
		}
	}
}

func resolve(n *yamlv3.Node) *yamlv3.Node {
	if n.Kind == yamlv3.AliasNode {
		return n.Alias
	}
	return n
}

func isNull(n *yamlv3.Node) bool { return n.Kind == yamlv3.ScalarNode && n.ShortTag() == "!!null" }

// textOf is what a flag would be given for the value, or why it is of another type than the field.
func textOf(field any, n *yamlv3.Node) (text, why string) {
	if _, is := field.(*[]string); is {
		return listOf(n)
	}
	tag, want := "!!str", `is a text: put it in quotes, such as "0"`
	switch field.(type) {
	case *bool:
		tag, want = "!!bool", "is a truth value: write true or false"
	case *int:
		tag, want = "!!int", "is a whole number, such as 10"
	case *metav1.Duration:
		want = "is a duration: write it with its unit, such as 30s or 1h30m"
	}
	if n.Kind != yamlv3.ScalarNode || n.ShortTag() != tag {
		return "", want
	}
	return n.Value, ""
}

func listOf(n *yamlv3.Node) (text, why string) {
	const want = `is a list of texts: write [a, "1"], or one a line behind a hyphen`
	if n.Kind != yamlv3.SequenceNode {
		return "", want
	}
	var entries []string
	for _, entry := range n.Content {
		entry = resolve(entry)
		switch {
		case entry.Kind != yamlv3.ScalarNode || entry.ShortTag() != "!!str":
			return "", want
		case strings.Contains(entry.Value, ","):
			return "", "is a list: what is before and behind a comma are two entries of it"
		}
		entries = append(entries, entry.Value)
	}
	return strings.Join(entries, ","), ""
}
