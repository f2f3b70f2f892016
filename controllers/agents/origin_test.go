package agents

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// TestTheAgentSaysWhoseImageItsHostHasBooted, from when it is made, and when the host boots another one.
func TestTheAgentSaysWhoseImageItsHostHasBooted(t *testing.T) {
	w := newWorld(t, service.InfraEnvSpec{})
	w.register(testhub.Inventory(1))
	w.Expect(w.agent().Annotations).To(HaveKeyWithValue(names.ImageOf, names.ImageOfAll))
	w.pass()
	machine := testhub.Inventory(1).Interfaces[0].MACAddress
	token, err := w.hub.MachineToken(t.Context(), w.host.InfraEnvID, machine)
	w.Expect(err).NotTo(HaveOccurred())
	w.hub.Agent(token).Register(t, w.host)
	w.pass()
	w.Expect(w.agent().Annotations).To(HaveKeyWithValue(names.ImageOf, machine))
}

// TestTheAgentOfALostHostIsStillHeard: it goes on with the token of its machine's image, and is told to stop. What it gets for a
// host that it does not speak for ends agents for ever.
func TestTheAgentOfALostHostIsStillHeard(t *testing.T) {
	w := newWorld(t, service.InfraEnvSpec{})
	machine := testhub.Inventory(1).Interfaces[0].MACAddress
	agent := func() *testhub.Caller {
		token, err := w.hub.MachineToken(t.Context(), w.host.InfraEnvID, machine)
		w.Expect(err).NotTo(HaveOccurred())
		return w.hub.Agent(token)
	}
	agent().Register(t, w.host)
	agent().Answer(t, w.host, wire.Step{StepType: wire.StepTypeInventory}, testhub.Inventory(1))
	w.feed.host(t.Context(), w.host)
	<-w.woken
	w.pass()
	w.lose(wire.HostStatusInstallingInProgress, false)
	w.pass()
	_, record := w.view()
	w.Expect(record.Status).To(Equal(wire.HostStatusError))
	steps := agent().Poll(t, w.host)
	w.Expect(steps.Instructions).To(ContainElement(HaveField("StepType", wire.StepTypeStopInstallation)))
}
