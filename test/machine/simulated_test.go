package machine_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
	"github.com/ironflow/ironflow/test/machine"
	"github.com/ironflow/ironflow/test/machine/bmc"
	"github.com/ironflow/ironflow/test/machine/ipa"
	"github.com/ironflow/ironflow/test/scenario/generate"
)

// TestMachineBehindTheSimulator boots a machine through a simulated BMC, and lets
// it switch itself off.
func TestMachineBehindTheSimulator(t *testing.T) {
	g := NewWithT(t)
	s, l, ironic := generate.Machine(0, generate.Options{Speed: 1000}), labtest.New(t), newIronicDouble(t)
	fleet, err := machine.NewFleet(machine.Options{Dir: t.TempDir(), BinDir: t.TempDir(), Scenarios: []*scenario.Scenario{s}, Pace: fast})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(fleet.Close()).To(Succeed()) })
	user, password := fleet.NotifierCredentials()
	bmcs, err := l.StartRedfish(t.Context(), lab.RedfishOptions{NotifierURL: fleet.NotifierURL(), NotifierUser: user, NotifierPassword: password})
	g.Expect(err).NotTo(HaveOccurred())
	id := fleet.System(s.Name).UUID
	g.Expect(fleet.Plug(t.Context(), bmc.Boards{}.On(bmcs, id))).To(Succeed())

	ask := func(method, path string, body map[string]any) {
		t.Helper()
		raw, err := json.Marshal(body)
		g.Expect(err).NotTo(HaveOccurred())
		r, err := http.NewRequestWithContext(t.Context(), method, bmcs.SystemURL(id)+path, bytes.NewReader(raw))
		g.Expect(err).NotTo(HaveOccurred())
		r.SetBasicAuth(bmcs.User, bmcs.Password)
		answer, err := bmcs.HTTP.Do(r)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(answer.Body.Close()).To(Succeed())
		g.Expect(answer.StatusCode).To(Equal(http.StatusNoContent))
	}
	medium := images(t, map[string]*overlay.Image{"x.iso": liveISO(t, liveConfig(t, ironic.URL, ironic.ca(),
		unit("ironic-agent.service", true, "[Service]\n"), unit("agent.service", false, "[Service]\n")))}) + "/x.iso"
	ask(http.MethodPost, "/VirtualMedia/Cd/Actions/VirtualMedia.InsertMedia", map[string]any{"Image": medium})
	ask(http.MethodPatch, "", map[string]any{"Boot": map[string]any{"BootSourceOverrideTarget": "Cd", "BootSourceOverrideEnabled": "Once"}})
	ask(http.MethodPost, "/Actions/ComputerSystem.Reset", map[string]any{"ResetType": "On"})
	serving, err := fleet.WaitFor(t.Context(), s.Name, func(s machine.Status) bool { return s.Agent == ipa.Serving })
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(serving.State).To(Equal(machine.Live))

	ironic.agent(t)("standby.power_off", map[string]any{}, false)
	g.Eventually(func() string {
		state, _ := bmcs.Simulator.State(id)
		return strings.ToLower(string(state.Power))
	}, patience).Should(Equal("off"), "its BMC knows")
}
