package simulator_test

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// TestANodeIsMadeAgain elsewhere from what it was: busy as it is, with its times, ports and what its machine reports, also by way of a file.
func TestANodeIsMadeAgain(t *testing.T) {
	g := NewWithT(t)
	here, there := simulator.New(simulator.Options{Firmware: []map[string]any{{"component": "bios", "current_version": "1.2.3"}}}), simulator.New(simulator.Options{})
	t.Cleanup(here.Close)
	t.Cleanup(there.Close)
	id := client{t, here}.enrol("fleet~a")
	g.Expect(here.Edit(id, map[string]any{
		"provision_state": "wait call-back", "target_provision_state": "active", "power_state": "power on", "automated_clean": false,
		"driver_info": map[string]any{"redfish_password": "not-a-secret"}, "inspection_finished_at": "2026-01-02T03:04:05.000006Z",
	})).To(BeTrue())
	seed, found := here.Seed("fleet~a")
	g.Expect(found).To(BeTrue())
	raw, err := json.Marshal(seed)
	g.Expect(err).NotTo(HaveOccurred())
	var read simulator.Seed
	g.Expect(json.Unmarshal(raw, &read)).To(Succeed())
	g.Expect(there.Put(read)).To(Succeed())
	again, found := there.Seed(id)
	g.Expect(found).To(BeTrue())
	copied, err := json.Marshal(again)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(copied).To(MatchJSON(raw))
	g.Expect(again.Fields).To(And(HaveKeyWithValue("provision_state", "wait call-back"), HaveKeyWithValue("automated_clean", false)))
	g.Expect(string(copied)).To(ContainSubstring("not-a-secret"), "as Ironic stores it, not as it shows it")
	_, found = there.Seed("nobody")
	g.Expect(found).To(BeFalse())
}
