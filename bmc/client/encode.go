package client

import (
	"bytes"
	"encoding/json"
	"errors"
)

// errRedactedBody is a body that holds a Secret, which encodes as a fixed text.
var errRedactedBody = errors.New("the body holds a Secret, which is never written out: give string(secret)")

// encode makes a request's body: JSON as it is, or a value's.
func encode(body any) ([]byte, error) {
	switch b := body.(type) {
	case json.RawMessage:
		return b, nil
	case []byte:
		return b, nil
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false) // less for a BMC's parser to get wrong
	if err := encoder.Encode(body); err != nil {
		return nil, err
	}
	raw := bytes.TrimSpace(out.Bytes())
	if bytes.Contains(raw, []byte(`"`+redacted+`"`)) {
		return nil, errRedactedBody
	}
	return raw, nil
}
