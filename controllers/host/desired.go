package host

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/ironic"
)

// nodeName is the name that a host's node has in Ironic.
func nodeName(h *metal3.BareMetalHost) string {
	return h.Namespace + names.NodeNameSeparator + h.Name
}

// enrolment is the node to create for a host that Ironic does not know.
func enrolment(o *Observed) ironic.Enrolment {
	h := o.Host
	clean := automatedClean(h)
	e := ironic.Enrolment{
		Name:   nodeName(h),
		Driver: o.BMC.Access.Driver, Interfaces: o.BMC.Access.Interfaces,
		DriverInfo:      enrolmentInfo(o),
		Properties:      map[string]any{"capabilities": capabilities("", h.BootMode()), "cpu_arch": architecture(o)},
		AutomatedClean:  &clean,
		DisablePowerOff: h.Spec.DisablePowerOff,
		NetworkData:     o.NetworkData,
	}
	e.Interfaces.Deploy = deployInterface(h, o.state())
	e.Interfaces.Inspect = inspectInterface(o)
	return e
}

// enrolmentInfo is all of driver_info that is known at enrolment, so that nothing
// has to be added before the first inspection.
func enrolmentInfo(o *Observed) map[string]any {
	info := bmcInfo(o.BMC)
	if url := externalURL(o); url != "" {
		info[keyExternalURL] = url
	}
	if o.Image.Ready || !o.Settings.BuildImages {
		for key, value := range imageInfo(o) {
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

// desired is what the host's node shall look like in this phase. Only fields
// that are ours are named, so that nothing else on the node is touched.
func desired(o *Observed) ironic.Desired {
	h := o.Host
	name, clean := nodeName(h), automatedClean(h)
	d := ironic.Desired{
		Name: &name, AutomatedClean: &clean,
		DriverInfo: ironic.Fields{},
		Properties: ironic.Fields{
			"capabilities": capabilities(text(o.Node.Properties, "capabilities"), h.BootMode()),
			"cpu_arch":     architecture(o),
		},
	}
	if o.Node.DisablePowerOff != h.Spec.DisablePowerOff {
		d.DisablePowerOff = &h.Spec.DisablePowerOff
	}
	if o.BMC.Problem == "" {
		desiredBMC(o, &d)
	}
	if namesImage(o) && (o.Image.Ready || !o.Settings.BuildImages) {
		maps.Copy(d.DriverInfo, imageInfo(o))
		addNetwork(o, &d)
	}
	switch {
	case o.state() == metal3.StateInspecting:
		d.Interfaces.Inspect = inspectInterface(o)
	case o.state() == metal3.StateProvisioning && deployable(o.Node.ProvisionState):
		desiredInstance(h, o.Settings, h.Spec.Image, h.Spec.CustomDeploy, &d)
		addPullSecret(o, &d)
		leaveOtherDeployments(o, &d)
	case o.Node.ProvisionState == ironic.StateManageable && o.state() == metal3.StateProvisioned:
		// A node that was lost and enrolled again is adopted as what it runs.
		desiredInstance(h, o.Settings, &h.Status.Provisioning.Image, h.Status.Provisioning.CustomDeploy, &d)
		leaveOtherDeployments(o, &d)
	}
	addOrder(o, &d)
	return d
}

// desiredBMC keeps address, driver and interfaces as the address says. New credentials
// are sent whatever the node shows, since Ironic masks the password that it has.
func desiredBMC(o *Observed, d *ironic.Desired) {
	if renameable(o.Node) {
		d.Driver = &o.BMC.Access.Driver
		d.Interfaces = o.BMC.Access.Interfaces
		d.Interfaces.Inspect = inspectInterface(o)
	}
	maps.Copy(d.DriverInfo, bmcInfo(o.BMC))
	for key := range o.Node.DriverInfo {
		// What another scheme of the address left behind.
		if _, wanted := d.DriverInfo[key]; !wanted && (strings.HasPrefix(key, "ipmi_") || strings.HasPrefix(key, "redfish_")) {
			d.DriverInfo[key] = ironic.Remove
		}
	}
	if newCredentials(o) {
		d.SendSecrets = true
	}
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

// otherDriver reports a node in use whose BMC is of another kind by now. Ironic takes
// that in maintenance only, which is over as soon as it knows.
func otherDriver(o *Observed) bool {
	if o.BMC.Problem != "" || o.Sight != Seen || o.Node.ProvisionState != ironic.StateActive || renameable(o.Node) {
		return false
	}
	have, want := o.Node.Interfaces, o.BMC.Access.Interfaces
	return o.Node.Driver != o.BMC.Access.Driver || want.Boot != "" && have.Boot != want.Boot
}

// driverReason is what a node says while its driver is changed.
const driverReason = "Ironflow changes the driver"

// deployable reports whether a node is on the way to its deployment, so that it
// shall know what is to be deployed. A failed one keeps what it has failed with.
func deployable(s ironic.ProvisionState) bool {
	return s == ironic.StateAvailable || s == ironic.StateManageable
}

// automatedClean is the node's automated_clean.
func automatedClean(h *metal3.BareMetalHost) bool {
	return h.Spec.AutomatedCleaningMode != metal3.CleaningModeDisabled
}

// architecture is the CPU architecture of a host, as best known.
func architecture(o *Observed) string {
	if o.Host.Spec.Architecture != "" {
		return o.Host.Spec.Architecture
	}
	for _, details := range []*metal3.HardwareDetails{o.Hardware, o.Host.Status.HardwareDetails} {
		if details != nil && details.CPU.Arch != "" {
			return details.CPU.Arch
		}
	}
	return o.Settings.Architecture
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

// ports are the network interfaces that Ironic shall know: the one that the machine
// boots from, and what inspection has found. With a boot MAC address the machine
// boots from no other.
func ports(h *metal3.BareMetalHost, hardware *metal3.HardwareDetails) []ironic.Port {
	boot := strings.ToLower(h.Spec.BootMACAddress)
	var list []ironic.Port
	seen := map[string]bool{"": true}
	add := func(mac string, pxe bool) {
		mac = strings.ToLower(mac)
		if !seen[mac] {
			seen[mac] = true
			list = append(list, ironic.Port{MAC: mac, PXEEnabled: pxe})
		}
	}
	add(boot, true)
	if hardware == nil {
		hardware = h.Status.HardwareDetails
	}
	if hardware != nil {
		for _, nic := range hardware.NIC {
			add(nic.MAC, nic.PXE && boot == "")
		}
	}
	return list
}

// newestHardware is what is known of the machine: the inspection's result, if it was
// read and is yet to be stored.
func newestHardware(o *Observed) *metal3.HardwareDetails {
	if o.Inventory != nil {
		return hardwareDetails(o.Inventory)
	}
	return o.Hardware
}

// portsGone are the ports of network interfaces that were known before an inspection
// and are not found by it any more. Ports that no inspection knew of are somebody's
// own, and one that has found no interface at all says nothing.
func portsGone(o *Observed, want []ironic.Port) []string {
	if o.Inventory == nil || len(o.Inventory.NICs) == 0 {
		return nil
	}
	var gone []string
	for _, p := range ports(o.Host, o.Hardware) {
		if !slices.ContainsFunc(want, func(w ironic.Port) bool { return w.MAC == p.MAC }) {
			gone = append(gone, p.MAC)
		}
	}
	return gone
}

// bootsAsSeen reports whether an inspection has seen the machine boot from its boot
// MAC address and no other. Ironic sets pxe_enabled of all ports by what was seen, and
// nothing was if the machine has booted from virtual media.
func bootsAsSeen(h *metal3.BareMetalHost, i *ironic.Inventory) bool {
	boot := strings.ToLower(h.Spec.BootMACAddress)
	if boot == "" {
		return true
	}
	var seen []string
	for _, nic := range i.NICs {
		if nic.PXE {
			seen = append(seen, strings.ToLower(nic.MAC))
		}
	}
	return len(seen) == 1 && seen[0] == boot
}

// portsLacking are those of a list that a key does not name.
func portsLacking(list []ironic.Port, key string) []ironic.Port {
	there := strings.Fields(strings.ReplaceAll(key, "*", ""))
	return slices.DeleteFunc(slices.Clone(list), func(p ironic.Port) bool { return slices.Contains(there, p.MAC) })
}

// portsKey names a set of ports of a node, to remember that they were seen to.
func portsKey(uuid string, list []ironic.Port) string {
	var parts []string
	for _, p := range list {
		part := p.MAC
		if p.PXEEnabled {
			part += "*"
		}
		parts = append(parts, part)
	}
	slices.Sort(parts)
	return uuid + " " + strings.Join(parts, " ")
}

// sameDesired compares what a node was brought to with what it shall be. Secrets
// that were sent count as equal.
func sameDesired(applied, want ironic.Desired) bool {
	applied.SendSecrets = want.SendSecrets
	return reflect.DeepEqual(applied, want)
}

// text reads a string member of a JSON object.
func text(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}
