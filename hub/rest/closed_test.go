package rest_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/rest"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// TestAClosedClusterAnswersByTheCaller: a host that is new to a cluster that is being installed
// may come another time. Agents, which say their version, are told so by 503: those of the
// existing kind would stop for ever at 409, which is what all other clients know for it.
func TestAClosedClusterAnswersByTheCaller(t *testing.T) {
	hub := testhub.Start(t, testhub.Options{IgnitionDir: testhub.RoleFiles(t), Timers: service.Timers{Monitor: 10 * time.Millisecond}})
	p := singleNode(t).checked().play(t, hub)
	p.start(t, hub)
	token, err := hub.AgentToken(t.Context(), p.hosts[0].InfraEnvID)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for name, tc := range map[string]struct {
		member, header string
		want           int
	}{
		"an agent":                    {`,"discovery_agent_version":"registry.example/agent:1"`, "registry.example/agent:1", 503},
		"an agent by its header":      {"", "registry.example/agent:1", 503},
		"an agent by its body":        {`,"discovery_agent_version":"registry.example/agent:1"`, "", 503},
		"another client of the token": {"", "", 409},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			body := `{"host_id":"` + uuid.NewString() + `"` + tc.member + `}`
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, hub.URL+rest.Base+"/v2/infra-envs/"+p.hosts[0].InfraEnvID+"/hosts", strings.NewReader(body))
			g.Expect(err).NotTo(HaveOccurred())
			r.Header = http.Header{"Content-Type": {"application/json"}, wire.HeaderAgentToken: {token}}
			if tc.header != "" {
				r.Header.Set(wire.HeaderAgentVersion, tc.header)
			}
			answer, err := hub.Client().Do(r)
			g.Expect(err).NotTo(HaveOccurred())
			defer answer.Body.Close()
			g.Expect(answer.StatusCode).To(Equal(tc.want))
			var e wire.Error
			g.Expect(decodeJSON(answer.Body, &e)).To(Succeed())
			g.Expect(e.Reason).To(ContainSubstring("takes no new hosts: it is installing"))
			if tc.want == 503 {
				g.Expect(answer.Header.Get("Retry-After")).NotTo(BeEmpty())
			}
		})
	}
}
