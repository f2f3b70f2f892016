package network

import (
	"errors"
	"fmt"
)

// ErrUnsupported is wrapped by every refusal; its text names the field.
var ErrUnsupported = errors.New("network settings cannot be translated")

// untranslated is what is wrong with a document, or what this translator lacks.
type untranslated struct {
	problems []error
	// left tells that nothing is wrong: nmstate has all of it.
	left bool
}

// Error implements error.
func (u *untranslated) Error() string {
	return fmt.Sprintf("%v: %v", ErrUnsupported, errors.Join(u.problems...))
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
	r.problems = append(r.problems, fmt.Errorf("%s: "+format, append([]any{path}, args...)...))
}

func (r *reader) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	return &untranslated{problems: r.problems, left: !r.wrong}
}
