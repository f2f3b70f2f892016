package preflight

// The reasons of mismatches.
const (
	ReasonNeedsRedfish      = "NeedsRedfish"
	ReasonAddressScheme     = "AddressScheme"
	ReasonBadVersion        = "BadVersion"
	ReasonVirtualMedia      = "VirtualMediaNotOffered"
	ReasonHTTPBoot          = "HTTPBootNotOffered"
	ReasonBootOnce          = "BootOnceNotOffered"
	ReasonImageScheme       = "ImageScheme"
	ReasonImageURL          = "ImageURL"
	ReasonImageSize         = "ImageSize"
	ReasonSecureBoot        = "SecureBootNotOffered"
	ReasonBootMode          = "BootMode"
	ReasonVolumes           = "VolumesNotOffered"
	ReasonRAIDInvalid       = "RAIDInvalid"
	ReasonRAIDLevel         = "RAIDLevel"
	ReasonRAIDSize          = "RAIDSize"
	ReasonRAIDDiskCount     = "RAIDDiskCount"
	ReasonRAIDDiskUnknown   = "RAIDDiskUnknown"
	ReasonRAIDDiskUnusable  = "RAIDDiskUnusable"
	ReasonRAIDDisksMixed    = "RAIDDisksMixed"
	ReasonRAIDController    = "RAIDController"
	ReasonRAIDCapacity      = "RAIDCapacity"
	ReasonRAIDDisksTooFew   = "RAIDDisksTooFew"
	ReasonSoftwareRAID      = "SoftwareRAID"
	ReasonSettings          = "SettingsNotOffered"
	ReasonSettingUnknown    = "SettingUnknown"
	ReasonSettingLocked     = "SettingLocked"
	ReasonSettingProtected  = "SettingProtected"
	ReasonSettingValue      = "SettingValue"
	ReasonSettingType       = "SettingType"
	ReasonSettingUnreadable = "SettingUnreadable"
	ReasonSettingDependency = "SettingDependency"
	ReasonSettingBootMode   = "SettingBootMode"
	ReasonFirmwareSwitch    = "FirmwareSwitch"
	ReasonPending           = "PendingChanges"
	ReasonUpdates           = "UpdatesNotOffered"
	ReasonUpdateLicence     = "UpdateLicence"
	ReasonUpdateComponent   = "UpdateComponent"
	ReasonUpdateScheme      = "UpdateScheme"
	ReasonUpdateSize        = "UpdateSize"
	ReasonUpdateVersion     = "UpdateVersion"
)

// Reason explains a reason.
type Reason struct {
	Name string
	// Text says what is wrong.
	Text string
	// Next says what to do.
	Next string
	// Alone says that the wish is wrong by itself, whatever the hardware.
	Alone bool
}

// Reasons are all reasons. docs/preflight.md has this table.
var Reasons = []Reason{
	{ReasonNeedsRedfish, "The wish needs Redfish, and the address is of another kind.", "use a Redfish scheme in spec.bmc.address, or drop the wish", true},
	{ReasonAddressScheme, "Virtual media of this BMC need another scheme.", "change the scheme of spec.bmc.address", false},
	{ReasonBadVersion, "The BMC's firmware has a known fault.", "update the BMC to the version that is named, or later", false},
	{ReasonVirtualMedia, "The BMC has no slot that takes a CD image.", "boot over the network, or get the licence for virtual media", false},
	{ReasonHTTPBoot, "The firmware cannot boot from a URL.", "use virtual media or the network", false},
	{ReasonBootOnce, "The next boot cannot be directed to a CD.", "boot over the network", false},
	{ReasonImageScheme, "The BMC does not fetch live images by this scheme.", "serve the live image by one of the schemes that are named", false},
	{ReasonImageURL, "The BMC takes plain paths only as the address of an image.", "serve the live image from a path without ? and =", false},
	{ReasonImageSize, "The live image is larger than the BMC takes.", "use a smaller live image, or boot over the network", false},
	{ReasonSecureBoot, "Secure boot cannot be switched.", "use UEFI in spec.bootMode, or switch secure boot on by hand", false},
	{ReasonBootMode, "The boot mode does not go with the machine or the way of booting.", "use UEFI in spec.bootMode", true},
	{ReasonVolumes, "The BMC makes no volumes.", "use softwareRAIDVolumes, or leave spec.raid out", false},
	{ReasonRAIDInvalid, "Parts of a volume contradict each other.", "correct the volume as the message says", true},
	{ReasonRAIDLevel, "Ironic or the controller does not know the RAID level.", "use one of the levels that are named", true},
	{ReasonRAIDSize, "A volume without a size needs named disks.", "set sizeGibibytes, or name physicalDisks", true},
	{ReasonRAIDDiskCount, "The number of disks does not go with the level.", "use the number that is named", true},
	{ReasonRAIDDiskUnknown, "No controller has a disk with that id.", "use ids from status.report.storage of the BMC", false},
	{ReasonRAIDDiskUnusable, "A disk cannot be part of a volume.", "replace or convert the disk, or name another one", false},
	{ReasonRAIDDisksMixed, "The disks of a volume are of different kinds.", "name disks of one kind", false},
	{ReasonRAIDController, "The disks are not behind the controller, or behind several.", "name the disks' own controller, and disks of one controller", false},
	{ReasonRAIDCapacity, "The volume is larger than its disks.", "make it smaller, or name more disks", false},
	{ReasonRAIDDisksTooFew, "There are not enough disks of one kind.", "ask for fewer disks, or less space", false},
	{ReasonSoftwareRAID, "The live image cannot make these volumes.", "correct softwareRAIDVolumes as the message says", true},
	{ReasonSettings, "BIOS settings cannot be changed through this BMC.", "remove the settings, and set them by hand", false},
	{ReasonSettingUnknown, "The machine has no setting of that name.", "use the name that is suggested, or one of HostFirmwareSettings status", false},
	{ReasonSettingLocked, "The setting cannot be changed, always or for now.", "change the setting that locks it as well, or remove this one", false},
	{ReasonSettingProtected, "Passwords and the TPM are not set through settings.", "remove the setting, and change it by hand", true},
	{ReasonSettingValue, "The setting does not take the value.", "use a value that is named", false},
	{ReasonSettingType, "The value has the wrong type.", "write numbers without quotes, and all else in quotes", false},
	{ReasonSettingUnreadable, "The setting cannot be read back, so that nobody can confirm it.", "remove the setting, and set it by hand", false},
	{ReasonSettingDependency, "Another setting decides the value.", "change one of the two settings", false},
	{ReasonSettingBootMode, "The setting contradicts spec.bootMode.", "remove the setting: Ironic sets the boot mode", true},
	{ReasonFirmwareSwitch, "Nobody carries out spec.firmware, and the machine differs from it.", "write the setting that is named into HostFirmwareSettings", false},
	{ReasonPending, "Changes of others wait at the BMC: they block ours, or would be applied with them.", "restart the machine or clear the job queue, then ask for a new probe", false},
	{ReasonUpdates, "The BMC does not fetch firmware images, or does not update the component.", "remove the update, and use the vendor's tool", false},
	{ReasonUpdateLicence, "The licence for firmware updates is missing.", "install the licence that is named, or remove the updates", false},
	{ReasonUpdateComponent, "Ironic does not update such a component.", "use bmc, bios, or nic: and an id", true},
	{ReasonUpdateScheme, "The image's address cannot be read, or the BMC does not fetch firmware by its scheme.", "serve the image by one of the schemes that are named", true},
	{ReasonUpdateSize, "The firmware image is larger than the BMC takes.", "use an image without what the BMC does not need", false},
	{ReasonUpdateVersion, "The image is older than the BMC lets in.", "use the version that is named, or later", false},
}
