package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// value holds a value against a schema; at says where it stands.
func (s *specification) value(at string, want schema, v any) error {
	want = s.resolve(want)
	if v == nil {
		if want["x-nullable"] == true {
			return nil
		}
		return fmt.Errorf("%s is null", at)
	}
	switch want["type"] {
	case "object":
		return s.object(at, want, v)
	case "array":
		items, ok := v.([]any)
		if !ok {
			return fmt.Errorf("%s is no list", at)
		}
		for i, item := range items {
			if err := s.value(fmt.Sprintf("%s[%d]", at, i), sub(want, "items"), item); err != nil {
				return err
			}
		}
		return nil
	case "boolean":
		if _, ok := v.(bool); !ok {
			return fmt.Errorf("%s is no boolean", at)
		}
		return nil
	case "integer", "number":
		return number(at, want, v)
	case "string":
		return text(at, want, v)
	}
	return fmt.Errorf("%s: the document has type %v", at, want["type"])
}

// resolve follows references and joins what stands beside each other.
func (s *specification) resolve(want schema) schema {
	if name, ok := want["$ref"].(string); ok {
		return s.resolve(sub(s.definitions, strings.TrimPrefix(name, "#/definitions/")))
	}
	parts, ok := want["allOf"].([]any)
	if !ok {
		return want
	}
	all := schema{"x-nullable": want["x-nullable"]}
	properties := schema{}
	var required []any
	for _, part := range parts {
		one, _ := part.(schema)
		one = s.resolve(one)
		for key, value := range one {
			if key != "x-nullable" {
				all[key] = value
			}
		}
		maps.Copy(properties, sub(one, "properties"))
		more, _ := one["required"].([]any)
		required = append(required, more...)
	}
	if all["type"] == "object" && all["additionalProperties"] == nil {
		all["properties"], all["required"] = properties, required
	}
	return all
}

func sub(s schema, key string) schema {
	one, _ := s[key].(schema)
	return one
}

// object refuses members that the document does not have, too: nothing but our
// own mistake would make them.
func (s *specification) object(at string, want schema, v any) error {
	members, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%s is no object", at)
	}
	required, _ := want["required"].([]any)
	for _, name := range required {
		if _, there := members[name.(string)]; !there {
			return fmt.Errorf("%s has no member %s", at, name)
		}
	}
	properties, hasProperties := want["properties"].(schema)
	values, isMap := want["additionalProperties"].(schema)
	for name, member := range members {
		property, known := properties[name].(schema)
		switch {
		case isMap:
			property = values
		case known:
		case hasProperties:
			return fmt.Errorf("%s has the member %s, which the document has not", at, name)
		default:
			continue // an object of any kind
		}
		if err := s.value(at+"."+name, property, member); err != nil {
			return err
		}
	}
	return nil
}

func number(at string, want schema, v any) error {
	n, ok := v.(json.Number)
	if !ok {
		return fmt.Errorf("%s is no number", at)
	}
	value, err := n.Float64()
	if err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	if _, err := n.Int64(); want["type"] == "integer" && err != nil {
		return fmt.Errorf("%s is no whole number: %s", at, n)
	}
	for key, beyond := range map[string]func(limit float64) bool{
		"minimum": func(limit float64) bool { return value < limit }, "maximum": func(limit float64) bool { return value > limit },
	} {
		if limit, ok := want[key].(json.Number); ok {
			bound, err := limit.Float64()
			if err != nil || beyond(bound) {
				return fmt.Errorf("%s is %s, %s is %s", at, n, key, limit)
			}
		}
	}
	return nil
}

// formats are those of the document that say more than the type.
var formats = map[string]func(string) error{
	"uuid": func(text string) error {
		if len(text) != len(uuid.Nil.String()) {
			return errors.New("not 36 characters")
		}
		return uuid.Validate(text)
	},
	"date-time": func(text string) error { _, err := time.Parse(time.RFC3339Nano, text); return err },
	"ipv4":      address(netip.Addr.Is4),
	"ipv6":      address(netip.Addr.Is6),
	"mac":       func(text string) error { _, err := net.ParseMAC(text); return err },
}

func address(is func(netip.Addr) bool) func(string) error {
	return func(text string) error {
		a, err := netip.ParseAddr(text)
		if err == nil && !is(a) {
			err = errors.New("an address of the other family")
		}
		return err
	}
}

func text(at string, want schema, v any) error {
	value, ok := v.(string)
	if !ok {
		return fmt.Errorf("%s is no text", at)
	}
	if enum, limited := want["enum"].([]any); limited && !slices.Contains(enum, any(value)) {
		return fmt.Errorf("%s is %q, none of %v", at, value, enum)
	}
	if pattern, ok := want["pattern"].(string); ok && !regexp.MustCompile(pattern).MatchString(value) {
		return fmt.Errorf("%s is %q, which does not match %s", at, value, pattern)
	}
	format, _ := want["format"].(string)
	if check := formats[format]; check != nil {
		if err := check(value); err != nil {
			return fmt.Errorf("%s is %q, no %s: %w", at, value, format, err)
		}
	}
	return nil
}
