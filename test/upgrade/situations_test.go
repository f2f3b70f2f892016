package upgrade_test

import (
	"fmt"
	"strings"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// situation is a host that a release is stopped with.
type situation struct {
	name string
	// state is the one of the host.
	state metal3.ProvisioningState
	// spec edits the host before it is made.
	spec func(*metal3.BareMetalHost)
	// more are other objects of the host, of its name.
	more []client.Object
	// hold and fail are operations of its node from the start that never end, or fail.
	hold, fail string
	// available are steps once the host is available, in order.
	available []step
	// reached tells besides that the host is where it shall be; nil: its state tells.
	reached func(*metal3.BareMetalHost, simulator.Node) bool
}

// step is what a user does, and what is waited for then.
type step struct {
	// hold and fail are as in the situation, from now on.
	hold, fail string
	// do is the user's doing.
	do func(w *world, name string)
	// until is the state that follows; empty for no wait.
	until metal3.ProvisioningState
}

var image = &metal3.Image{
	URL: "http://192.0.2.250/images/os.qcow2", Checksum: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
	ChecksumType: metal3.SHA256, DiskFormat: new("qcow2"),
}

// edited is a user's change of a host.
func edited(change func(*metal3.BareMetalHost)) func(*world, string) {
	return func(w *world, name string) { w.edit(name, change) }
}

func withImage(h *metal3.BareMetalHost)   { h.Spec.Image = image.DeepCopy() }
func withNothing(h *metal3.BareMetalHost) { h.Spec.Image = nil }
func withLiveISO(h *metal3.BareMetalHost) {
	h.Spec.Image = &metal3.Image{URL: "http://192.0.2.250/images/live.iso", DiskFormat: new("live-iso")}
}

func withCoreOS(h *metal3.BareMetalHost) {
	h.Spec.CustomDeploy = &metal3.CustomDeploy{Method: names.InstallCoreOS}
}

func withVolumes(h *metal3.BareMetalHost) {
	h.Spec.RAID = &metal3.RAIDConfig{HardwareRAIDVolumes: []metal3.HardwareRAIDVolume{{Level: "1", Name: "root"}}}
}

// ofDell is a BMC whose driver has interfaces for BIOS settings and firmware by default.
func ofDell(h *metal3.BareMetalHost) {
	h.Spec.BMC.Address = strings.Replace(h.Spec.BMC.Address, "redfish-virtualmedia", "idrac-virtualmedia", 1)
}

func annotated(key, value string) func(*metal3.BareMetalHost) {
	return func(h *metal3.BareMetalHost) { metav1.SetMetaDataAnnotation(&h.ObjectMeta, key, value) }
}

func deleted(w *world, name string) {
	w.Expect(w.kube.Delete(w.t.Context(), w.host(name))).To(Succeed())
}

// failed tells that a host shows an error of a type.
func failed(kind metal3.ErrorType) func(*metal3.BareMetalHost, simulator.Node) bool {
	return func(h *metal3.BareMetalHost, _ simulator.Node) bool { return h.Status.ErrorType == kind }
}

// waits tells that the node is in a state.
func waits(state string) func(*metal3.BareMetalHost, simulator.Node) bool {
	return func(_ *metal3.BareMetalHost, n simulator.Node) bool { return n.ProvisionState == state }
}

// provisioned is the step to a machine in use.
func provisioned(with func(*metal3.BareMetalHost)) step {
	return step{do: edited(with), until: metal3.StateProvisioned}
}

// onReboot lets settings be changed at the next reboot.
var onReboot = &metal3.HostUpdatePolicy{Spec: metal3.HostUpdatePolicySpec{FirmwareSettings: metal3.HostUpdatePolicyOnReboot}}

var rebooted = annotated(names.Reboot, `{"mode":"hard"}`)

func switchedOff(h *metal3.BareMetalHost) { h.Spec.Online = false }

func isDetached(h *metal3.BareMetalHost, n simulator.Node) bool {
	return h.Status.OperationalStatus == metal3.OperationalStatusDetached && n.UUID == ""
}

// situations are hosts in every state, at work, at rest, with an error and kept off.
func situations() []situation {
	const lost = "the machine does not answer"
	return []situation{
		{name: "unmanaged", state: metal3.StateUnmanaged, spec: func(h *metal3.BareMetalHost) { h.Spec.BMC = metal3.BMCDetails{} }},
		{name: "registering", state: metal3.StateRegistering, hold: "verify verifying", reached: waits("verifying")},
		{name: "registration-error", state: metal3.StateRegistering, fail: "verify: " + lost, reached: failed(metal3.RegistrationError)},
		{name: "inspecting", state: metal3.StateInspecting, hold: "inspect inspect wait", reached: waits("inspect wait")},
		{name: "inspection-error", state: metal3.StateInspecting, fail: "inspect: " + lost, reached: failed(metal3.InspectionError)},
		{name: "preparing", state: metal3.StatePreparing, spec: withVolumes, hold: "clean clean wait", reached: waits("clean wait")},
		{name: "preparation-error", state: metal3.StatePreparing, spec: withVolumes, fail: "clean: " + lost, reached: failed(metal3.PreparationError)},
		{name: "available", state: metal3.StateAvailable},
		{name: "available-off", state: metal3.StateAvailable, available: []step{{do: edited(switchedOff)}}, reached: isOff},
		{name: "power-error", state: metal3.StateAvailable, available: []step{{fail: "power: " + lost, do: edited(switchedOff)}}, reached: failed(metal3.PowerManagementError)},
		{name: "provisioning", state: metal3.StateProvisioning, available: []step{{hold: "deploy wait call-back", do: edited(withImage)}}, reached: waits("wait call-back")},
		{name: "installing", state: metal3.StateProvisioning, available: []step{{hold: "deploy wait call-back", do: edited(withCoreOS)}}, reached: waits("wait call-back")},
		{name: "provisioning-error", state: metal3.StateProvisioning, available: []step{{fail: "deploy: " + lost, do: edited(withImage)}}, reached: failed(metal3.ProvisioningError)},
		{name: "provisioned", state: metal3.StateProvisioned, available: []step{provisioned(withImage)}},
		{name: "installed", state: metal3.StateProvisioned, available: []step{provisioned(withCoreOS)}},
		{name: "live-iso", state: metal3.StateProvisioned, available: []step{provisioned(withLiveISO)}},
		{name: "servicing", state: metal3.StateProvisioned, spec: ofDell, more: []client.Object{onReboot}, available: []step{
			provisioned(withImage), {hold: "service service wait", do: func(w *world, name string) {
				w.want(name, "ProcTurboMode", "Disabled")
				w.edit(name, rebooted)
			}},
		}, reached: waits("service wait")},
		{name: "rebooting", state: metal3.StateProvisioned, available: []step{provisioned(withImage), {hold: "power", do: edited(rebooted)}}, reached: isSwitched},
		{name: "externally-provisioned", state: metal3.StateExternallyProvisioned, spec: func(h *metal3.BareMetalHost) { h.Spec.ExternallyProvisioned = true }},
		{name: "deprovisioning", state: metal3.StateDeprovisioning, available: []step{provisioned(withImage), {hold: "undeploy clean wait", do: edited(withNothing)}}, reached: waits("clean wait")},
		{name: "paused", state: metal3.StateProvisioned, available: []step{provisioned(withImage), {do: edited(annotated(names.Paused, ""))}}},
		{name: "held", state: metal3.StateProvisioned, available: []step{provisioned(withImage), {do: edited(annotated(names.Hold, ""))}}},
		{name: "detached", state: metal3.StateProvisioned, available: []step{provisioned(withImage), {do: edited(annotated(names.Detached, ""))}}, reached: isDetached},
		{name: "powering-off", state: metal3.StatePoweringOffBeforeDelete, available: []step{{hold: "power", do: deleted}}, reached: isSwitched},
		{name: "deleting", state: metal3.StateDeleting, available: []step{{do: func(w *world, name string) {
			w.refuse(w.node(name).UUID)
			deleted(w, name)
		}}}},
	}
}

func isOff(h *metal3.BareMetalHost, _ simulator.Node) bool { return !h.Status.PoweredOn }

// isSwitched tells that a power action is under way.
func isSwitched(_ *metal3.BareMetalHost, n simulator.Node) bool {
	return n.Fields["target_power_state"] != nil
}

// want is a wish for a BIOS setting.
func (w *world) want(name, setting, value string) {
	w.t.Helper()
	s := &metal3.HostFirmwareSettings{}
	w.Eventually(func() error { return w.kube.Get(w.t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, s) }).WithTimeout(time.Minute).Should(Succeed())
	s.Spec.Settings = metal3.DesiredSettingsMap{setting: intstr.FromString(value)}
	w.Expect(w.kube.Update(w.t.Context(), s)).To(Succeed())
}

// make makes a host of a number with all that belongs to it.
func (w *world) make(number int, s situation) {
	w.t.Helper()
	w.hold(s.name, s.hold)
	w.fail(s.name, s.fail)
	h := &metal3.BareMetalHost{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: s.name},
		Spec: metal3.BareMetalHostSpec{Online: true, BootMACAddress: fmt.Sprintf("52:54:00:aa:%02x:00", number), BMC: metal3.BMCDetails{
			Address: fmt.Sprintf("redfish-virtualmedia://192.0.2.%d/redfish/v1/Systems/1", number+1), CredentialsName: s.name + "-bmc",
		}},
	}
	if s.spec != nil {
		s.spec(h)
	}
	if h.Spec.BMC.Address != "" {
		w.Expect(w.kube.Create(w.t.Context(), &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: s.name + "-bmc"}, StringData: map[string]string{"username": "admin", "password": "not-a-secret"},
		})).To(Succeed())
	}
	w.Expect(w.kube.Create(w.t.Context(), h)).To(Succeed())
	for _, o := range s.more {
		o.SetNamespace(namespace)
		o.SetName(s.name)
		w.Expect(w.kube.Create(w.t.Context(), o)).To(Succeed())
	}
}

// bring takes a host to its situation.
func (w *world) bring(s situation) {
	w.t.Helper()
	if len(s.available) > 0 {
		w.until(s.name, "available and on", func(h *metal3.BareMetalHost, _ simulator.Node) bool {
			return h.Status.Provisioning.State == metal3.StateAvailable && h.Status.PoweredOn
		})
	}
	for _, next := range s.available {
		w.hold(s.name, next.hold)
		w.fail(s.name, next.fail)
		next.do(w, s.name)
		if next.until != "" {
			w.until(s.name, string(next.until), func(h *metal3.BareMetalHost, _ simulator.Node) bool {
				return h.Status.Provisioning.State == next.until && h.Status.PoweredOn
			})
		}
	}
	w.until(s.name, "where it shall be", func(h *metal3.BareMetalHost, n simulator.Node) bool {
		return h.Status.Provisioning.State == s.state && (s.reached == nil || s.reached(h, n))
	})
}
