package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// HostInventory is the hardware of a host, as its agent reported it.
type HostInventory struct {
	// ReportTime is when the hub last stored an inventory.
	// +optional
	ReportTime *metav1.Time `json:"reportTime,omitempty"`
	// +optional
	Hostname string `json:"hostname,omitempty"`
	// +optional
	BmcAddress string `json:"bmcAddress,omitempty"`
	// +optional
	BmcV6address string `json:"bmcV6Address,omitempty"`
	// +optional
	Memory HostMemory `json:"memory,omitempty"`
	// +optional
	Cpu HostCPU `json:"cpu,omitempty"`
	// +optional
	Interfaces []HostInterface `json:"interfaces,omitempty"`
	// +optional
	Disks []HostDisk `json:"disks,omitempty"`
	// +optional
	Gpus []HostGPU `json:"gpus,omitempty"`
	// +optional
	Boot HostBoot `json:"boot,omitempty"`
	// +optional
	SystemVendor HostSystemVendor `json:"systemVendor,omitempty"`
}

// HostMemory is the memory of a host, in bytes.
type HostMemory struct {
	// +optional
	PhysicalBytes int64 `json:"physicalBytes,omitempty"`
	// +optional
	UsableBytes int64 `json:"usableBytes,omitempty"`
}

// HostCPU describes all processors of a host together.
type HostCPU struct {
	// Count of logical processors.
	// +optional
	Count int64 `json:"count,omitempty"`
	// ClockMegahertz is the clock without fraction, so that it has no rounding.
	// +optional
	ClockMegahertz int64 `json:"clockMegahertz,omitempty"`
	// +optional
	Flags []string `json:"flags,omitempty"`
	// +optional
	ModelName string `json:"modelName,omitempty"`
	// +optional
	Architecture string `json:"architecture,omitempty"`
}

// HostInterface is one network interface.
type HostInterface struct {
	// +optional
	Name string `json:"name,omitempty"`
	// +optional
	MacAddress string `json:"macAddress,omitempty"`
	// IPV4Addresses in CIDR form.
	// +nullable
	IPV4Addresses []string `json:"ipV4Addresses"`
	// IPV6Addresses in CIDR form.
	// +nullable
	IPV6Addresses []string `json:"ipV6Addresses"`
	// +nullable
	Flags []string `json:"flags"`
	// +optional
	HasCarrier bool `json:"hasCarrier,omitempty"`
	// +optional
	Mtu int64 `json:"mtu,omitempty"`
	// +optional
	SpeedMbps int64 `json:"speedMbps,omitempty"`
	// +optional
	Vendor string `json:"vendor,omitempty"`
	// +optional
	Product string `json:"product,omitempty"`
	// +optional
	ClientId string `json:"clientID,omitempty"`
	// +optional
	BiosDevName string `json:"biosDevName,omitempty"`
}

// HostDisk is one disk.
type HostDisk struct {
	// ID is stable over reboots and names the disk towards the hub.
	ID string `json:"id"`
	// +optional
	Name string `json:"name,omitempty"`
	// +optional
	Path string `json:"path,omitempty"`
	// +optional
	ByPath string `json:"byPath,omitempty"`
	// +optional
	ByID string `json:"byID,omitempty"`
	// +optional
	DriveType string `json:"driveType,omitempty"`
	// +optional
	SizeBytes int64 `json:"sizeBytes,omitempty"`
	// +optional
	Vendor string `json:"vendor,omitempty"`
	// +optional
	Model string `json:"model,omitempty"`
	// +optional
	Serial string `json:"serial,omitempty"`
	// +optional
	Wwn string `json:"wwn,omitempty"`
	// +optional
	Hctl string `json:"hctl,omitempty"`
	// +optional
	Bootable bool `json:"bootable,omitempty"`
	// +optional
	Smart string `json:"smart,omitempty"`
	// +optional
	InstallationEligibility HostInstallationEligibility `json:"installationEligibility,omitempty"`
	// +optional
	IoPerf HostIOPerf `json:"ioPerf,omitempty"`
}

// HostInstallationEligibility tells whether a disk can be installed to.
type HostInstallationEligibility struct {
	// +optional
	Eligible bool `json:"eligible,omitempty"`
	// NotEligibleReasons are sentences for people.
	// +nullable
	NotEligibleReasons []string `json:"notEligibleReasons"`
}

// HostIOPerf is the measured speed of a disk.
type HostIOPerf struct {
	// SyncDurationMilliseconds is the 99th percentile of fdatasync.
	// +optional
	SyncDurationMilliseconds int64 `json:"syncDurationMilliseconds,omitempty"`
}

// HostGPU is one graphics or compute accelerator.
type HostGPU struct {
	// +optional
	Address string `json:"address,omitempty"`
	// +optional
	DeviceID string `json:"deviceID,omitempty"`
	// +optional
	Name string `json:"name,omitempty"`
	// +optional
	Vendor string `json:"vendor,omitempty"`
	// +optional
	VendorID string `json:"vendorID,omitempty"`
}

// HostBoot tells how the host booted.
type HostBoot struct {
	// CurrentBootMode is uefi or bios.
	// +optional
	CurrentBootMode string `json:"currentBootMode,omitempty"`
	// +optional
	PxeInterface string `json:"pxeInterface,omitempty"`
	// DeviceType is ephemeral or persistent.
	// +optional
	DeviceType string `json:"deviceType,omitempty"`
}

// HostSystemVendor is the manufacturer's data.
type HostSystemVendor struct {
	// +optional
	SerialNumber string `json:"serialNumber,omitempty"`
	// +optional
	ProductName string `json:"productName,omitempty"`
	// +optional
	Manufacturer string `json:"manufacturer,omitempty"`
	// +optional
	Virtual bool `json:"virtual,omitempty"`
}
