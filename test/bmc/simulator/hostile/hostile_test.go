package hostile_test

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/bmc/simulator/hostile"
)

// TestMistype: no value keeps its type, at any depth.
func TestMistype(t *testing.T) {
	g := NewWithT(t)
	body := map[string]any{
		"text": "abc", "number": 1.5, "whole": 7, "flag": true, "nothing": nil, "list": []string{"a"},
		"object": map[string]any{"text": "abc"}, "objects": []map[string]any{{"flag": false}},
	}
	raw, err := json.Marshal(hostile.Mistype(body))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(raw).To(MatchJSON(`{"text": 3, "number": "1.5", "whole": "7", "flag": "yes", "nothing": [], "list": 7, "object": {"text": 3}, "objects": [{"flag": "no"}]}`))
	g.Expect(body["text"]).To(Equal("abc"), "the resource itself is left alone")
}
