package urlcheck_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/ironic/urlcheck"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// stand is an Ironic, and an address of ours.
type stand struct {
	*WithT
	sim     *simulator.Server
	gateway *ironic.Gateway
	url     string
}

func newStand(t *testing.T, o simulator.Options) *stand {
	t.Helper()
	s := &stand{WithT: NewWithT(t), sim: simulator.New(o)}
	t.Cleanup(s.sim.Close)
	var err error
	s.gateway, err = ironic.New(t.Context(), ironic.Config{URL: "http://ironic.test", Transport: s.sim.Transport()})
	s.Expect(err).NotTo(HaveOccurred())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == names.AskedPath {
			w.WriteHeader(http.StatusGone)
		}
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// left puts a node of the check's name into Ironic.
func (s *stand) left(age time.Duration, extra map[string]any) {
	s.Expect(s.sim.Put(simulator.Seed{Fields: map[string]any{
		"uuid": "0e3cbf1c-0a0a-4a0a-8a0a-00000000000a", "name": urlcheck.NodeName, "driver": "redfish", "provision_state": "enroll", "extra": extra,
		"created_at": time.Now().Add(-age).UTC().Format(time.RFC3339),
	}})).To(Succeed())
}

// TestNodesThatWereLeft: one of a check that was killed is replaced; that of a check at work, and that of somebody else, is not.
func TestNodesThatWereLeft(t *testing.T) {
	ours := map[string]any{"ironflow_check": true}
	for name, c := range map[string]struct {
		age   time.Duration
		extra map[string]any
		want  string
	}{
		"killed long ago": {time.Hour, ours, ""},
		"at work":         {time.Second, ours, "another check asks it at the moment"},
		"somebody else's": {time.Hour, nil, "a node of somebody else has the name ironflow_check"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStand(t, simulator.Options{Behave: simulator.FetchMedia})
			s.left(c.age, c.extra)
			answers, err := urlcheck.Ask(t.Context(), s.gateway, time.Now(), []string{s.url + "/"})
			if c.want == "" {
				s.Expect(err).NotTo(HaveOccurred())
				s.Expect(answers).To(ConsistOf(HaveField("Verdict", urlcheck.Reached)))
				s.Expect(s.sim.Nodes()).To(BeEmpty())
				return
			}
			s.Expect(err).To(MatchError(ContainSubstring(c.want)))
			s.Expect(s.sim.Nodes()).To(ConsistOf(HaveField("Name", urlcheck.NodeName)))
		})
	}
}

// TestNoHostHasTheNode: hosts are looked for by their names, also without the namespace.
func TestNoHostHasTheNode(t *testing.T) {
	NewWithT(t).Expect(validation.IsDNS1123Subdomain(urlcheck.NodeName)).NotTo(BeEmpty(), "a BareMetalHost may have this name")
}

// TestNoMachineIsTouched: the node is neither managed nor powered, has a BMC that exists nowhere, and is gone afterwards,
// also when the check is broken off.
func TestNoMachineIsTouched(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var seen []simulator.Operation
	s := newStand(t, simulator.Options{Behave: func(o simulator.Operation) simulator.Outcome {
		seen = append(seen, o)
		cancel()
		return simulator.Outcome{Delay: time.Second}
	}})
	_, err := urlcheck.Ask(ctx, s.gateway, time.Now(), []string{s.url})
	s.Expect(err).To(MatchError(context.Canceled))
	s.Expect(s.sim.Nodes()).To(BeEmpty())
	s.Expect(seen).To(HaveLen(1))
	s.Expect(seen[0]).To(And(HaveField("Name", "media"), HaveField("Node.ProvisionState", "enroll")))
	s.Expect(seen[0].Node.Fields["driver_info"]).To(HaveKeyWithValue("redfish_address", "none://bmc.invalid"))
}

// TestAnIronicThatDoesNotTell what came of an image is neither believed to reach us nor blamed.
func TestAnIronicThatDoesNotTell(t *testing.T) {
	s := newStand(t, simulator.Options{})
	answers, err := urlcheck.Ask(t.Context(), s.gateway, time.Now(), []string{s.url})
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(answers).To(ConsistOf(HaveField("Verdict", urlcheck.Unknown)))
}
