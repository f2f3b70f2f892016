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

// installedInWorld is an installed, detached host that has its boot MAC address.
func installedInWorld(change ...func(*metal3v1.BareMetalHost)) *metal3v1.BareMetalHost {
	return installedHost(append([]func(*metal3v1.BareMetalHost){withMAC}, change...)...)
}

// TestAMachineThatIsNotTheHostGivesNothingBack: the Agent of an installed host is gone, and another machine of its InfraEnv
// says that it has the boot MAC address. It was never linked to the host: that it is taken out of its cluster says nothing
// of the machine that runs.
func TestAMachineThatIsNotTheHostGivesNothingBack(t *testing.T) {
	for name, state := range map[string]func(*agentv1.Agent){
		"taken out of its cluster at once":                       func(a *agentv1.Agent) { unbound(a); delete(a.Labels, names.AgentHostLabel) },
		"taken out of its cluster after it was in the discovery": inHub(wire.HostStatusKnownUnbound),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, installedInWorld(), registered("stranger", time.Now(), state))
			w.pass()
			if a := w.agent("stranger"); a.Status.DebugInfo.State == wire.HostStatusKnownUnbound {
				was := a.Labels
				unbound(a)
				status := a.Status.DeepCopy()
				a.Labels = was
				a.Status = *status
				w.Expect(w.kube.Status().Update(t.Context(), a)).To(Succeed())
			}
			for range 3 {
				w.pass()
			}
			w.Expect(w.host().Spec.CustomDeploy).NotTo(BeNil(), "this has the machine wiped that runs")
			w.Expect(w.host().Annotations).NotTo(HaveKey(names.GivingBack))
		})
	}
}

// TestAnInstalledHostApprovesNoNewAgent: whoever registers under the boot MAC address of a host whose deployment has ended is
// another machine, or was booted by hand. Nobody has asked for it to be installed.
func TestAnInstalledHostApprovesNoNewAgent(t *testing.T) {
	for state, linked := range map[string]bool{
		wire.HostStatusDiscoveringUnbound:   false,
		wire.HostStatusKnownUnbound:         false,
		wire.HostStatusKnown:                false,
		wire.HostStatusInstallingInProgress: true, // its installation was not seen to begin, because the host was on hold
		wire.HostStatusInstalled:            true,
	} {
		t.Run(state, func(t *testing.T) {
			w := newWorld(t, installedInWorld(annotated(names.BMACCluster, "site/prod")), registered("ours", time.Now(), inHub(state)))
			w.pass()
			a := w.agent("ours")
			w.Expect(a.Spec.Approved).To(Equal(linked))
			w.Expect(a.Spec.ClusterDeploymentName != nil).To(Equal(linked))
			w.Expect(a.Labels[names.AgentHostLabel] != "").To(Equal(linked))
			if !linked {
				w.Expect(w.linkedSays()).To(And(HaveField("Status", metav1.ConditionFalse), HaveField("Reason", link.EventAgentInDoubt),
					HaveField("Message", And(ContainSubstring("Agent ours"), ContainSubstring("Next: ")))))
			}
		})
	}
}

// TestAnAgentFromBeforeIsNoWishToStopADeployment: a machine that waits to be booted from its live image, because it was taken out
// of its cluster, is deployed to do just that. It, or what is left of it, asks for nothing while that is under way.
func TestAnAgentFromBeforeIsNoWishToStopADeployment(t *testing.T) {
	going := func(a *agentv1.Agent) {
		now := metav1.Now()
		a.DeletionTimestamp, a.Finalizers = &now, []string{names.AgentFinalizer}
	}
	for name, c := range map[string]struct {
		host  *metal3v1.BareMetalHost
		agent []func(*agentv1.Agent)
	}{
		"its host was made for it":                    {host(metal3v1.StateProvisioning, asked, withMAC), []func(*agentv1.Agent){unbound}},
		"it was not deleted yet":                      {host(metal3v1.StateProvisioning, asked, withMAC), []func(*agentv1.Agent){unbound, going}},
		"it is being deleted since, and all is ready": {installedInWorld(), []func(*agentv1.Agent){unbound, going}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.host, registered("before", time.Now(), c.agent...))
			for range 3 {
				w.pass()
			}
			w.Expect(w.host().Spec.CustomDeploy).NotTo(BeNil(), "the deployment is called off, and begun again")
		})
	}
}

// TestAnAgentIsApprovedOnceItsDiskIsKnown: approval may start the installation. Before the machine has told its disks, the hub
// would choose one that the hints of the host do not mean.
func TestAnAgentIsApprovedOnceItsDiskIsKnown(t *testing.T) {
	hinted := func(h *metal3v1.BareMetalHost) {
		h.Spec.RootDeviceHints = &metal3v1.RootDeviceHints{SerialNumber: "S2"}
	}
	w := newWorld(t, host(metal3v1.StateProvisioning, asked, withMAC, hinted), registered("ours", time.Now()))
	w.pass()
	w.Expect(w.agent("ours").Spec.Approved).To(BeFalse())
	w.Expect(w.linkedSays()).To(And(HaveField("Reason", link.ReasonWaitingForAgent), HaveField("Message", ContainSubstring("disks"))))

	a := w.agent("ours")
	a.Status.Inventory.Disks = []agentv1.HostDisk{{ID: "big", Serial: "S2", InstallationEligibility: agentv1.HostInstallationEligibility{Eligible: true}}}
	w.Expect(w.kube.Status().Update(t.Context(), a)).To(Succeed())
	w.pass()
	w.Expect(w.agent("ours").Spec).To(And(HaveField("Approved", true), HaveField("InstallationDiskID", "big")))
	w.Expect(w.linkedSays().Reason).To(Equal(link.ReasonLinked))

	a = w.agent("ours")
	a.Status.Inventory.Disks = nil // it registers anew
	w.Expect(w.kube.Status().Update(t.Context(), a)).To(Succeed())
	w.pass()
	w.Expect(w.agent("ours").Spec).To(And(HaveField("Approved", true), HaveField("InstallationDiskID", "big")), "what was approved stays so")
}
