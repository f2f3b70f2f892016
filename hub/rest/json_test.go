package rest_test

import (
	"encoding/json"
	"io"
)

func jsonInto(raw string, into any) error { return json.Unmarshal([]byte(raw), into) }

func decodeJSON(from io.Reader, into any) error { return json.NewDecoder(from).Decode(into) }
