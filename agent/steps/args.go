package steps

import (
	"encoding/json"
	"fmt"
)

// maxArg bounds one argument: the connectivity list of a cluster with a few
// thousand hosts is some MiB.
const maxArg = 8 << 20

// Strings checks the number of arguments and their sizes. What a hub sends is
// never trusted: this comes before anything runs.
func Strings(args []string, atLeast, atMost int) error {
	if len(args) < atLeast || len(args) > atMost {
		if atLeast == atMost {
			return fmt.Errorf("got %d arguments, want %d", len(args), atLeast)
		}
		return fmt.Errorf("got %d arguments, want %d to %d", len(args), atLeast, atMost)
	}
	for i, arg := range args {
		if len(arg) > maxArg {
			return fmt.Errorf("argument %d has %d bytes, more than %d", i, len(arg), maxArg)
		}
	}
	return nil
}

// Decode reads the one JSON argument of a step into its model.
func Decode[T any](args []string) (T, error) {
	var model T
	if err := Strings(args, 1, 1); err != nil {
		return model, err
	}
	if err := json.Unmarshal([]byte(args[0]), &model); err != nil {
		return model, fmt.Errorf("the argument cannot be read: %w", err)
	}
	return model, nil
}
