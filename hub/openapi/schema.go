package openapi

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ironflow/ironflow/hub/protocol"
)

func ref(model string) object { return object{"$ref": "#/definitions/" + model} }

// plain are the types that need no more than a type and a format.
var plain = map[string][2]string{
	"string": {"string"}, "boolean": {"boolean"}, "integer": {"integer"}, "number": {"number"}, "file": {"file"}, "object": {"object"},
	"uuid": {"string", "uuid"}, "date-time": {"string", "date-time"}, "int64": {"integer", "int64"},
}

// typeSchema is the schema of a type of the tables.
func typeSchema(typ string) (object, error) {
	kind, arg, _ := strings.Cut(typ, ":")
	switch kind {
	case "ref":
		return ref(arg), nil
	case "array":
		items, err := typeSchema(arg)
		return object{"type": "array", "items": items}, err
	case "map":
		values, err := typeSchema(arg)
		return object{"type": "object", "additionalProperties": values}, err
	}
	words, known := plain[kind]
	if !known {
		return nil, fmt.Errorf("type %q is not known", typ)
	}
	out := object{"type": words[0]}
	if words[1] != "" {
		out["format"] = words[1]
	}
	return out, nil
}

func modelSchema(m *protocol.Model) (object, error) {
	if m.Self != nil {
		return fieldSchema(*m.Self)
	}
	properties := object{}
	var required []string
	var parents []object
	for _, f := range m.Fields {
		schema, err := fieldSchema(f)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", f.JSON, err)
		}
		if f.Inline {
			parents = append(parents, schema)
			continue
		}
		properties[f.JSON] = schema
		if f.Required {
			required = append(required, f.JSON)
		}
	}
	out := object{"type": "object", "properties": properties}
	if required != nil {
		out["required"] = required
	}
	if parents != nil {
		return object{"allOf": append(parents, out)}, nil
	}
	return out, nil
}

func fieldSchema(f protocol.Field) (object, error) {
	out, err := typeSchema(f.Type)
	if err != nil {
		return nil, err
	}
	if mayBeNull(f) {
		if _, isRef := out["$ref"]; isRef {
			out = object{"allOf": []object{out}} // nothing stands beside a reference
		}
		out["x-nullable"] = true
	}
	if f.Enum != nil {
		put(out, out, "enum", f.Enum)
	}
	if f.Pattern != "" {
		put(out, out, "pattern", f.Pattern)
	}
	if f.Format != "" {
		put(out, out, "format", f.Format)
	}
	if f.Default != "" && !strings.HasPrefix(f.Type, "ref:") {
		out["default"] = typed(f.Type, f.Default)
	}
	for key, value := range map[string]string{"minimum": f.Min, "maximum": f.Max, "minLength": f.MinLength, "maxLength": f.MaxLength} {
		if value != "" {
			out[key] = json.Number(value)
		}
	}
	return out, nil
}

// mayBeNull tells of the fields that existing servers print as null when they are
// unset: lists and maps that are always there, and the time of a deletion.
func mayBeNull(f protocol.Field) bool {
	list := strings.HasPrefix(f.Type, "array:") || strings.HasPrefix(f.Type, "map:") || f.Type == "ref:kernel_arguments"
	return f.Nullable || list && f.Emit == "always" || f.JSON == "deleted_at"
}

// typed is a default as JSON has it.
func typed(typ, text string) any {
	switch typ {
	case "boolean":
		return text == "true"
	case "integer", "int64", "number":
		return json.Number(text)
	}
	return text
}
