package coreos

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/ignitioncheck"
)

// The master config that the node rendered itself, and the host's own on top,
// without the pointer to a server that nobody runs.
func TestConfigsOfASingleNodeAreMerged(t *testing.T) {
	g := NewWithT(t)
	base := `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/etc/a"}]}}`
	own := `{"ignition":{"version":"3.4.0","config":{"merge":[{"source":"https://192.0.2.1:22623/config/master"}]},` +
		`"security":{"tls":{"certificateAuthorities":[{"source":"data:,x"}]}}},"storage":{"files":[{"path":"/etc/hostname","contents":{"source":"data:,a"}}]}}`
	raw, err := merge([]byte(base), []byte(own))
	g.Expect(err).NotTo(HaveOccurred())
	ignitioncheck.Valid(t, raw)
	var out merged
	g.Expect(json.Unmarshal(raw, &out)).To(Succeed())
	g.Expect(out.Ignition.Config.Merge).To(HaveLen(2))
	var parts []string
	for _, part := range out.Ignition.Config.Merge {
		text, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(part.Source, "data:;base64,"))
		g.Expect(err).NotTo(HaveOccurred())
		parts = append(parts, string(text))
	}
	g.Expect(parts[0]).To(MatchJSON(base))
	g.Expect(parts[1]).To(MatchJSON(`{"ignition":{"version":"3.4.0"},"storage":{"files":[{"path":"/etc/hostname","contents":{"source":"data:,a"}}]}}`))
}

func TestConfigsThatCannotBeMerged(t *testing.T) {
	good := `{"ignition":{"version":"3.2.0"}}`
	for name, tc := range map[string]struct{ base, own, want string }{
		"the rendered one is none":  {"{}", good, "no ignition.version"},
		"the host's is no JSON":     {good, "x", "is not JSON"},
		"the host's has no section": {good, "{}", "no ignition section"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := merge([]byte(tc.base), []byte(tc.own))
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}
