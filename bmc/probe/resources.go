package probe

import (
	"encoding/json"
	"strings"

	"github.com/ironflow/ironflow/bmc/lenient"
)

// What is read of Redfish's resources (DMTF DSP0268), by their names there.

// texts is a list of texts that may be missing.
type texts = lenient.Optional[lenient.List[lenient.String]]

// stated is a text, and whether the property is there at all.
type stated struct {
	There bool
	Text  lenient.String
}

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (s *stated) UnmarshalJSON(raw []byte) error {
	s.There = true
	return s.Text.UnmarshalJSON(raw)
}

type serviceRoot struct {
	Vendor, Product, RedfishVersion               lenient.String
	Oem                                           lenient.Map[json.RawMessage]
	Systems, Managers, Chassis, Registries        lenient.Link
	SessionService, AccountService, UpdateService lenient.Link
	EventService, Tasks, JobService               lenient.Link
	LicenseService, CertificateService            lenient.Link
	Links                                         struct{ Sessions lenient.Link }
	ProtocolFeaturesSupported                     struct {
		ExpandQuery struct{ Levels lenient.Bool }
	}
}

type settings struct {
	SettingsObject      lenient.Link
	SupportedApplyTimes lenient.List[lenient.String]
}

type system struct {
	Type                                   lenient.String `json:"@odata.type"`
	SystemType                             lenient.String
	Manufacturer, Model, SKU, SerialNumber lenient.String
	BiosVersion                            lenient.String
	PowerState                             stated
	Boot                                   lenient.Optional[boot]
	BootProgress                           lenient.Optional[struct{ LastState lenient.String }]
	VirtualMedia, SecureBoot, Bios         lenient.Link
	Storage                                lenient.Link
	Settings                               settings `json:"@Redfish.Settings"`
	Links                                  lenient.Optional[systemLinks]
	Actions                                struct {
		Reset action `json:"#ComputerSystem.Reset"`
	}
	Oem struct{ Hpe, Hp systemOfHPE }
}

type systemLinks struct{ ManagedBy, Chassis lenient.List[lenient.Link] }

type systemOfHPE struct {
	PostState               lenient.String
	DeviceDiscoveryComplete struct{ DeviceDiscovery lenient.String }
}

type boot struct {
	Enabled       lenient.Present `json:"BootSourceOverrideEnabled"`
	EnabledValues texts           `json:"BootSourceOverrideEnabled@Redfish.AllowableValues"`
	Target        lenient.Present `json:"BootSourceOverrideTarget"`
	TargetValues  texts           `json:"BootSourceOverrideTarget@Redfish.AllowableValues"`
	BootOrder     texts
	BootOptions   lenient.Link
	HTTPBootURI   lenient.Present `json:"HttpBootUri"`
}

type action struct {
	Target    lenient.String `json:"target"`
	Info      lenient.Link   `json:"@Redfish.ActionInfo"`
	Protocols texts          `json:"TransferProtocolType@Redfish.AllowableValues"`
	// Transfer is what SimpleUpdate calls the same.
	Transfer texts `json:"TransferProtocol@Redfish.AllowableValues"`
}

type actionInfo struct {
	Parameters lenient.List[struct {
		Name            lenient.String
		AllowableValues lenient.List[lenient.String]
	}]
}

type console struct{ ServiceEnabled lenient.Bool }

type manager struct {
	Manufacturer, Model, FirmwareVersion          lenient.String
	DateTime                                      lenient.Time
	VirtualMedia, NetworkProtocol                 lenient.Link
	GraphicalConsole, SerialConsole, CommandShell console
	Links                                         struct {
		Oem struct{ Dell managerLinksOfDell }
	}
	Oem struct {
		Hpe, Hp    managerOfHPE
		Supermicro struct{ LicenseManager lenient.Link }
		OpenBmc    lenient.Present
	}
}

type managerLinksOfDell struct {
	Jobs     lenient.Link
	Licenses lenient.Link `json:"DellLicenseCollection"`
}

type managerOfHPE struct {
	License struct{ LicenseString lenient.String }
	Links   struct{ LicenseService lenient.Link }
}

type chassis struct{ Manufacturer lenient.String }

type slot struct {
	MediaTypes                   texts
	Image                        stated
	ConnectedVia, TransferMethod lenient.String
	Inserted                     lenient.Bool
	WriteProtected               lenient.Optional[lenient.Bool]
	VerifyCertificate            lenient.Present
	Actions                      struct {
		Insert action `json:"#VirtualMedia.InsertMedia"`
	}
}

type secureBoot struct {
	SecureBootEnable      lenient.Optional[lenient.Bool]
	SecureBootCurrentBoot lenient.String
	SecureBootMode        lenient.String
}

type bios struct {
	AttributeRegistry lenient.String
	Attributes        attributes
	Settings          lenient.Optional[settings] `json:"@Redfish.Settings"`
}

// attributes are BIOS settings, and whether the property is there at all.
type attributes struct {
	There  bool
	Values lenient.Map[json.RawMessage]
}

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (a *attributes) UnmarshalJSON(raw []byte) error {
	a.There = true
	return a.Values.UnmarshalJSON(raw)
}

type storage struct {
	ID                 lenient.String `json:"Id"`
	Name               lenient.String
	Controllers        lenient.Link
	StorageControllers lenient.List[controller]
	Drives             lenient.List[json.RawMessage]
	Volumes            lenient.Link
}

type controller struct {
	Name, Model        lenient.String
	Status             health
	SupportedRAIDTypes texts
}

type health struct {
	Health lenient.String
	State  lenient.String
}

// absent reports a place that holds nothing.
func (h health) absent() bool { return strings.EqualFold(string(h.State), "Absent") }

type drive struct {
	ID                        lenient.String `json:"Id"`
	Name, MediaType, Protocol lenient.String
	CapacityBytes             lenient.Int
	FailurePredicted          lenient.Bool
	Status                    health
	Oem                       struct {
		Dell struct {
			DellPhysicalDisk struct{ RaidStatus lenient.String }
		}
	}
}

type volume struct {
	ID                   lenient.String `json:"Id"`
	Status               health
	RAIDType, VolumeType lenient.String
	CapacityBytes        lenient.Int
	Links                struct{ Drives lenient.List[lenient.Link] }
}

type updateService struct {
	FirmwareInventory    lenient.Link
	HTTPPushURI          lenient.String `json:"HttpPushUri"`
	MultipartHTTPPushURI lenient.String `json:"MultipartHttpPushUri"`
	MaxImageSizeBytes    lenient.Int
	Actions              struct {
		SimpleUpdate action `json:"#UpdateService.SimpleUpdate"`
	}
}

type software struct {
	ID                     lenient.String `json:"Id"`
	Name, Version          lenient.String
	Updateable             lenient.Optional[lenient.Bool]
	LowestSupportedVersion lenient.String
}

type eventService struct {
	ServiceEnabled        lenient.Optional[lenient.Bool]
	Subscriptions         lenient.Link
	EventTypes            lenient.List[lenient.String] `json:"EventTypesForSubscription"`
	RegistryPrefixes      lenient.List[lenient.String]
	ResourceTypes         lenient.List[lenient.String]
	ServerSentEventURI    lenient.String `json:"ServerSentEventUri"`
	DeliveryRetryAttempts lenient.Int
}

type accountService struct {
	MinPasswordLength, MaxPasswordLength lenient.Int
	AccountLockoutThreshold              lenient.Optional[lenient.Int]
	AccountLockoutDuration               lenient.Optional[lenient.Int]
	Accounts                             lenient.Link
	Oem                                  struct {
		Hpe, Hp struct{ MinPasswordLength lenient.Int }
	}
}

type account struct {
	UserName               lenient.String
	PasswordChangeRequired lenient.Bool
}

type sessionService struct {
	SessionTimeout lenient.Int
	Sessions       lenient.Link
}

type networkProtocol struct {
	HTTPS struct{ Certificates lenient.Link }
}

type taskService struct{ Tasks lenient.Link }

type jobService struct{ Jobs lenient.Link }

// job is a job or a task.
type job struct {
	ID                  lenient.String `json:"Id"`
	Name                lenient.String
	JobState, TaskState lenient.String
}

type licenceService struct{ Licenses lenient.Link }

// licence takes the forms of the standard, of HPE and of Dell.
type licence struct {
	ID                 lenient.String `json:"Id"`
	Name, License      lenient.String
	LicenseDescription lenient.List[lenient.String]
	Status             health
}
