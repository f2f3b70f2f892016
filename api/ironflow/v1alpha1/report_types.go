package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// BMCReport is what a probe found out, with what proved it. It is the document
// of `ironflow bmc probe ADDRESS --output json` as well.
type BMCReport struct {
	// Address is the service's address, without credentials.
	Address string `json:"address"`
	// Time is when the probe ended, by our clock.
	Time metav1.Time `json:"time"`
	// Requests is how many requests it took.
	Requests int `json:"requests"`

	// Vendor is the vendor's common name: Dell, HPE, Lenovo, Supermicro, AMI,
	// NVIDIA, OpenBMC; else what the service says.
	// +optional
	Vendor string `json:"vendor,omitempty"`
	// +optional
	Model string `json:"model,omitempty"`
	// +optional
	SerialNumber string `json:"serialNumber,omitempty"`
	// ManagerModel is the kind of BMC, as "iDRAC9" or "iLO 5".
	// +optional
	ManagerModel string `json:"managerModel,omitempty"`
	// BMCVersion is the BMC's firmware, as dotted numbers where the vendor's form allows it.
	// +optional
	BMCVersion string `json:"bmcVersion,omitempty"`
	// +optional
	BIOSVersion string `json:"biosVersion,omitempty"`
	// +optional
	RedfishVersion string `json:"redfishVersion,omitempty"`
	// System and Manager are the paths of the resources that are the host's.
	// +optional
	System string `json:"system,omitempty"`
	// +optional
	Manager string `json:"manager,omitempty"`
	// PowerState is the system's at the time of the probe: sensors and storage are
	// empty on some BMCs while it is off.
	// +optional
	PowerState string `json:"powerState,omitempty"`

	// Capabilities are the rows of docs/bmc.md, in their order.
	// +listType=map
	// +listMapKey=name
	// +optional
	Capabilities []Capability `json:"capabilities,omitempty"`
	// Quirks are the rows of the quirk table that apply.
	// +listType=map
	// +listMapKey=id
	// +optional
	Quirks []AppliedQuirk `json:"quirks,omitempty"`

	// ClockSkewSeconds is the BMC's clock less ours; nil is not known.
	// +optional
	ClockSkewSeconds *int64 `json:"clockSkewSeconds,omitempty"`
	// +optional
	Certificate *Certificate `json:"certificate,omitempty"`
	// +optional
	Sessions *SessionUse `json:"sessions,omitempty"`
	// +optional
	Accounts *AccountPolicy `json:"accounts,omitempty"`
	// +optional
	BIOS *BIOSReport `json:"bios,omitempty"`
	// MediaProtocols are the schemes that a virtual medium may have; empty is not said.
	// +listType=set
	// +optional
	MediaProtocols []string `json:"mediaProtocols,omitempty"`
	// UpdateProtocols are the schemes that an image of SimpleUpdate may have; empty is not said.
	// +listType=set
	// +optional
	UpdateProtocols []string `json:"updateProtocols,omitempty"`
	// MaxImageBytes bounds a firmware image; 0 is not said.
	// +optional
	MaxImageBytes int64 `json:"maxImageBytes,omitempty"`
	// +listType=map
	// +listMapKey=id
	// +optional
	Storage []StorageReport `json:"storage,omitempty"`
	// +listType=atomic
	// +optional
	Firmware []FirmwareReport `json:"firmware,omitempty"`
	// Licences are the names of the licences that are installed and valid.
	// +listType=set
	// +optional
	Licences []string `json:"licences,omitempty"`
	// PendingJobs are jobs and pending settings that others have left at the BMC.
	// +listType=atomic
	// +optional
	PendingJobs []string `json:"pendingJobs,omitempty"`
	// Remarks say what could not be read, and why.
	// +listType=atomic
	// +optional
	Remarks []string `json:"remarks,omitempty"`
}

// CapabilityState is what is known of a capability.
//
// +kubebuilder:validation:Enum=Yes;No;Unknown
type CapabilityState string

// The states of a capability. Unknown never blocks anything.
const (
	Yes     CapabilityState = "Yes"
	No      CapabilityState = "No"
	Unknown CapabilityState = "Unknown"
)

// Capability is one thing that a BMC can do or not.
type Capability struct {
	// Name is a row of docs/bmc.md, as "VirtualMediaInsert".
	Name string `json:"name"`
	// State says whether it can.
	State CapabilityState `json:"state"`
	// Detail is a value that goes with it, as the list of schemes.
	// +optional
	Detail string `json:"detail,omitempty"`
	// Proof is the path and member that proved it, or why it is unknown.
	// +optional
	Proof string `json:"proof,omitempty"`
}

// AppliedQuirk is a row of the quirk table that applies to a BMC.
type AppliedQuirk struct {
	// ID is the row's name, as "dell-idrac10-slot-1".
	ID string `json:"id"`
	// Applied says that Ironflow does it by itself; else Advice is for a person.
	Applied bool `json:"applied"`
	// Effect is a word of the table's vocabulary.
	Effect string `json:"effect"`
	// Value is the effect's value, as "https" or "6.10.30.00".
	// +optional
	Value string `json:"value,omitempty"`
	// Advice says what to do.
	Advice string `json:"advice"`
}

// Certificate is the one that the BMC's web server shows.
type Certificate struct {
	// +optional
	Subject string `json:"subject,omitempty"`
	// +optional
	Issuer     string      `json:"issuer,omitempty"`
	NotBefore  metav1.Time `json:"notBefore"`
	NotAfter   metav1.Time `json:"notAfter"`
	SelfSigned bool        `json:"selfSigned"`
	// Names are the host names and addresses that it is for.
	// +listType=atomic
	// +optional
	Names []string `json:"names,omitempty"`
	// SHA256 is the digest of the certificate, in hexadecimal: a pin.
	SHA256 string `json:"sha256"`
	// Key is its kind and size, as "RSA 2048".
	Key string `json:"key"`
	// TLS is the version of the connection, as "TLS 1.3".
	TLS string `json:"tls"`
}

// SessionUse is how full the table of sessions is.
type SessionUse struct {
	// Open is how many there are, ours among them.
	Open int `json:"open"`
	// TimeoutSeconds is how long an unused one stays; 0 is not said. Some vendors count it in minutes.
	// +optional
	TimeoutSeconds int64 `json:"timeoutSeconds,omitempty"`
}

// AccountPolicy is what the BMC asks of passwords. Zero is not said.
type AccountPolicy struct {
	// Account is the path of the account that we use.
	// +optional
	Account string `json:"account,omitempty"`
	// +optional
	MinPasswordLength int `json:"minPasswordLength,omitempty"`
	// +optional
	MaxPasswordLength int `json:"maxPasswordLength,omitempty"`
	// LockoutThreshold is how many wrong attempts lock an account; nil is not said, 0 is never.
	// +optional
	LockoutThreshold *int64 `json:"lockoutThreshold,omitempty"`
	// +optional
	LockoutSeconds *int64 `json:"lockoutSeconds,omitempty"`
	// PasswordChangeRequired says that nothing else works until the password is changed.
	// +optional
	PasswordChangeRequired bool `json:"passwordChangeRequired,omitempty"`
}

// BIOSReport is what is known of the BIOS settings. The settings themselves and
// their registry are read when they are needed.
type BIOSReport struct {
	// Attributes is how many settings there are.
	Attributes int `json:"attributes"`
	// Registry is the name that the Bios gives its attribute registry.
	// +optional
	Registry string `json:"registry,omitempty"`
	// RegistryPath is where it was found; empty when it was not.
	// +optional
	RegistryPath string `json:"registryPath,omitempty"`
	// SettingsPath is the object for pending settings.
	// +optional
	SettingsPath string `json:"settingsPath,omitempty"`
	// ApplyTimes are those that it offers.
	// +listType=set
	// +optional
	ApplyTimes []string `json:"applyTimes,omitempty"`
	// Pending is how many settings wait for a restart.
	// +optional
	Pending int `json:"pending,omitempty"`
}

// StorageReport is a storage subsystem.
type StorageReport struct {
	ID string `json:"id"`
	// Name is its controller's name or model.
	// +optional
	Name string `json:"name,omitempty"`
	// Controllers is how many controllers it has.
	Controllers int `json:"controllers"`
	// RAIDTypes are those that the controller supports. Nil: not said. Empty: it makes no volumes.
	// +listType=atomic
	// +optional
	RAIDTypes *[]string `json:"raidTypes,omitempty"`
	// CreatesVolumes says whether volumes can be made through Redfish.
	CreatesVolumes CapabilityState `json:"createsVolumes"`
	// +listType=atomic
	// +optional
	Drives []DriveReport `json:"drives,omitempty"`
	// +listType=atomic
	// +optional
	Volumes []VolumeReport `json:"volumes,omitempty"`
}

// DriveReport is a drive behind a controller.
type DriveReport struct {
	ID string `json:"id"`
	// +optional
	Name string `json:"name,omitempty"`
	// CapacityBytes is 0 when it is not said.
	CapacityBytes int64 `json:"capacityBytes"`
	// MediaType is HDD, SSD or SMR.
	// +optional
	MediaType string `json:"mediaType,omitempty"`
	// Protocol is SAS, SATA, NVMe …
	// +optional
	Protocol string `json:"protocol,omitempty"`
	// +optional
	Health HealthState `json:"health,omitempty"`
	// Problem says why a volume cannot use it, as "predicted to fail", "foreign" or "not in RAID mode".
	// +optional
	Problem string `json:"problem,omitempty"`
}

// VolumeReport is a volume that exists.
type VolumeReport struct {
	ID string `json:"id"`
	// +optional
	RAIDType string `json:"raidType,omitempty"`
	// +optional
	CapacityBytes int64 `json:"capacityBytes,omitempty"`
	// Drives are the ids of its drives.
	// +listType=atomic
	// +optional
	Drives []string `json:"drives,omitempty"`
}

// FirmwareReport is an entry of the firmware inventory.
type FirmwareReport struct {
	ID string `json:"id"`
	// +optional
	Name string `json:"name,omitempty"`
	// +optional
	Version string `json:"version,omitempty"`
	// +optional
	Updateable *bool `json:"updateable,omitempty"`
	// +optional
	LowestSupportedVersion string `json:"lowestSupportedVersion,omitempty"`
}
