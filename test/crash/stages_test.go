package crash

import (
	"slices"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// wish is one thing that the user wants.
func wish(name string, asks times) Wish { return Wish{Name: name, Asks: asks} }

// during is a wish that explains a request in a phase that does not otherwise.
func during(w Wish, what, phase string) Wish {
	w.While = map[string]string{what: phase}
	return w
}

// times counts what a wish entitles the controller to ask for.
type times = map[string]int

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

func annotate(key, value string) func(*metal3.BareMetalHost) {
	return func(h *metal3.BareMetalHost) { metav1.SetMetaDataAnnotation(&h.ObjectMeta, key, value) }
}

// all does several things, one after the other.
func all(things ...func(*life)) func(*life) {
	return func(l *life) {
		for _, do := range things {
			do(l)
		}
	}
}

// hold has the machine not end what it begins from now on in a waiting state of
// its node; empty for none.
func hold(state string) func(*life) {
	return func(l *life) { l.holding.Store(state) }
}

// breakDown has deployments fail from now on, mend the opposite.
func breakDown(l *life) { l.failing.Store(true) }
func mend(l *life)      { l.failing.Store(false) }

// failStep has a step fail with a text, or succeed again without one.
func failStep(step, text string) func(*life) {
	return func(l *life) { l.sim.FailStep(step, text) }
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
func resting(state metal3.ProvisioningState) granted {
	nodes := map[metal3.ProvisioningState][]string{
		metal3.StateAvailable: {"manageable", "available"}, metal3.StateProvisioned: {"active"}, metal3.StateExternallyProvisioned: {"active"},
	}
	return func(_ *life, h *metal3.BareMetalHost, n simulator.Node) bool {
		if h == nil || h.Status.Provisioning.State != state || h.Status.OperationalStatus != metal3.OperationalStatusOK || !h.Status.PoweredOn {
			return false
		}
		if slices.Contains(nodes[state], n.ProvisionState) {
			return n.Reservation == "" && n.PowerState == "power on" && h.Status.Provisioning.ID == n.UUID
		}
		return false
	}
}

func detached(_ *life, h *metal3.BareMetalHost, n simulator.Node) bool {
	return h.Status.OperationalStatus == metal3.OperationalStatusDetached && n.UUID == ""
}

// obeyed is a resting host that has no annotation left which asked for something,
// nor one that says that it is being done.
func obeyed(state metal3.ProvisioningState, key string) granted {
	return func(l *life, h *metal3.BareMetalHost, n simulator.Node) bool {
		_, wanted := h.Annotations[key]
		_, marked := h.Annotations[names.Rebooting]
		return !wanted && !marked && resting(state)(l, h, n)
	}
}

// carriedOut is a resting host on whose machine a step was carried out that often.
func carriedOut(state metal3.ProvisioningState, step string, n int) granted {
	return func(l *life, _ *metal3.BareMetalHost, _ simulator.Node) bool {
		// What was read before the step was counted may be of before it began.
		return l.sim.Steps()[step] == n && resting(state)(l, l.host(), l.node())
	}
}

// serving is a host whose machine runs an image, and was given its config drive.
func serving(url string, drive bool) granted {
	return func(l *life, h *metal3.BareMetalHost, n simulator.Node) bool {
		info, _ := n.Fields["instance_info"].(map[string]any)
		given, _ := info["configdrive"].(map[string]any)
		return resting(metal3.StateProvisioned)(l, h, n) && h.Status.Provisioning.Image.URL == url && (given["user_data"] == userData) == drive
	}
}

// at is a node in a state in which it stays.
func at(state string) granted {
	return func(_ *life, _ *metal3.BareMetalHost, n simulator.Node) bool { return n.ProvisionState == state }
}

// failed is a host that shows an error, and its node.
func failed(kind metal3.ErrorType, state string) granted {
	return func(_ *life, h *metal3.BareMetalHost, n simulator.Node) bool {
		return h.Status.ErrorType == kind && n.ProvisionState == state
	}
}

func gone(_ *life, h *metal3.BareMetalHost, _ simulator.Node) bool { return h == nil }
