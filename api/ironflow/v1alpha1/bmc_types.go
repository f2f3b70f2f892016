package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// BMC is what is known of the management controller of the BareMetalHost with the
// same name. All of it is status: what is wished for stands in the host.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Vendor",type=string,JSONPath=`.status.report.vendor`
// +kubebuilder:printcolumn:name="Model",type=string,JSONPath=`.status.report.model`
// +kubebuilder:printcolumn:name="BMC",type=string,JSONPath=`.status.report.bmcVersion`
// +kubebuilder:printcolumn:name="BIOS",type=string,JSONPath=`.status.report.biosVersion`,priority=1
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Healthy",type=string,JSONPath=`.status.conditions[?(@.type=="Healthy")].status`
// +kubebuilder:printcolumn:name="Preflight",type=string,JSONPath=`.status.conditions[?(@.type=="PreflightPassed")].status`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type BMC struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Status BMCStatus `json:"status,omitempty"`
}

// BMCList is a list of BMCs.
//
// +kubebuilder:object:root=true
type BMCList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []BMC `json:"items"`
}

// BMCStatus is what was seen of a BMC.
type BMCStatus struct {
	// Conditions follow kstatus: Ready is computed of the others.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// Report is the last one that could be made. It stays while the BMC is away.
	// +structType=atomic
	// +optional
	Report *BMCReport `json:"report,omitempty"`
	// Probed says what the last probe was made for, so that it is not made twice.
	// +optional
	Probed *Probed `json:"probed,omitempty"`
	// Preflight is the verdict on the host's wishes.
	// +optional
	Preflight *PreflightStatus `json:"preflight,omitempty"`
	// Health is the worst of each domain.
	// +listType=map
	// +listMapKey=domain
	// +optional
	Health []DomainHealth `json:"health,omitempty"`
}

// Probed says what a probe was made for.
type Probed struct {
	// Address is the BMC's address without credentials.
	Address string `json:"address"`
	// Request is the value of the annotation ironflow.io/probe that it answered.
	// +optional
	Request string `json:"request,omitempty"`
	// Firmware is a digest of the versions that Ironic knew then.
	// +optional
	Firmware string `json:"firmware,omitempty"`
	// Time is when it ended.
	Time metav1.Time `json:"time"`
}

// PreflightStatus is the verdict on wishes.
type PreflightStatus struct {
	// Wishes is a digest of what was checked. A host with other wishes waits for
	// another verdict.
	Wishes string `json:"wishes"`
	// Report is the time of the report that they were held against; none if there was none.
	// +optional
	Report *metav1.Time `json:"report,omitempty"`
	// Overridden says that the annotation ironflow.io/preflight-override lets the host go on.
	// +optional
	Overridden bool `json:"overridden,omitempty"`
	// Mismatches are the wishes that cannot work, in the order of their fields.
	// +listType=atomic
	// +optional
	Mismatches []Mismatch `json:"mismatches,omitempty"`
}

// Mismatch is a wish that the hardware cannot fulfil.
type Mismatch struct {
	// Kind is the kind of the object that holds the wish: BareMetalHost,
	// HostFirmwareSettings, HostFirmwareComponents.
	Kind string `json:"kind"`
	// Field is its path, as "spec.raid.hardwareRAIDVolumes[0].level".
	Field string `json:"field"`
	// Reason is one of the reasons of bmc/preflight, in CamelCase.
	Reason string `json:"reason"`
	// Message says what is wished for, what the hardware offers, and what to write instead.
	Message string `json:"message"`
}

// HealthState is how a part is.
//
// +kubebuilder:validation:Enum=OK;Warning;Critical;Unknown
type HealthState string

// The states, as Redfish has them; Unknown: the BMC is silent, or the host is off.
const (
	HealthOK       HealthState = "OK"
	HealthWarning  HealthState = "Warning"
	HealthCritical HealthState = "Critical"
	HealthUnknown  HealthState = "Unknown"
)

// DomainHealth is the worst of a domain's parts.
type DomainHealth struct {
	// Domain is Power, Cooling, Storage, Memory, Processor, Log or System.
	Domain string `json:"domain"`
	// State is the worst of its parts.
	State HealthState `json:"state"`
	// Message names the worst part and says what it shows; empty when OK.
	// +optional
	Message string `json:"message,omitempty"`
}
