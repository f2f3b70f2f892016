package link_test

import (
	"testing"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/link"
	"github.com/ironflow/ironflow/hub/wire"
)

// imageOf says whose live image the Agent's host has registered from.
func imageOf(machine string) func(*agentv1.Agent) {
	return func(a *agentv1.Agent) { metav1.SetMetaDataAnnotation(&a.ObjectMeta, names.ImageOf, machine) }
}

const (
	ownImage     = "02:00:00:00:00:01"
	anotherImage = "02:00:00:00:00:77"
	// unnamedImage is what the host's image is named by as long as the host has no boot MAC address.
	unnamedImage = "site/node-0"
)

// TestAMachineOfAnotherImageIsNotTheHost, whatever addresses it says that it has: it would get the host's name, role, cluster
// and Ignition, and be installed in its place.
func TestAMachineOfAnotherImageIsNotTheHost(t *testing.T) {
	for name, tc := range map[string]struct {
		agents map[string]string // the image of each
		linked string
		reason string
	}{
		"its own":                                {map[string]string{"ours": ownImage}, "ours", link.ReasonLinked},
		"its own, from before it had an address": {map[string]string{"ours": unnamedImage}, "ours", link.ReasonLinked},
		"that of all hosts, and its own from before it had an address": {map[string]string{"ours": unnamedImage, "stranger": names.ImageOfAll}, "ours", link.ReasonLinked},
		"that of a neighbour without an address":                       {map[string]string{"stranger": "site/node-7"}, "", link.ReasonWaitingForAgent},
		"a hub that checks no tokens":                                  {map[string]string{"ours": ""}, "ours", link.ReasonLinked},
		"that of another machine":                                      {map[string]string{"stranger": anotherImage}, "", link.ReasonWaitingForAgent},
		"that of all hosts":                                            {map[string]string{"stranger": names.ImageOfAll}, "", link.EventAgentInDoubt},
		"its own, and that of another machine":                         {map[string]string{"ours": ownImage, "stranger": anotherImage}, "ours", link.ReasonLinked},
		"its own, and that of all hosts":                               {map[string]string{"ours": ownImage, "stranger": names.ImageOfAll}, "ours", link.ReasonLinked},
		"those of others":                                              {map[string]string{"stranger": anotherImage, "another": names.ImageOfAll}, "", link.EventAgentInDoubt},
		"its own, twice":                                               {map[string]string{"ours": ownImage, "twin": ownImage}, "", link.EventAgentInDoubt},
		"that of all hosts, from several hosts":                        {map[string]string{"one": names.ImageOfAll, "two": names.ImageOfAll}, "", link.EventAgentInDoubt},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, host(metal3v1.StateProvisioning, asked, annotated(names.BMACRole, "master"), annotated(names.BMACIgnitionOverrides, `{"secret":"of the host"}`)))
			for agent, image := range tc.agents {
				a := registered(agent, time.Now())
				if image != "" {
					imageOf(image)(a)
				}
				w.Expect(w.kube.Create(t.Context(), a)).To(Succeed())
				w.Expect(w.kube.Status().Update(t.Context(), a)).To(Succeed())
			}
			w.pass()
			for agent := range tc.agents {
				a := w.agent(agent)
				ours := agent == tc.linked
				w.Expect(a.Spec.Approved).To(Equal(ours), agent)
				w.Expect(a.Spec.IgnitionConfigOverrides != "").To(Equal(ours), agent)
				w.Expect(a.Labels[names.AgentHostLabel] != "").To(Equal(ours), agent)
			}
			w.Expect(w.linkedSays().Reason).To(Equal(tc.reason), w.linkedSays().Message)
		})
	}
}

// TestAnAgentThatWasLinkedStaysSo: what it registered from was not known then.
func TestAnAgentThatWasLinkedStaysSo(t *testing.T) {
	a := registered("ours", time.Now(), linked, imageOf(names.ImageOfAll))
	w := newWorld(t, host(metal3v1.StateProvisioning, asked, annotated(names.BMACRole, "master")), a)
	w.pass()
	w.Expect(w.agent("ours").Spec.Role).To(Equal("master"))
	w.Expect(w.linkedSays().Reason).To(Equal(link.ReasonLinked))
}

// TestAMachineThatIsNotTheHostKeepsItsAgent while the host's own is cleaned: deleted, it would be taken out of the hub, along with
// its cluster where that is its own.
func TestAMachineThatIsNotTheHostKeepsItsAgent(t *testing.T) {
	for image, keeps := range map[string]bool{"": false, ownImage: false, names.ImageOfAll: true} {
		t.Run(image, func(t *testing.T) {
			a := registered("other", time.Now(), imageOf(image), inHub(wire.HostStatusInstalled))
			w := newWorld(t, host(metal3v1.StateDeprovisioning, asked), a)
			w.pass()
			w.Expect(w.agent("other") != nil).To(Equal(keeps))
		})
	}
}
