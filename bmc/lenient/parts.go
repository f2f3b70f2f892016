package lenient

import (
	"bytes"
	"encoding/json"
	"iter"
)

// parts walks over the elements of a list, or over the members of an object with their
// names, at most MaxElements of them. It copies nothing, and trusts brackets and quotes
// only: encoding/json has seen the text before, and each part is read by itself.
func parts(raw []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		level, quoted, start, n := 0, false, 1, 0
		for i := 1; i < len(raw); i++ {
			switch c := raw[i]; {
			case quoted && c == '\\':
				i++
			case c == '"':
				quoted = !quoted
			case quoted:
			case c == '{' || c == '[':
				level++
			case level > 0 && (c == '}' || c == ']'):
				level--
			case level == 0 && (c == ',' || c == '}' || c == ']'):
				if n++; !yield(raw[start:i]) || c != ',' || n == MaxElements {
					return
				}
				start = i + 1
			}
		}
	}
}

// named takes a member of an object apart.
func named(member []byte) (name string, value []byte) {
	member = bytes.TrimSpace(member)
	for i := 1; i < len(member); i++ {
		switch member[i] {
		case '\\':
			i++
		case '"':
			if json.Unmarshal(member[:i+1], &name) != nil {
				return "", nil
			}
			value, _ = bytes.CutPrefix(bytes.TrimSpace(member[i+1:]), []byte(":"))
			return name, value
		}
	}
	return "", nil
}
