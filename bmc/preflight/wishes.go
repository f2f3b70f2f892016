package preflight

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
)

// Wishes are what a host asks of its hardware. Package bmc/wishes makes them from a
// host and its resources.
type Wishes struct {
	// Address is what spec.bmc.address means.
	Address Address
	// BootMode is UEFI, UEFISecureBoot or legacy; empty is UEFI.
	BootMode string
	// Architecture is x86_64 or aarch64; empty is not said.
	Architecture string
	// LiveImage is the image that the BMC boots for inspection, preparation and deployment.
	LiveImage LiveImage
	// LiveISO is spec.image where that is a live ISO, which the BMC boots as well.
	LiveISO LiveImage
	// Volumes are those of hardware RAID. Nil leaves what is there; empty deletes it.
	Volumes []Volume
	// SoftwareVolumes are those that the live image makes.
	SoftwareVolumes []SoftwareVolume
	// Firmware are the switches of spec.firmware by name, as "virtualizationEnabled".
	Firmware map[string]bool
	// Settings are the BIOS settings of HostFirmwareSettings, int or string.
	Settings map[string]any
	// Updates are those of HostFirmwareComponents.
	Updates []Update
}

// BootKind is how a host gets its live image.
type BootKind string

// The kinds of booting.
const (
	Network      BootKind = "network"
	VirtualMedia BootKind = "virtual media"
	HTTPBoot     BootKind = "HTTP boot"
)

// Address is what preflight has to know of an address.
type Address struct {
	// Scheme is the scheme without its transport, as "redfish-virtualmedia".
	Scheme string
	// Boot is how the host gets its live image.
	Boot BootKind
	// Redfish says that the BMC is managed over Redfish; else RAID, settings, updates
	// and secure boot are not there.
	Redfish bool
}

// LiveImage is what matters of a live image's address. The zero value is not known.
type LiveImage struct {
	// Address is where it is. [Digest] has it only where the size matters: no other check
	// depends on it, and live images are often built anew.
	Address string `json:"-"`
	Scheme  string
	// Query says that the address has more than a path.
	Query bool
	// Bytes is its size; 0 is not known.
	Bytes int64
}

// LiveImageAt reads the address of a live image. One that cannot be read is not known.
func LiveImageAt(address string, size int64) LiveImage {
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "" {
		return LiveImage{Address: address, Bytes: size}
	}
	return LiveImage{Address: address, Scheme: strings.ToLower(u.Scheme), Query: u.RawQuery != "" || strings.Contains(u.Path, "="), Bytes: size}
}

// Volume is a volume of hardware RAID.
type Volume struct {
	Level, Name string
	// SizeGiB is its size; 0 is as large as possible.
	SizeGiB int
	// Rotational asks for disks of one kind; nil is any.
	Rotational *bool
	// Count is how many disks; 0 is as few as possible.
	Count      int
	Controller string
	// Disks are the ids of its disks.
	Disks []string
}

// SoftwareVolume is a volume of software RAID.
type SoftwareVolume struct {
	Level   string
	SizeGiB int
	// Disks is how many hints for disks it has; 0 is all disks.
	Disks int
}

// Update is a firmware update.
type Update struct {
	// Component is bmc, bios or nic:ID.
	Component string
	URL       string
	// Version is the image's version and Bytes its size, where they are known.
	Version string
	Bytes   int64
}

// Digest is the same for the same wishes and the same addresses: that of the BMC, and those
// of images whose sizes matter. It goes into v1alpha1.PreflightStatus.
func Digest(w Wishes, addresses ...string) string {
	raw, err := json.Marshal(w)
	if err != nil {
		return "" // no value of these types fails
	}
	for _, address := range addresses {
		raw = strconv.AppendQuote(raw, address)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16])
}
