package probe

// The capabilities. [Capabilities] says what each means and what proves it.
const (
	Vendor                = "Vendor"
	Model                 = "Model"
	BMCVersion            = "BMCVersion"
	System                = "System"
	Manager               = "Manager"
	VirtualMedia          = "VirtualMedia"
	VirtualMediaCD        = "VirtualMediaCD"
	VirtualMediaProtocols = "VirtualMediaProtocols"
	VirtualMediaMethod    = "VirtualMediaMethod"
	VirtualMediaInsert    = "VirtualMediaInsert"
	BootOnce              = "BootOnce"
	BootOrder             = "BootOrder"
	HTTPBoot              = "HTTPBoot"
	SecureBoot            = "SecureBoot"
	BIOSSettings          = "BIOSSettings"
	BIOSRegistry          = "BIOSRegistry"
	RAID                  = "RAID"
	StorageDiscovered     = "StorageDiscovered"
	VolumeCreation        = "VolumeCreation"
	Drives                = "Drives"
	SimpleUpdate          = "SimpleUpdate"
	PushUpdate            = "PushUpdate"
	FirmwareInventory     = "FirmwareInventory"
	Events                = "Events"
	EventStream           = "EventStream"
	Tasks                 = "Tasks"
	Jobs                  = "Jobs"
	Certificates          = "Certificates"
	Accounts              = "Accounts"
	Sessions              = "Sessions"
	Licences              = "Licences"
	UpdateLicence         = "UpdateLicence"
	Clock                 = "Clock"
	BootProgress          = "BootProgress"
	IronicNeeds           = "IronicNeeds"
)

// Row describes a capability.
type Row struct {
	// Name is what reports call it.
	Name string
	// Text says what the BMC can do when it is Yes.
	Text string
	// Proof says what is looked at, and what it cannot prove.
	Proof string
}

// Capabilities are all capabilities, in the order of reports. docs/bmc.md has this
// table.
var Capabilities = []Row{
	{Vendor, "The vendor is known.", "Vendor, Product and Oem of the service root; else Manufacturer of system and chassis"},
	{Model, "Model and serial number are known.", "Model, SKU and SerialNumber of the system; the service tag of Dell is SKU"},
	{BMCVersion, "Kind and version of the BMC are known.", "Model and FirmwareVersion of the manager, in the vendor's form"},
	{System, "The system that is the host is known.", "the address; else the only system, else the one that has a boot override"},
	{Manager, "The manager that is the BMC is known.", "Links.ManagedBy of the system; else a manager with a console"},
	{VirtualMedia, "There are slots for virtual media.", "VirtualMedia of the system; of the manager when the system has no such link, as Ironic does"},
	{VirtualMediaCD, "A slot takes a CD image by URL.", "MediaTypes has CD or DVD, and there is InsertMedia or PATCH is allowed; without MediaTypes it stays unknown"},
	{VirtualMediaProtocols, "The schemes that an image's URL may have are known.", "TransferProtocolType of InsertMedia, or its ActionInfo; many vendors do not say"},
	{VirtualMediaMethod, "How the slot takes an image is known.", "TransferMethod, WriteProtected and ConnectedVia of the slot; null while it is empty on many"},
	{VirtualMediaInsert, "An image was accepted.", "a slot that holds an image now; nothing else proves it, as licences and reachability show only then"},
	{BootOnce, "The next boot alone can be from a CD.", "Boot.BootSourceOverrideEnabled takes Once, and the target takes Cd or UsbCd"},
	{BootOrder, "The lasting boot order can be read.", "Boot.BootOrder and BootOptions of the system"},
	{HTTPBoot, "The firmware can boot from a URL that the BMC is given.", "the target takes UefiHttp, and Boot or its settings object has HttpBootUri"},
	{SecureBoot, "Secure boot can be switched.", "SecureBootEnable of the system's SecureBoot"},
	{BIOSSettings, "BIOS settings can be read and changed.", "Attributes and @Redfish.Settings of the system's Bios"},
	{BIOSRegistry, "The BIOS settings are described.", "a registry with the name that Bios gives, whatever its version; else one that is called after the BIOS"},
	{RAID, "A controller makes volumes.", "SupportedRAIDTypes of the controllers; an empty list is No, a missing one Unknown"},
	{StorageDiscovered, "The list of storage is complete.", "DeviceDiscoveryComplete of HPE; a system that is on and past its self-test for others"},
	{VolumeCreation, "Volumes can be made through Redfish.", "POST in Allow of Volumes, or its capabilities object, at a controller that makes volumes"},
	{Drives, "Drives are there.", "Drives of each storage, of which one at least was looked at, but for bays that are Absent; those that were not read have their Id only"},
	{SimpleUpdate, "The BMC fetches a firmware image from a URL.", "SimpleUpdate of the update service"},
	{PushUpdate, "A firmware image can be sent to the BMC.", "MultipartHttpPushUri or HttpPushUri of the update service"},
	{FirmwareInventory, "Firmware is listed.", "FirmwareInventory of the update service"},
	{Events, "The BMC sends events to an address.", "ServiceEnabled and Subscriptions of the event service"},
	{EventStream, "Events can be fetched as a stream.", "ServerSentEventUri of the event service"},
	{Tasks, "Long work is shown as tasks.", "Tasks of the service root"},
	{Jobs, "There is a queue of jobs.", "JobService of the service root, or the jobs of Dell's manager"},
	{Certificates, "The BMC's certificate can be replaced.", "CertificateService of the service root, or HTTPS.Certificates of the manager"},
	{Accounts, "Accounts and the rules of passwords can be read.", "the account service"},
	{Sessions, "The table of sessions can be read.", "the session service and its members"},
	{Licences, "Installed licences are known.", "the licence service, or the vendor's own place for it"},
	{UpdateLicence, "The licence for firmware updates is there.", "SFT-OOB-LIC or SFT-DCMS-SINGLE on Supermicro; others do not say what they ask for"},
	{Clock, "The BMC's clock is known.", "DateTime of the manager, else the header Date"},
	{BootProgress, "The BMC shows how far a boot is.", "BootProgress of the system, PostState of HPE"},
	{IronicNeeds, "All that Ironic asks of a Redfish service is there.", "members of OpenStackIronicProfile v1.2.0: Boot, Links, PowerState and Reset of the system; Image and MediaTypes of virtual media"},
}
