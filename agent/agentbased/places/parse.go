package places

import (
	"errors"
	"fmt"
	"strings"
)

// ParseEnv reads the text of an environment file as systemd does (systemd.exec(5)): NAME=value,
// comments with # and ;. A value that begins with a quote ends with it, and may have lines; in
// any other, quotes are characters like others, so JSON needs none around it. A backslash at the
// end of a line joins it with the next one. What systemd skips is an error here. Errors do not
// show values, which may be secrets.
func ParseEnv(text string) (map[string]string, error) {
	values := map[string]string{}
	r := envReader{text: text}
	for r.skip() {
		line := 1 + strings.Count(r.text[:r.at], "\n")
		name, found := r.name()
		if !found || !isName(name) {
			return nil, fmt.Errorf("line %d is not NAME=value", line)
		}
		value, err := r.value()
		if err != nil {
			return nil, fmt.Errorf("line %d, %s: %w", line, name, err)
		}
		values[name] = value
	}
	return values, nil
}

func isName(name string) bool {
	for i, c := range name {
		letter := c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

const (
	newlines = "\n\r"
	blanks   = " \t" + newlines
	// escaped are the characters that a backslash protects between double quotes; before any
	// other it is one itself.
	escaped = `"\` + "`$"
)

// envReader reads an environment file from one byte on.
type envReader struct {
	text string
	at   int
}

// skip goes to the next assignment, beyond blanks and comments; false at the end.
func (r *envReader) skip() bool {
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case strings.IndexByte(blanks, c) >= 0:
			r.at++
		case c == '#' || c == ';':
			r.to(newlines)
		default:
			return true
		}
	}
	return false
}

// to returns what is before the first of the characters, or the end, and goes there.
func (r *envReader) to(characters string) string {
	rest := r.text[r.at:]
	if i := strings.IndexAny(rest, characters); i >= 0 {
		rest = rest[:i]
	}
	r.at += len(rest)
	return rest
}

// name reads a name and the sign behind it.
func (r *envReader) name() (name string, found bool) {
	name = strings.Trim(r.to("="+newlines), blanks)
	found = r.at < len(r.text) && r.text[r.at] == '='
	r.at++
	return name, found
}

var errOpenQuote = errors.New("a quote is not closed")

// value reads a value: quoted parts, and behind them what is not quoted.
func (r *envReader) value() (string, error) {
	var out strings.Builder
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case strings.IndexByte(newlines, c) >= 0:
			return out.String(), nil
		case strings.IndexByte(blanks, c) >= 0:
			r.at++
		case c == '\'' || c == '"':
			if !r.quoted(&out, c) {
				return "", errOpenQuote
			}
		default:
			r.plain(&out)
			return out.String(), nil
		}
	}
	return out.String(), nil
}

// quoted reads up to the second one of the quote; false when there is none.
func (r *envReader) quoted(out *strings.Builder, quote byte) bool {
	for r.at++; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; {
		case c == quote:
			r.at++
			return true
		case c == '\\' && quote == '"' && r.at+1 < len(r.text):
			r.at++
			switch next := r.text[r.at]; {
			case strings.IndexByte(escaped, next) >= 0:
				out.WriteByte(next)
			case next != '\n':
				out.WriteByte(c)
				out.WriteByte(next)
			}
		default:
			out.WriteByte(c)
		}
	}
	return false
}

// plain reads what is not quoted, to the end of the line. Blanks at its end do not count, unless
// a backslash is before them.
func (r *envReader) plain(out *strings.Builder) {
	text := []byte(out.String())
	kept := len(text)
	for ; r.at < len(r.text) && strings.IndexByte(newlines, r.text[r.at]) < 0; r.at++ {
		c := r.text[r.at]
		protected := c == '\\'
		if protected {
			if r.at++; r.at == len(r.text) {
				break
			}
			if c = r.text[r.at]; strings.IndexByte(newlines, c) >= 0 {
				continue
			}
		}
		if text = append(text, c); protected || strings.IndexByte(blanks, c) < 0 {
			kept = len(text)
		}
	}
	out.Reset()
	out.Write(text[:kept])
}
