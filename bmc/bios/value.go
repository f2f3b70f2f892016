package bios

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Decode reads a JSON value: nil, bool, string or json.Number; ok is false for
// objects, lists and what is no JSON.
func Decode(raw json.RawMessage) (v any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, false
	}
	switch v.(type) {
	case nil, bool, string, json.Number:
		return v, true
	default:
		return nil, false
	}
}

// Number is a value as a number; ok is false for what is none.
func Number(v any) (n float64, ok bool) {
	switch v := v.(type) {
	case json.Number:
		f, err := v.Float64()
		return f, err == nil && !math.IsInf(f, 0)
	case int:
		return float64(v), true
	case string:
		f, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
		return f, err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
	default:
		return 0, false
	}
}

// Same reports whether two values are the same: numbers by their size, also where one
// of them is written as a text, all else literally.
func Same(a, b any) bool {
	x, first := Number(a)
	y, second := Number(b)
	if first && second {
		return x == y
	}
	return Text(a) == Text(b)
}

// Text is a value as it is shown and as Ironic has it.
func Text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	default:
		return fmt.Sprint(v)
	}
}
