package nodespec

import (
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/ironic"
)

// NodeName is the name that a host's node has in Ironic.
func NodeName(h *metal3.BareMetalHost) string {
	return h.Namespace + names.NodeNameSeparator + h.Name
}

// EnrolmentID is the id that a host's new node is given. It follows from the host's UID
// and from the node that its status names, so that an enrolment that is made again,
// because the controller ended before the id was stored, names the same node whatever
// its name is by then. A node that follows one that is gone has another id than that.
func EnrolmentID(h *metal3.BareMetalHost) string {
	if h.UID == "" {
		return ""
	}
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("ironflow.io/node/"+string(h.UID)+"/"+h.Status.Provisioning.ID)).String()
}

// Input is what the fields of a host's node follow from.
type Input struct {
	// Host is the resource; its status says in which phase it is.
	Host *metal3.BareMetalHost
	// Node is the node as it is; nil before it is enrolled.
	Node *ironic.Node
	// Settings are the program's flags.
	Settings Settings
	// BMC is how to reach the host's controller.
	BMC BMC
	// LeftAlone means that the host's machine is left alone, because something may run on it.
	LeftAlone bool
	// SeenAtWork means that this process has seen a node of the host in the present phase:
	// that this one is gone is no sign that the host's status is of a backup.
	SeenAtWork bool
	// KnownOff means that the machine is off, and has not come on by itself since Ironic has seen that.
	KnownOff bool
	// CalledFree means that nothing is needed of a machine that is left alone because something
	// may be on it: somebody says so, or has asked for what is on it to go, or it is said to be free, is off, and is to be worked on.
	CalledFree bool
	// NewCredentials means that Ironic was not told the present content of the Secret.
	NewCredentials bool
	// Image is the live image.
	Image LiveImage
	// NameImage means that the node is to name the newest live image. Any other keeps
	// what it names.
	NameImage bool
	// NetworkData is what the live image is told of networks through the node; nil for
	// nothing.
	NetworkData map[string]any
	// Hardware is what HardwareData holds; nil for none.
	Hardware *metal3.HardwareDetails
	// PullSecret is "user:password" for the image's registry; empty for none.
	PullSecret string
	// DefaultDeploy means that the deploy interface was set back to Ironic's default in
	// this pass.
	DefaultDeploy bool
}

// Enrolment is the node to create for a host that Ironic does not know.
func Enrolment(in Input) ironic.Enrolment {
	h := in.Host
	clean := AutomatedClean(h)
	e := ironic.Enrolment{
		UUID: EnrolmentID(h), Name: NodeName(h),
		Driver: in.BMC.Access.Driver, Interfaces: in.BMC.Access.Interfaces,
		DriverInfo:      enrolmentInfo(in),
		Properties:      map[string]any{"capabilities": capabilities("", h.BootMode()), "cpu_arch": architecture(in)},
		AutomatedClean:  &clean,
		DisablePowerOff: h.Spec.DisablePowerOff,
		NetworkData:     in.NetworkData, Extra: map[string]any{ironic.KeyMachine: MachineText(h), ironic.KeyTold: toldText(h)},
	}
	if in.BMC.Content != "" {
		e.Extra[ironic.KeyCredentials] = in.BMC.Content
	}
	if begun := Begun(h); begun != "" { // by a node that is gone
		e.Extra[KeyBegun] = begun
	}
	// In the same request: Doubt would be one more for each host of a database that was lost.
	if lostNode(in) {
		e.Extra[keyBaseline] = baselineUnknown
	}
	e.Interfaces.Deploy = deployInterface(h)
	e.Interfaces.Inspect = inspectInterface(h, in.BMC.Access)
	return e
}

// enrolmentInfo is all of driver_info that is known at enrolment, so that nothing
// has to be added before the first inspection.
func enrolmentInfo(in Input) map[string]any {
	info := bmcInfo(in.BMC)
	if url := externalURL(in); url != "" {
		info[keyExternalURL] = url
	}
	if in.Image.Ready || !in.Settings.BuildImages {
		for key, value := range imageInfo(in) {
			if value != ironic.Remove {
				info[key] = value
			}
		}
	}
	return info
}

// bmcInfo is driver_info as far as it belongs to the BMC, with the credentials.
func bmcInfo(b BMC) map[string]any {
	info := maps.Clone(b.Access.DriverInfo)
	if info == nil {
		info = map[string]any{}
	}
	if b.Access.UsernameKey != "" {
		info[b.Access.UsernameKey] = b.Username
		info[b.Access.PasswordKey] = b.Password
	}
	return info
}

// desiredBMC keeps address, driver and interfaces as the address says. New credentials
// are sent whatever the node shows, since Ironic masks the password that it has. Which they
// are is written to the node by the same request, so that a host's status of before, be it
// after a crash or from a backup, is not believed.
func desiredBMC(in Input, d *ironic.Desired) {
	if renameable(in.Node) {
		d.Driver = &in.BMC.Access.Driver
		d.Interfaces = in.BMC.Access.Interfaces
		d.Interfaces.Inspect = inspectInterface(in.Host, in.BMC.Access)
	}
	maps.Copy(d.DriverInfo, bmcInfo(in.BMC))
	for key, value := range in.Node.DriverInfo {
		// What another scheme of the address left behind. Other keys are somebody's own, such as
		// a way to log in, and so is a certificate to verify the BMC by.
		if _, wanted := d.DriverInfo[key]; !wanted && slices.Contains(addressKeys, key) || !wanted && isVerifyOff(key, value) {
			d.DriverInfo[key] = ironic.Remove
		}
	}
	// By the request that tells Ironic of the address, or by any other one: a fleet that is taken over is not
	// written to for it alone.
	d.ExtraBeside = ironic.Fields{ironic.KeyMachine: MachineText(in.Host), ironic.KeyTold: toldText(in.Host)}
	if ToldOtherwise(in.Host, &in.Node.Row) {
		d.Extra[ironic.KeyTold] = toldText(in.Host)
	}
	d.SendSecrets = in.NewCredentials
	if sent := in.BMC.Content; sent != "" && (in.NewCredentials || in.Node.Credentials == sent) {
		d.Extra[ironic.KeyCredentials] = sent
	}
}

// addressKeys are the keys of driver_info that an address and its Secret fill, of all schemes.
var addressKeys = []string{
	"ipmi_address", "ipmi_port", "ipmi_priv_level", "ipmi_username", "ipmi_password",
	"redfish_address", "redfish_system_id", "redfish_username", "redfish_password",
}

// isVerifyOff reports what spec.bmc.disableCertificateVerification writes into driver_info.
func isVerifyOff(key string, value any) bool {
	return (key == "ipmi_verify_ca" || key == "redfish_verify_ca") && value == false
}

// renameable reports whether Ironic lets the driver and the interfaces of a node change.
func renameable(n *ironic.Node) bool {
	switch n.ProvisionState {
	case ironic.StateEnroll, ironic.StateManageable, ironic.StateAvailable:
		return true
	default:
		return n.Maintenance
	}
}

// Deployable reports whether a node is on the way to its deployment, so that it
// shall know what is to be deployed. A failed one keeps what it has failed with.
func Deployable(s ironic.ProvisionState) bool {
	return s == ironic.StateAvailable || s == ironic.StateManageable
}

// AutomatedClean is the node's automated_clean.
func AutomatedClean(h *metal3.BareMetalHost) bool {
	return h.Spec.AutomatedCleaningMode != metal3.CleaningModeDisabled
}

// architecture is the CPU architecture of a host, as best known.
func architecture(in Input) string {
	if in.Host.Spec.Architecture != "" {
		return in.Host.Spec.Architecture
	}
	for _, details := range []*metal3.HardwareDetails{in.Hardware, in.Host.Status.HardwareDetails} {
		if details != nil && details.CPU.Arch != "" {
			return details.CPU.Arch
		}
	}
	return in.Settings.Architecture
}

// bootCapabilities are the entries of properties/capabilities for each boot mode.
var bootCapabilities = map[metal3.BootMode][]string{
	metal3.UEFI:           {"boot_mode:uefi"},
	metal3.UEFISecureBoot: {"boot_mode:uefi", "secure_boot:true"},
	metal3.Legacy:         {"boot_mode:bios"},
}

// capabilities puts the boot mode into Ironic's comma list and leaves its other
// items, and what is right already, where they are.
func capabilities(have string, mode metal3.BootMode) string {
	var kept []string
	missing := slices.Clone(bootCapabilities[mode])
	for item := range strings.SplitSeq(have, ",") {
		item = strings.TrimSpace(item)
		key, _, _ := strings.Cut(item, ":")
		if i := slices.Index(missing, item); i >= 0 {
			missing = slices.Delete(missing, i, i+1)
		} else if key == "" || key == "boot_mode" || key == "secure_boot" {
			continue
		}
		kept = append(kept, item)
	}
	return strings.Join(append(kept, missing...), ",")
}

// text reads a string member of a JSON object.
func text(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

// Desired is what the node shall look like in the host's phase. Only fields
// that are ours are named, so that nothing else on the node is touched.
func Desired(in Input) ironic.Desired {
	h := in.Host
	state := h.Status.Provisioning.State
	name, clean := NodeName(h), AutomatedClean(h)
	d := ironic.Desired{
		Name: &name, AutomatedClean: &clean,
		DriverInfo: ironic.Fields{}, Extra: ironic.Fields{},
		Properties: ironic.Fields{
			"capabilities": capabilities(text(in.Node.Properties, "capabilities"), h.BootMode()),
			"cpu_arch":     architecture(in),
		},
	}
	if in.Node.DisablePowerOff != h.Spec.DisablePowerOff {
		d.DisablePowerOff = &h.Spec.DisablePowerOff
	}
	if in.BMC.Problem == "" {
		desiredBMC(in, &d)
	}
	if in.NameImage && (in.Image.Ready || !in.Settings.BuildImages) {
		maps.Copy(d.DriverInfo, imageInfo(in))
		addNetwork(in, &d)
	}
	switch {
	case state == metal3.StateInspecting:
		d.Interfaces.Inspect = inspectInterface(h, in.BMC.Access)
	case heldBack(in): // nothing is deployed
	case state == metal3.StateProvisioning && Deployable(in.Node.ProvisionState):
		desiredInstance(h, in.Settings, Wanted(h), &d)
		d.InstanceInfo[keyInputs] = inputs(h) // not of what is adopted: it was made of what the spec said then
		addPullSecret(in.PullSecret, h.Spec.Image, &d)
		leaveOtherDeployments(in, &d)
	case in.Node.ProvisionState == ironic.StateManageable && state == metal3.StateProvisioned:
		// A node that was lost and enrolled again is adopted as what it runs.
		desiredInstance(h, in.Settings, Deployed(h), &d)
		leaveOtherDeployments(in, &d)
	case state == metal3.StateAvailable && !WantsInstance(h) && Deployable(in.Node.ProvisionState):
		d.Extra[keyWish] = ironic.Remove // of what was deployed last
		d.InstanceInfo = ironic.Fields{KeyBegun: ironic.Remove}
	}
	desiredBaseline(in, &d)
	return d
}

// OtherDriver reports a node in use whose BMC is of another kind by now. Ironic takes
// that in maintenance only, which is over as soon as it knows.
func OtherDriver(n *ironic.Node, b BMC) bool {
	if b.Problem != "" || n.ProvisionState != ironic.StateActive || renameable(n) {
		return false
	}
	have, want := n.Interfaces, b.Access.Interfaces
	return n.Driver != b.Access.Driver || want.Boot != "" && have.Boot != want.Boot
}
