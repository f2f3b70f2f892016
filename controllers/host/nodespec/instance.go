package nodespec

import (
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/ironic"
)

// Keys of instance_info and driver_info that a deployment owns.
const (
	keyImageSource = "image_source"
	keyDiskFormat  = "image_disk_format"
	keyChecksum    = "image_checksum"
	keyHashAlgo    = "image_os_hash_algo"
	keyHashValue   = "image_os_hash_value"
	keyBootISO     = "boot_iso"
	keyRootDevice  = "root_device"
	keyPersistent  = "force_persistent_boot_device"
)

// Deploy interfaces.
const (
	deployRamdisk = "ramdisk"
	deployCustom  = "custom-agent"
	deployImage   = "direct"
)

// desiredInstance adds what the deployment of a wish needs, and the record of the wish.
func desiredInstance(h *metal3.BareMetalHost, s Settings, w Wish, d *ironic.Desired) {
	instance := string(h.UID)
	d.InstanceUUID = &instance
	d.InstanceInfo = imageFields(w.Image)
	w.record(d)
	d.InstanceInfo[KeyBegun] = orRemove(Begun(h) != "", Begun(h))
	d.Extra[KeyBegun] = d.InstanceInfo[KeyBegun]
	d.InstanceInfo["capabilities"] = instanceCapabilities(h.BootMode())
	d.InstanceInfo[keyRootDevice] = orRemove(len(HintMap(RootHints(h))) > 0, HintMap(RootHints(h)))
	persistent := s.DirectDeployPersistentBoot
	switch {
	case w.Method != "":
		d.Interfaces.Deploy = deployCustom
	case w.Image.IsLiveISO():
		d.Interfaces.Deploy = deployRamdisk
		persistent = s.LiveISOPersistentBoot
	}
	if persistent == "" {
		persistent = "Default"
	}
	d.DriverInfo[keyPersistent] = persistent
}

// leaveOtherDeployments takes a node that gets an image away from the deploy
// interface of a live ISO or a custom method that it had before, back to Ironic's
// default, which need not be "direct" (autodetect, bootc). Any other one is left as it is.
// Where the default is one of the two itself, and so writes no image, it is "direct".
func leaveOtherDeployments(in Input, d *ironic.Desired) {
	have := in.Node.Interfaces.Deploy
	switch {
	case d.Interfaces.Deploy != "" || have != deployRamdisk && have != deployCustom:
	case in.DefaultDeploy:
		d.Interfaces.Deploy = deployImage
	default:
		d.ResetInterfaces = []string{"deploy"}
	}
}

// instanceCapabilities is instance_info's capabilities.
func instanceCapabilities(mode metal3.BootMode) any {
	if mode == metal3.UEFISecureBoot {
		return map[string]any{"secure_boot": "true"}
	}
	return map[string]any{}
}

// imageFields are the members of instance_info that name an image; those that do
// not apply are to be absent.
func imageFields(image *metal3.Image) ironic.Fields {
	fields := ironic.Fields{}
	for _, key := range []string{keyImageSource, keyDiskFormat, keyChecksum, keyHashAlgo, keyHashValue, keyBootISO} {
		fields[key] = ironic.Remove
	}
	switch {
	case image == nil || image.URL == "":
	case image.IsLiveISO():
		fields[keyBootISO] = image.URL
	default:
		fields[keyImageSource] = image.URL
		if image.DiskFormat != nil {
			fields[keyDiskFormat] = *image.DiskFormat
		}
		checksum, kind, err := image.GetChecksum()
		switch {
		case err != nil || checksum == "":
		case kind == "":
			fields[keyChecksum] = checksum
		default:
			fields[keyHashAlgo], fields[keyHashValue] = kind, checksum
		}
	}
	return fields
}

// orRemove is the value, or the wish that the key be absent.
func orRemove(keep bool, value any) any {
	if keep {
		return value
	}
	return ironic.Remove
}

// deployInterface is the deploy interface of a node that is enrolled for a
// machine that runs something already, so that Ironic adopts it as that.
func deployInterface(h *metal3.BareMetalHost) string {
	state := h.Status.Provisioning.State
	if state != metal3.StateProvisioned && state != metal3.StateDeprovisioning {
		return ""
	}
	switch {
	case MethodOf(h.Status.Provisioning.CustomDeploy) != "":
		return deployCustom
	case h.Status.Provisioning.Image.IsLiveISO():
		return deployRamdisk
	}
	return ""
}

// MethodOf is the custom deploy method, empty for none.
func MethodOf(c *metal3.CustomDeploy) string {
	if c == nil {
		return ""
	}
	return c.Method
}

// InUse reports whether something runs on the host by the user's wish.
func InUse(h *metal3.BareMetalHost) bool {
	state := h.Status.Provisioning.State
	return state == metal3.StateProvisioned || state == metal3.StateExternallyProvisioned
}

// WantsInstance reports whether the spec asks for anything on the host.
func WantsInstance(h *metal3.BareMetalHost) bool {
	return h.Spec.Image != nil && h.Spec.Image.URL != "" || MethodOf(h.Spec.CustomDeploy) != ""
}
