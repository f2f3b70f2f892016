package rest_test

import (
	"encoding/json"
	"io"
	"testing"

	. "github.com/onsi/gomega"
)

func jsonInto(raw string, into any) error { return json.Unmarshal([]byte(raw), into) }

func decodeJSON(from io.Reader, into any) error { return json.NewDecoder(from).Decode(into) }

// jsonText is a body.
func jsonText(t *testing.T, of any) string {
	t.Helper()
	raw, err := json.Marshal(of)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return string(raw)
}
