package events

import (
	"errors"
	"strings"
)

// hide takes the keys out of a text: BMCs repeat a destination in what they say
// against it, and that ends up in conditions and logs.
func (w *Wanted) hide(text string) string {
	for _, key := range append([]Key{w.Key}, w.Former...) {
		for _, secret := range []string{key.Part, key.Context} {
			if secret != "" {
				text = strings.ReplaceAll(text, secret, redacted)
			}
		}
	}
	return text
}

// conceal hides the keys in the text of an error; what it is stays known.
func (w *Wanted) conceal(err error) error {
	if err == nil {
		return nil
	}
	if text := w.hide(err.Error()); text != err.Error() {
		return &concealed{text: text, cause: err}
	}
	return err
}

// concealed is an error with another text.
type concealed struct {
	text  string
	cause error
}

// Error implements error.
func (c *concealed) Error() string { return c.text }

// Is and As reach the cause, whose text nobody else is to see.
func (c *concealed) Is(target error) bool { return errors.Is(c.cause, target) }

// As implements the interface of errors.As.
func (c *concealed) As(target any) bool { return errors.As(c.cause, target) }
