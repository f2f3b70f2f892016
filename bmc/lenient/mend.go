package lenient

import "bytes"

// Mend makes JSON of what is nearly JSON, in the ways that BMCs get it wrong: a byte order
// mark before it, zeros of a buffer behind it, control characters in texts (iLO 6 leaves a
// carriage return), and a backslash that escapes nothing. JSON stays as it is, and is not
// copied; what is broken in another way stays broken.
func Mend(raw []byte) []byte {
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	raw = bytes.TrimRight(raw, "\x00")
	quoted := false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			quoted = !quoted
		case !quoted:
		case c == '\\' && i+1 < len(raw) && escapable(raw[i+1]):
			i++
		case c == '\\' || c < ' ':
			return mended(raw, i)
		}
	}
	return raw
}

// mended is a copy of JSON that needs mending from inside a text on.
func mended(raw []byte, from int) []byte {
	out := append(make([]byte, 0, len(raw)+16), raw[:from]...)
	quoted := true
	for i := from; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			quoted = !quoted
			out = append(out, c)
		case !quoted:
			out = append(out, c)
		case c == '\\' && i+1 < len(raw) && escapable(raw[i+1]):
			out = append(out, c, raw[i+1])
			i++
		case c == '\\':
			out = append(out, `\\`...)
		case c < ' ':
			out = append(out, ' ')
		default:
			out = append(out, c)
		}
	}
	return out
}

func escapable(c byte) bool { return bytes.IndexByte([]byte(`"\/bfnrtu`), c) >= 0 }
