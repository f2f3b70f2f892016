package protocol

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strings"
)

//go:embed models.tsv
var modelsTable string

// Model is one REST model, or an inline object of one.
type Model struct {
	// Name is the protocol's name.
	Name string
	// Self is set when the model is not an object.
	Self *Field
	// Fields are those of an object, in the order of the table.
	Fields []Field
}

// Field is one JSON field of a model.
type Field struct {
	// JSON is the field's name.
	JSON string
	// Type is string, integer, int64, boolean, number, date-time, uuid, object,
	// array:TYPE, map:TYPE or ref:MODEL.
	Type string
	// Emit says when the field is there: always, nonzero, nonnil; empty follows Required.
	Emit string
	// Enum are the values that a text may have; nil allows any.
	Enum []string
	// Required fields are always there.
	Required bool
	// Nullable fields may be null.
	Nullable bool
	// Inline means that all fields of the model that Type refers to are meant.
	Inline bool
	// Pattern is a regular expression for the text, or for the items of a list.
	Pattern string
	// Format, Default and the limits are as in the protocol's description; empty for none.
	Format, Default, Min, Max, MinLength, MaxLength string
}

// Models returns all models by name. Inline objects have models of their own,
// named MODEL-FIELD, or MODEL-item for the objects of a list.
func Models() (map[string]*Model, error) {
	models := map[string]*Model{}
	get := func(name string) *Model {
		if models[name] == nil {
			models[name] = &Model{Name: name}
		}
		return models[name]
	}
	for i, cols := range lines(modelsTable) {
		if len(cols) != 6 {
			return nil, fmt.Errorf("models.tsv line %d has %d columns, want 6", i+1, len(cols))
		}
		f, err := parseField(cols[1:])
		if err != nil {
			return nil, fmt.Errorf("models.tsv line %d: %w", i+1, err)
		}
		owner := get(cols[0])
		switch {
		case f.JSON == "." && f.Inline:
			owner.Fields = append([]Field{f}, owner.Fields...)
		case f.JSON == ".":
			owner.Self = &f
		default:
			nest(get, owner, f)
		}
	}
	for _, m := range models {
		m.adoptInlineObjects(models)
	}
	return models, nil
}

func parseField(cols []string) (Field, error) {
	f := Field{JSON: cols[0], Type: cols[1], Required: cols[2] == "y"}
	if cols[3] != "" {
		values, err := csv.NewReader(strings.NewReader(cols[3])).Read()
		if err != nil {
			return f, fmt.Errorf("enum: %w", err)
		}
		f.Enum = values
	}
	constraints := cols[4]
	constraints, f.Pattern = cutPattern(constraints)
	for word := range strings.FieldsSeq(constraints) {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "nullable":
			f.Nullable = true
		case "inline":
			f.Inline = true
		case "emit":
			f.Emit = value
		case "format":
			f.Format = value
		case "default":
			f.Default = value
		case "min":
			f.Min = value
		case "max":
			f.Max = value
		case "minLength":
			f.MinLength = value
		case "maxLength":
			f.MaxLength = value
		default:
			return f, fmt.Errorf("constraint %q is not known", word)
		}
	}
	return f, nil
}

// cutPattern takes the regular expression off the end: it may hold blanks.
func cutPattern(constraints string) (rest, pattern string) {
	const mark = "pattern="
	if after, found := strings.CutPrefix(constraints, mark); found {
		return "", after
	}
	rest, pattern, _ = strings.Cut(constraints, " "+mark)
	return rest, pattern
}

// nest moves fields such as "a.b", "a[].b" and "[].b" into a model of their own.
func nest(get func(string) *Model, owner *Model, f Field) {
	head, rest, found := cutNested(f.JSON)
	if !found {
		owner.Fields = append(owner.Fields, f)
		return
	}
	child := owner.Name + "-" + head
	if head == "" {
		child = owner.Name + "-item"
	}
	f.JSON = rest
	nest(get, get(child), f)
}

func cutNested(path string) (head, rest string, found bool) {
	if after, ok := strings.CutPrefix(path, "[]."); ok {
		return "", after, true
	}
	if head, rest, ok := strings.Cut(path, "."); ok {
		return strings.TrimSuffix(head, "[]"), rest, true
	}
	return "", "", false
}

// adoptInlineObjects points object fields at the models that nest made of them.
func (m *Model) adoptInlineObjects(models map[string]*Model) {
	if m.Self != nil && m.Self.Type == "array:object" && models[m.Name+"-item"] != nil {
		m.Self.Type = "array:ref:" + m.Name + "-item"
	}
	for i, f := range m.Fields {
		child := m.Name + "-" + f.JSON
		if models[child] == nil || strings.HasPrefix(f.Type, "ref:") {
			continue
		}
		switch f.Type {
		case "object":
			m.Fields[i].Type = "ref:" + child
		case "array:object":
			m.Fields[i].Type = "array:ref:" + child
		}
	}
}
