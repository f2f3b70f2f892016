package pointer_test

import (
	"encoding/base64"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/sources/pointer"
)

// TestRead: where the file of a role points, as an installation of a release has made it.
func TestRead(t *testing.T) {
	encoded := base64.StdEncoding.EncodeToString([]byte(authority))
	const merge = `"config":{"merge":[{"source":"https://api-int.edge.example:22623/config/worker"}]}`
	trusts := func(source string) string {
		return `"security":{"tls":{"certificateAuthorities":[{"source":"` + source + `"}]}}`
	}
	for name, tc := range map[string]struct {
		config string
		want   *sources.Endpoint
	}{
		"with its authority": {
			`{"ignition":{` + merge + `,` + trusts("data:text/plain;charset=utf-8;base64,"+encoded) + `,"version":"3.2.0"}}`,
			&sources.Endpoint{URL: "https://api-int.edge.example:22623/config/worker", CA: encoded},
		},
		"without one":           {`{"ignition":{` + merge + `,"version":"3.2.0"}}`, &sources.Endpoint{URL: "https://api-int.edge.example:22623/config/worker"}},
		"an authority to fetch": {`{"ignition":{` + merge + `,` + trusts("https://elsewhere.example/ca.crt") + `,"version":"3.2.0"}}`, nil},
		"no certificate":        {`{"ignition":{` + merge + `,` + trusts("data:,nothing") + `,"version":"3.2.0"}}`, nil},
		"nowhere":               {`{"ignition":{"version":"3.2.0"}}`, nil},
		"to two":                {`{"ignition":{"config":{"merge":[{"source":"https://a/x"},{"source":"https://b/x"}]},"version":"3.2.0"}}`, nil},
		"to a text":             {`{"ignition":{"config":{"merge":[{"source":"data:,{}"}]},"version":"3.2.0"}}`, nil},
		"no Ignition":           {"-", nil},
		"empty":                 {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(pointer.Read([]byte(tc.config))).To(Equal(tc.want))
		})
	}
}
