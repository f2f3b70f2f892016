// Package jsonstream decodes lists of a JSON answer object by object, for a program that may not hold all of them at once. A
// list that breaks off is an error: a part of it is not to be taken for the whole. [Stream] is its type.
package jsonstream

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Stream is a decoder of a body of any length, each object of which has a limited size.
type Stream struct {
	*json.Decoder

	limited *io.LimitedReader
	most    int64
}

// New makes a decoder of body, an object of which may have as many bytes as most says.
func New(body io.Reader, most int64) *Stream {
	limited := &io.LimitedReader{R: body, N: most}
	return &Stream{json.NewDecoder(limited), limited, most}
}

// Expect reads a token that has to be there.
func (s *Stream) Expect(want json.Delim) error {
	got, err := s.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err == nil && got != want {
		err = fmt.Errorf("want %v, got %v", want, got)
	}
	return err
}

// Items has each item of a list decoded whose beginning was read, and reads its end.
func (s *Stream) Items(decode func() error) error {
	for s.More() {
		if err := decode(); err != nil {
			return err
		}
		s.limited.N = s.most
	}
	return s.Expect(json.Delim(']')) // after an error there is no more, either
}
