package nodespec

import (
	"cmp"

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
	// keyMethod is ours: which custom method the deployment was asked for. It
	// tells a wish that changed meanwhile from the one that was carried out.
	keyMethod = "ironflow_method"
)

// Deploy interfaces.
const (
	deployRamdisk = "ramdisk"
	deployCustom  = "custom-agent"
	deployImage   = "direct"
)

// desiredInstance adds what a deployment of this image and method needs.
func desiredInstance(h *metal3.BareMetalHost, s Settings, image *metal3.Image, custom *metal3.CustomDeploy, d *ironic.Desired) {
	instance := string(h.UID)
	d.InstanceUUID = &instance
	method := MethodOf(custom)
	d.InstanceInfo = imageFields(image)
	d.InstanceInfo["capabilities"] = instanceCapabilities(h.BootMode())
	d.InstanceInfo[keyRootDevice] = orRemove(len(HintMap(RootHints(h))) > 0, HintMap(RootHints(h)))
	d.InstanceInfo[keyMethod] = orRemove(method != "", method)
	persistent := s.DirectDeployPersistentBoot
	switch {
	case method != "":
		d.Interfaces.Deploy = deployCustom
	case image.IsLiveISO():
		d.Interfaces.Deploy = deployRamdisk
		persistent = s.LiveISOPersistentBoot
	}
	if persistent == "" {
		persistent = "Default"
	}
	d.DriverInfo[keyPersistent] = persistent
}

// leaveOtherDeployments takes a node that gets an image away from the deploy
// interface of a live ISO or a custom method that it had before. Any other one is
// left as it is.
func leaveOtherDeployments(n *ironic.Node, d *ironic.Desired) {
	have := n.Interfaces.Deploy
	if d.Interfaces.Deploy == "" && (have == deployRamdisk || have == deployCustom) {
		d.Interfaces.Deploy = deployImage
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

// DeployedImage is the image that a node was deployed with: the wish, if it is
// still the one that was carried out, else what the node knows about it.
func DeployedImage(n *ironic.Node, wish *metal3.Image) metal3.Image {
	known := imageOf(n.InstanceInfo)
	if wish != nil && (n.InstanceInfo == nil || wish.URL == known.URL && wish.IsLiveISO() == known.IsLiveISO()) {
		return *wish.DeepCopy()
	}
	return known
}

// imageOf reads what imageFields has written.
func imageOf(info map[string]any) metal3.Image {
	if iso := text(info, keyBootISO); iso != "" {
		return metal3.Image{URL: iso, DiskFormat: new(diskFormatISO)}
	}
	image := metal3.Image{
		URL: text(info, keyImageSource), Checksum: cmp.Or(text(info, keyHashValue), text(info, keyChecksum)),
		ChecksumType: metal3.ChecksumType(text(info, keyHashAlgo)),
	}
	if format := text(info, keyDiskFormat); format != "" {
		image.DiskFormat = &format
	}
	return image
}

// diskFormatISO is the format of an image that the machine runs from its virtual media.
const diskFormatISO = "live-iso"

// DeployedMethod is the custom method that a node was deployed with; nil for none.
func DeployedMethod(n *ironic.Node, wish *metal3.CustomDeploy) *metal3.CustomDeploy {
	switch method, recorded := n.InstanceInfo[keyMethod].(string); {
	case recorded:
		return &metal3.CustomDeploy{Method: method}
	case n.Interfaces.Deploy != deployCustom && n.InstanceInfo != nil:
		return nil // whoever deploys with a method does it with that interface
	}
	return wish.DeepCopy() // deployed by another controller: believe the spec
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
