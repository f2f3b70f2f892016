package configured

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
)

// TestTheOperatorsIronic finds the one Ironic of baremetal-operator, also where
// Ironflow is going to work with several.
func TestTheOperatorsIronic(t *testing.T) {
	const east, west = "- {name: east, url: 'https://east.example:6385', insecure: true}\n", "- {name: west, url: 'https://west.example'}\n"
	for name, c := range map[string]struct {
		file, endpoint, want, says string
	}{
		"no file":                {endpoint: "https://ironic.example", want: "https://ironic.example"},
		"a file with one":        {file: east, want: "https://east.example:6385"},
		"several, one is named":  {file: east + west, endpoint: "https://west.example/v1/", want: "https://west.example"},
		"several, none is named": {file: east + west, says: "baremetal-operator has one: name its URL with --ironic-endpoint"},
		"another is named":       {file: east + west, endpoint: "https://north.example", says: "lists no Ironic with the URL https://north.example"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := v1alpha1.Ironic{Endpoint: c.endpoint}
			if c.file != "" {
				s.EndpointsFile = filepath.Join(t.TempDir(), "endpoints.yaml")
				g.Expect(os.WriteFile(s.EndpointsFile, []byte(c.file), 0o600)).To(Succeed())
			}
			got, err := Operators(s)
			if c.says != "" {
				g.Expect(err).To(MatchError(ContainSubstring(c.says)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got.URL).To(Equal(c.want))
			g.Expect(got.Insecure).To(Equal(c.file == east), "what the file says of the entry holds")
		})
	}
}
