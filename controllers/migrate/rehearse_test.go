package migrate

import (
	"io"
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// TestReadOnly holds what reaches Ironic, and what is told of the rest.
func TestReadOnly(t *testing.T) {
	for name, tc := range map[string]struct {
		method, path, body string
		passes             bool
		told               string
	}{
		"a look":       {method: "GET", path: "/v1/nodes/a", passes: true},
		"a token":      {method: "POST", path: "/v3/auth/tokens", body: `{"auth":{}}`, passes: true},
		"an enrolment": {method: "POST", path: "/v1/nodes", body: `{"driver_info":{"redfish_password":"hidden"}}`, told: "POST /v1/nodes"},
		"a change": {
			method: "PATCH", path: "/v1/nodes/a", body: `[{"op":"add","path":"/driver_info/redfish_password","value":"hidden"}]`,
			told: "PATCH /v1/nodes/a (add /driver_info/redfish_password)",
		},
		"an action":         {method: "PUT", path: "/v1/nodes/a/states/provision", body: `{"target":"deleted"}`, told: "PUT /v1/nodes/a/states/provision (deleted)"},
		"a removal":         {method: "DELETE", path: "/v1/nodes/a", told: "DELETE /v1/nodes/a"},
		"a body of no kind": {method: "PUT", path: "/v1/nodes/a/maintenance", body: "hidden", told: "PUT /v1/nodes/a/maintenance"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			passed := false
			held := &heldBack{writes: map[string][]string{}}
			held.begin("fleet/a")
			transport := held.readOnly(roundTripper(func(r *http.Request) (*http.Response, error) {
				passed = true
				return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
			}))
			request, err := http.NewRequestWithContext(t.Context(), tc.method, "http://ironic.test"+tc.path, strings.NewReader(tc.body))
			g.Expect(err).NotTo(HaveOccurred())
			answer, err := transport.RoundTrip(request)
			g.Expect(err).NotTo(HaveOccurred())
			_, err = io.Copy(io.Discard, answer.Body)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(answer.Body.Close()).To(Succeed())
			g.Expect(passed).To(Equal(tc.passes))
			if tc.passes {
				g.Expect(held.writes).To(BeEmpty())
				return
			}
			g.Expect(answer.StatusCode).To(Equal(http.StatusForbidden))
			g.Expect(held.writes["fleet/a"]).To(Equal([]string{tc.told}))
		})
	}
}
