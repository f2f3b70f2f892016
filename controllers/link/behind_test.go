package link_test

import (
	"testing"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/link"
)

// TestWhatAHostSaysComesBeforeTheApproval: an Agent that was approved from its first moment waits for what its BareMetalHost
// says of it, and for nothing else.
func TestWhatAHostSaysComesBeforeTheApproval(t *testing.T) {
	onItsWay := func(change ...func(*metal3v1.BareMetalHost)) *metal3v1.BareMetalHost {
		h := host(metal3v1.StateProvisioning, asked)
		h.Spec.RootDeviceHints = &metal3v1.RootDeviceHints{SerialNumber: "two"}
		for _, c := range change {
			c(h)
		}
		return h
	}
	approved := func(a *agentv1.Agent) { a.Spec.Approved = true }
	disks := func(a *agentv1.Agent) {
		eligible := agentv1.HostInstallationEligibility{Eligible: true}
		a.Status.Inventory.Disks = []agentv1.HostDisk{
			{ID: "one", Serial: "one", InstallationEligibility: eligible}, {ID: "two", Serial: "two", InstallationEligibility: eligible},
		}
	}
	silent := func(a *agentv1.Agent) { a.Status.Inventory = agentv1.HostInventory{} }
	for name, tc := range map[string]struct {
		host  *metal3v1.BareMetalHost
		agent []func(*agentv1.Agent)
		waits bool
	}{
		"for the disk of its hints":                      {onItsWay(), []func(*agentv1.Agent){approved, disks}, true},
		"for the inventory, which the hints are about":   {onItsWay(), []func(*agentv1.Agent){approved, silent}, true},
		"for the name of an annotation":                  {host(metal3v1.StateProvisioning, asked, annotated(names.BMACHostname, "edge-1")), []func(*agentv1.Agent){approved}, true},
		"not for a host of another InfraEnv":             {onItsWay(func(h *metal3v1.BareMetalHost) { h.Labels[names.InfraEnvLabel] = "other" }), []func(*agentv1.Agent){approved, disks}, false},
		"not for a host that was not started":            {host(metal3v1.StateAvailable), []func(*agentv1.Agent){approved, disks}, false},
		"not for the host of another machine":            {onItsWay(func(h *metal3v1.BareMetalHost) { h.Spec.BootMACAddress = "02:00:00:00:00:09" }), []func(*agentv1.Agent){approved, disks}, false},
		"a silent Agent that another host has, for none": {onItsWay(), []func(*agentv1.Agent){approved, silent, func(a *agentv1.Agent) { a.Labels[names.AgentHostLabel] = "node-9" }}, false},
	} {
		t.Run(name, func(t *testing.T) {
			agent := registered(machineID, time.Now())
			for _, change := range tc.agent {
				change(agent)
			}
			w := newWorld(t, tc.host, agent)
			waitsFor, err := link.Behind(w.kube)(t.Context(), agent)
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(waitsFor != "").To(Equal(tc.waits), waitsFor)
		})
	}
	t.Run("until the host's settings are there", func(t *testing.T) {
		agent := registered(machineID, time.Now(), approved, disks)
		w := newWorld(t, onItsWay(), agent, image("True", agentv1.ReasonInfraEnvAvailable))
		w.pass()
		w.Expect(w.kube.Get(t.Context(), client.ObjectKeyFromObject(agent), agent)).To(Succeed())
		w.Expect(agent.Spec.InstallationDiskID).To(Equal("two"))
		w.Expect(link.Behind(w.kube)(t.Context(), agent)).To(BeEmpty())
	})
}
