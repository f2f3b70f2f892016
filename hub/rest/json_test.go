package rest_test

import "encoding/json"

func jsonInto(raw string, into any) error { return json.Unmarshal([]byte(raw), into) }
