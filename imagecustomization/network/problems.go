package network

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// ErrUnsupported is wrapped by every refusal; its text names the field.
var ErrUnsupported = errors.New("network settings cannot be translated")

// Limits of what an error says: it becomes the message of a condition, for a person. A
// problem is cut after as many bytes.
const maxProblems, maxProblem = 20, 400

// untranslated is what is wrong with a document, or what this translator lacks.
type untranslated struct {
	problems []error
	// left tells that nothing is wrong: nmstate has all of it.
	left bool
}

// Error implements error.
func (u *untranslated) Error() string {
	text := fmt.Sprintf("%v: %v", ErrUnsupported, errors.Join(u.problems[:min(len(u.problems), maxProblems)]...))
	if more := len(u.problems) - maxProblems; more > 0 {
		text += fmt.Sprintf("\nand %d more", more)
	}
	return text
}

// Unwrap implements the errors package's tree.
func (u *untranslated) Unwrap() []error { return append([]error{ErrUnsupported}, u.problems...) }

// LeftToNmstatectl tells whether nothing is wrong with a document that could not be
// translated: all that it holds is nmstate's, so that nmstatectl may take it. A
// document with a mistake would fail there as well, only later.
func LeftToNmstatectl(err error) bool {
	u, ok := errors.AsType[*untranslated](err)
	return ok && u.left
}

// reader collects what is wrong while a document is read.
type reader struct {
	problems []error
	wrong    bool
}

// refuse notes a mistake.
func (r *reader) refuse(path, format string, args ...any) {
	r.wrong = true
	r.leave(path, format, args...)
}

// leave notes what nmstate has and this translator lacks.
func (r *reader) leave(path, format string, args ...any) {
	// Members of a document are part of it, and a message may reach a terminal.
	text := strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\n' {
			return unicode.ReplacementChar
		}
		return c
	}, fmt.Sprintf("%s: "+format, append([]any{path}, args...)...))
	if len(text) > maxProblem {
		text = strings.ToValidUTF8(text[:maxProblem], "") + "..."
	}
	r.problems = append(r.problems, errors.New(text))
}

func (r *reader) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	return &untranslated{problems: r.problems, left: !r.wrong}
}
