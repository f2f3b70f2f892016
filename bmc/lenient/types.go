package lenient

import (
	"encoding/json"
	"errors"
)

// OnlyTypes reports whether an error of encoding/json is about a value's type. Then
// all other values were read.
func OnlyTypes(err error) bool {
	_, is := errors.AsType[*json.UnmarshalTypeError](err)
	return is
}
