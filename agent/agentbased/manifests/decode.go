package manifests

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ironflow/ironflow/api/nearest"
)

// maxNodes bounds what is read of a document, aliases counted as often as they are used.
const maxNodes = 50_000

// Ignored is a field that is known and means nothing here, such as what an API server adds.
type Ignored struct{}

// Free is a document of somebody else's within a document, kept as it is.
type Free struct{ node *yaml.Node }

// YAML is the text of it; empty for none.
func (f Free) YAML() (string, error) {
	if f.node == nil {
		return "", nil
	}
	raw, err := yaml.Marshal(f.node)
	return string(raw), err
}

// IsZero tells that there is none.
func (f Free) IsZero() bool { return f.node == nil }

// MarshalJSON writes it as JSON.
func (f Free) MarshalJSON() ([]byte, error) {
	var value any
	if f.node != nil {
		if err := f.node.Decode(&value); err != nil {
			return nil, err
		}
	}
	return json.Marshal(value)
}

var (
	ignoredType = reflect.TypeFor[Ignored]()
	freeType    = reflect.TypeFor[Free]()
)

// decoder fills Go values from one document. Fields have the names of their json tags. A tag
// "refuse" says why nothing would be done with a field that is known.
type decoder struct {
	*place
	left int
}

// decode fills the value that into points to.
func decode(at *place, n *yaml.Node, into any) {
	at.lines, at.bad = map[string]int{}, map[string]bool{}
	d := &decoder{place: at, left: maxNodes}
	d.value(n, reflect.ValueOf(into).Elem(), "")
	if d.left <= 0 {
		at.wrong("", "is too large once its aliases are replaced: at most %d values are read", maxNodes)
	}
}

func (d *decoder) value(n *yaml.Node, v reflect.Value, path string) {
	if d.left--; d.left <= 0 {
		return
	}
	if n.Kind == yaml.DocumentNode || n.Kind == yaml.AliasNode {
		inner := n.Alias
		if n.Kind == yaml.DocumentNode {
			inner = n.Content[0]
		}
		d.value(inner, v, path)
		return
	}
	d.lines[path] = n.Line
	if n.ShortTag() == "!!null" {
		return
	}
	switch {
	case v.Type() == ignoredType:
		d.duplicates(n, path)
		return
	case v.Type() == freeType:
		d.duplicates(n, path)
		v.Set(reflect.ValueOf(Free{node: n}))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		inner := reflect.New(v.Type().Elem())
		if d.value(n, inner.Elem(), path); !d.bad[path] {
			v.Set(inner)
		}
	case reflect.Struct:
		d.object(n, v, path)
	case reflect.Map:
		d.dictionary(n, v, path)
	case reflect.Slice:
		d.list(n, v, path)
	default:
		d.scalar(n, v, path)
	}
}

// unread tells of a value that could not be read.
func (d *decoder) unread(path, format string, args ...any) {
	d.bad[path] = true
	d.wrong(path, format, args...)
}

// fields are those of a struct by their names.
func fields(t reflect.Type) map[string]reflect.StructField {
	out := map[string]reflect.StructField{}
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			out[name] = f
		}
	}
	return out
}

func (d *decoder) object(n *yaml.Node, v reflect.Value, path string) {
	known := fields(v.Type())
	d.members(n, path, func(key, value *yaml.Node, inner string) {
		field, is := known[key.Value]
		if !is {
			d.lines[inner] = key.Line
			d.unused(inner, "is unknown%s", d.instead(key.Value, known, inner))
			return
		}
		if why := field.Tag.Get("refuse"); why != "" {
			if value.ShortTag() != "!!null" {
				d.lines[inner] = key.Line
				d.unused(inner, "is not acted upon: %s", why)
			}
			return
		}
		d.value(value, v.FieldByIndex(field.Index), inner)
	})
}

// mostChanges is by how many letters a name may differ from the one that was meant.
const mostChanges = 2

// instead is what somebody who wrote an unknown name may have meant.
func (d *decoder) instead(name string, known map[string]reflect.StructField, path string) string {
	names := make([]string, 0, len(known))
	for other, field := range known {
		if field.Tag.Get("refuse") != "" || field.Type == ignoredType {
			continue
		}
		names = append(names, other)
	}
	slices.Sort(names)
	best, changes := nearest.Name(name, names)
	switch {
	case best != "" && changes <= mostChanges:
		return fmt.Sprintf(": did you mean %s?", best)
	case strings.Contains(path, ".") && len(names) > 0:
		return ": take it away; known here are " + strings.Join(names, ", ")
	}
	return ": take it away"
}

// plainKey is a name that needs no quotes in a path.
var plainKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func join(path, key string) string {
	switch {
	case !plainKey.MatchString(key):
		return fmt.Sprintf("%s[%.100q]", path, key)
	case path == "":
		return key
	}
	return path + "." + key
}

// members goes through a mapping; what is there twice is told, and the first one counts.
func (d *decoder) members(n *yaml.Node, path string, each func(key, value *yaml.Node, path string)) {
	if n.Kind != yaml.MappingNode {
		d.unread(path, "is %s: write a mapping, a line NAME: VALUE for each of its fields", kindOf(n))
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if d.left--; d.left <= 0 {
			return
		}
		key, value := n.Content[i], n.Content[i+1]
		inner := join(path, key.Value)
		first, twice := seen[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode:
			d.wrong(path, "has a name that is %s: write names as text", kindOf(key))
		case key.Value == "<<" && key.Style == 0:
			d.wrong(path, "merges another mapping (<<), which is not read: write its fields out")
		case twice:
			d.wrong(inner, "is there twice, in lines %d and %d: keep one", first, key.Line)
		default:
			seen[key.Value] = key.Line
			each(key, value, inner)
		}
	}
}

// duplicates looks for names that are there twice in what is not decoded.
func (d *decoder) duplicates(n *yaml.Node, path string) {
	if d.left--; d.left <= 0 {
		return
	}
	if _, known := d.lines[path]; !known {
		d.lines[path] = n.Line
	}
	switch n.Kind {
	case yaml.MappingNode:
		d.members(n, path, func(_, value *yaml.Node, inner string) { d.duplicates(value, inner) })
	case yaml.SequenceNode:
		for i, c := range n.Content {
			d.duplicates(c, fmt.Sprintf("%s[%d]", path, i))
		}
	case yaml.AliasNode:
		d.wrong(path, "is an alias (*%s), which is not read here: write it out", n.Value)
	default:
	}
}

func (d *decoder) dictionary(n *yaml.Node, v reflect.Value, path string) {
	out := reflect.MakeMap(v.Type())
	d.members(n, path, func(key, value *yaml.Node, inner string) {
		one := reflect.New(v.Type().Elem()).Elem()
		d.value(value, one, inner)
		out.SetMapIndex(reflect.ValueOf(key.Value), one)
	})
	v.Set(out)
}

func (d *decoder) list(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.SequenceNode {
		d.unread(path, "is %s: write a list, a line with a dash for each of its values", kindOf(n))
		return
	}
	out := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, c := range n.Content {
		d.value(c, out.Index(i), fmt.Sprintf("%s[%d]", path, i))
	}
	v.Set(out)
}

// decimal is a number that every reader of YAML takes for the same.
var decimal = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,9})$`)

func (d *decoder) scalar(n *yaml.Node, v reflect.Value, path string) {
	tag := n.ShortTag()
	switch v.Kind() {
	case reflect.String:
		if n.Kind != yaml.ScalarNode || tag != "!!str" && tag != "!!timestamp" {
			d.unread(path, "is %s: write a text, in quotes where it looks like something else", kindOf(n))
			return
		}
		v.SetString(n.Value)
	case reflect.Bool:
		if n.Kind != yaml.ScalarNode || tag != "!!bool" {
			d.unread(path, "is %s: write true or false, without quotes", kindOf(n))
			return
		}
		v.SetBool(strings.EqualFold(n.Value, "true"))
	case reflect.Int, reflect.Int64:
		number, err := strconv.ParseInt(n.Value, 10, 64)
		switch {
		case n.Kind != yaml.ScalarNode || tag != "!!int":
			d.unread(path, "is %s: write a whole number, without quotes", kindOf(n))
			return
		case !decimal.MatchString(n.Value) || err != nil || number > math.MaxInt32 || number < math.MinInt32:
			d.unread(path, "is a number that is another one to some readers, or too large: write decimal digits, without zeros in front")
			return
		}
		v.SetInt(number)
	default:
		d.unread(path, "cannot be read")
	}
}

// kindOf names what a value is, without its content.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	default:
	}
	switch n.ShortTag() {
	case "!!str":
		return "a text"
	case "!!int":
		return "a whole number"
	case "!!float":
		return "a number"
	case "!!bool":
		return "true or false"
	case "!!null":
		return "empty"
	}
	return "of type " + strings.TrimPrefix(n.ShortTag(), "!!")
}
