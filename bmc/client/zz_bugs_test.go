package client_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/lenient"
)

// TestBugJSONThatIsAlmostOne: iLO 6 1.75 leaves a bare carriage return in a text
// (mrlhansen/idrac_exporter#192).
func TestBugJSONThatIsAlmostOne(t *testing.T) {
	for name, body := range map[string]string{
		"a carriage return in a text": "{\"Id\":\"1\",\"HostName\":\"web\r\n1\",\"Model\":\"X\"}",
		"a tab in a text":             "{\"Id\":\"1\",\"HostName\":\"web\t1\",\"Model\":\"X\"}",
		"a byte order mark":           "\xef\xbb\xbf{\"Id\":\"1\",\"Model\":\"X\"}",
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }))
			defer server.Close()
			c, err := client.New(client.Target{URL: server.URL, Username: "a", Password: "b", Basic: true, TLS: client.Trust{Insecure: true}}, client.Options{Rate: 1000, Burst: 1000})
			g.Expect(err).NotTo(HaveOccurred())
			var into struct{ Model lenient.String }
			g.Expect(c.Get(t.Context(), "/redfish/v1/Systems/1", &into)).To(Succeed())
			g.Expect(into.Model).To(BeEquivalentTo("X"))
		})
	}
}
