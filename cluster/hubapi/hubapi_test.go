package hubapi_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/cluster/hubapi"
)

// TestHostsThatBreakOff: a hub that ends, or cannot read on, while it sends the hosts breaks the connection off. What has
// come by then is not all of the cluster: the others would be strangers whose signing requests nobody approves, or would
// not be waited for at the end.
func TestHostsThatBreakOff(t *testing.T) {
	const host = `{"id":"22222222-2222-4222-8222-00000000000N","requested_hostname":"master-N"}`
	first, second := strings.ReplaceAll(host, "N", "1"), strings.ReplaceAll(host, "N", "2")
	for name, tc := range map[string]struct {
		sent  string
		whole bool
		hosts int
	}{
		"all of them":              {"[" + first + "," + second + "]\n", true, 2},
		"none":                     {"[]\n", true, 0},
		"after the first":          {"[" + first, false, 0},
		"after the comma":          {"[" + first + ",", false, 0},
		"within the second":        {"[" + first + "," + second[:20], false, 0},
		"before the first":         {"[", false, 0},
		"before anything":          {"", false, 0},
		"one that is not the list": {`{"hosts":[]}`, true, -1},
		"no end, and no break":     {"[" + first, true, -1},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, tc.sent)
				if !tc.whole {
					_ = http.NewResponseController(w).Flush() // what is sent arrives
					panic(http.ErrAbortHandler)
				}
			}))
			defer hub.Close()
			client, err := hubapi.New(hubapi.Options{URL: hub.URL, ClusterID: "33333333-3333-4333-8333-333333333333"})
			g.Expect(err).NotTo(HaveOccurred())
			defer client.Close()
			hosts, err := client.Hosts(t.Context())
			if !tc.whole || tc.hosts < 0 {
				g.Expect(err).To(HaveOccurred(), "%v", hosts)
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(hosts).To(HaveLen(tc.hosts))
		})
	}
}
