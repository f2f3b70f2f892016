package crash

import (
	"slices"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/ironic/simulator"
)

// times counts what a wish entitles the controller to ask for.
type times = map[string]int

// kind is one way through all phases.
type kind struct {
	name   string
	stages []stage
	phases []string
}

// kinds are the lives that hosts are taken through: together every phase, and
// each direction between them.
var kinds = []kind{
	{
		name: "assisted",
		stages: []stage{
			{Wish{"register", times{AskEnrol: 1, "manage": 1, "inspect": 1, "power on": 1}}, create(nil), resting(metal3.StateAvailable)},
			{Wish{"provision", times{"provide": 1, "active": 1}}, edit(install), resting(metal3.StateProvisioned)},
			{Wish{"reboot", times{"soft power off": 1, "power on": 1}}, edit(annotate(names.Reboot)), rebooted},
			{Wish{"detach", times{AskRemove: 1}}, edit(annotate(names.Detached)), detached},
			{Wish{"attach", times{AskEnrol: 1, "manage": 1, "adopt": 1, "power on": 1}}, edit(attach), resting(metal3.StateProvisioned)},
			{Wish{"deprovision", times{"deleted": 1, "power on": 1}}, edit(uninstall), resting(metal3.StateAvailable)},
			{Wish{"provision again", times{"active": 1}}, edit(install), resting(metal3.StateProvisioned)},
			{Wish{"deprovision again", times{"deleted": 1, "power on": 1}}, edit(uninstall), resting(metal3.StateAvailable)},
			{Wish{"detach when available", times{AskRemove: 1}}, edit(annotate(names.Detached)), detached},
			{Wish{"attach when available", times{AskEnrol: 1, "manage": 1, "power on": 1}}, edit(attach), resting(metal3.StateAvailable)},
			{Wish{"inspect again", times{"inspect": 1}}, edit(annotate(names.Inspect)), inspectedAgain},
			{Wish{"delete", times{"power off": 1, AskRemove: 1}}, remove, gone},
		},
		phases: []string{
			"registering", "inspecting", "(preparing)", "available", "provisioning", "provisioned", "deprovisioning", "available",
			"provisioning", "provisioned", "deprovisioning", "available", "inspecting", "(preparing)", "available",
			"(powering off before delete)", "deleting",
		},
	},
	{
		name: "externally provisioned",
		stages: []stage{
			{Wish{"register", times{AskEnrol: 1, "manage": 1, "adopt": 1, "power on": 1}}, create(external), resting(metal3.StateExternallyProvisioned)},
			{Wish{"take over", times{"deleted": 1, "power on": 1}}, edit(takeOver), resting(metal3.StateAvailable)},
			{Wish{"give back", times{"manage": 1, "adopt": 1}}, edit(external), resting(metal3.StateExternallyProvisioned)},
			{Wish{"delete", times{"power off": 1, AskRemove: 1}}, remove, gone},
		},
		phases: []string{
			"registering", "externally provisioned", "(provisioned)", "deprovisioning", "available", "externally provisioned",
			"(powering off before delete)", "deleting",
		},
	},
	{
		name: "deleted while provisioned",
		stages: []stage{
			{Wish{"provision", times{AskEnrol: 1, "manage": 1, "provide": 1, "active": 1}}, create(uninspected), resting(metal3.StateProvisioned)},
			{Wish{"delete", times{"deleted": 1, AskRemove: 1}}, remove, gone},
		},
		phases: []string{
			"registering", "(preparing)", "(available)", "provisioning", "provisioned", "deprovisioning", "(powering off before delete)", "deleting",
		},
	},
}

func install(h *metal3.BareMetalHost) {
	h.Spec.CustomDeploy = &metal3.CustomDeploy{Method: names.StartAssistedInstall}
}

func uninstall(h *metal3.BareMetalHost) { h.Spec.CustomDeploy = nil }

func external(h *metal3.BareMetalHost) { h.Spec.ExternallyProvisioned = true }

func takeOver(h *metal3.BareMetalHost) { h.Spec.ExternallyProvisioned = false }

func attach(h *metal3.BareMetalHost) { delete(h.Annotations, names.Detached) }

func uninspected(h *metal3.BareMetalHost) {
	h.Spec.InspectionMode = metal3.InspectionModeDisabled
	install(h)
}

func annotate(key string) func(*metal3.BareMetalHost) {
	return func(h *metal3.BareMetalHost) { metav1.SetMetaDataAnnotation(&h.ObjectMeta, key, "") }
}

// create makes the host and its Secret.
func create(change func(*metal3.BareMetalHost)) func(*life) {
	return func(l *life) {
		g := NewWithT(l.t)
		key := metav1.ObjectMeta{Namespace: l.namespace, Name: hostName}
		g.Expect(l.kube.Create(l.t.Context(), &corev1.Secret{
			ObjectMeta: key, StringData: map[string]string{"username": "admin", "password": "hunter2hunter2"},
		})).To(Succeed())
		h := &metal3.BareMetalHost{ObjectMeta: key, Spec: metal3.BareMetalHostSpec{
			Online: true, BootMACAddress: "52:54:00:00:00:01",
			BMC: metal3.BMCDetails{Address: "redfish-virtualmedia://bmc.test/redfish/v1/Systems/1", CredentialsName: hostName},
		}}
		if change != nil {
			change(h)
		}
		g.Expect(l.kube.Create(l.t.Context(), h)).To(Succeed())
	}
}

// edit changes the host as a user would.
func edit(change func(*metal3.BareMetalHost)) func(*life) {
	return func(l *life) {
		h := l.host()
		before := h.DeepCopy()
		change(h)
		NewWithT(l.t).Expect(l.kube.Patch(l.t.Context(), h, client.MergeFrom(before))).To(Succeed())
	}
}

func remove(l *life) {
	NewWithT(l.t).Expect(l.kube.Delete(l.t.Context(), l.host())).To(Succeed())
}

// resting is a host in a steady phase whose node and power are as wanted, and
// nothing under way.
func resting(state metal3.ProvisioningState) func(*metal3.BareMetalHost, simulator.Node) bool {
	nodes := map[metal3.ProvisioningState][]string{
		metal3.StateAvailable: {"manageable", "available"}, metal3.StateProvisioned: {"active"}, metal3.StateExternallyProvisioned: {"active"},
	}
	return func(h *metal3.BareMetalHost, n simulator.Node) bool {
		if h == nil || h.Status.Provisioning.State != state || h.Status.OperationalStatus != metal3.OperationalStatusOK || !h.Status.PoweredOn {
			return false
		}
		if slices.Contains(nodes[state], n.ProvisionState) {
			return n.Reservation == "" && n.PowerState == "power on" && h.Status.Provisioning.ID == n.UUID
		}
		return false
	}
}

func detached(h *metal3.BareMetalHost, n simulator.Node) bool {
	return h.Status.OperationalStatus == metal3.OperationalStatusDetached && n.UUID == ""
}

func rebooted(h *metal3.BareMetalHost, n simulator.Node) bool {
	_, wanted := h.Annotations[names.Reboot]
	return !wanted && resting(metal3.StateProvisioned)(h, n)
}

func inspectedAgain(h *metal3.BareMetalHost, n simulator.Node) bool {
	_, wanted := h.Annotations[names.Inspect]
	return !wanted && resting(metal3.StateAvailable)(h, n)
}

func gone(h *metal3.BareMetalHost, _ simulator.Node) bool { return h == nil }
