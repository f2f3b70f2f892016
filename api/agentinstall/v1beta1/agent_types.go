package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Agent is one registered host: its name is the host's id in the hub, its
// namespace and owner are its InfraEnv's.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=agents
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".spec.clusterDeploymentName.name",description="the cluster that the host belongs to"
// +kubebuilder:printcolumn:name="Approved",type="boolean",JSONPath=".spec.approved",description="whether the host may be installed"
// +kubebuilder:printcolumn:name="Role",type="string",JSONPath=".status.role"
// +kubebuilder:printcolumn:name="Stage",type="string",JSONPath=".status.progress.currentStage",description="stage of the installation"
// +kubebuilder:printcolumn:name="State",type="string",JSONPath=".status.debugInfo.state"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Hostname",type="string",JSONPath=".status.inventory.hostname",description="the host's own name",priority=1
// +kubebuilder:printcolumn:name="Requested Hostname",type="string",JSONPath=".spec.hostname",description="the wanted name",priority=1
type Agent struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   AgentSpec   `json:"spec,omitempty"`
	Status AgentStatus `json:"status,omitempty"`
}

// AgentList is a list of Agents.
//
// +kubebuilder:object:root=true
type AgentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Agent `json:"items"`
}

// AgentSpec is what a person wants of the host.
// +kubebuilder:validation:XValidation:rule="!(has(self.installation_disk_id) && has(self.installation_disk_path) && size(self.installation_disk_id) > 0 && size(self.installation_disk_path) > 0)",message="set installation_disk_id or installation_disk_path, not both"
type AgentSpec struct {
	// ClusterDeploymentName binds the host to a cluster; absent means unbound.
	// +optional
	ClusterDeploymentName *ClusterReference `json:"clusterDeploymentName,omitempty"`
	// Role is auto-assign, master, arbiter or worker.
	Role string `json:"role"`
	// Hostname replaces the host's own name.
	// +optional
	Hostname string `json:"hostname,omitempty"`
	// MachineConfigPool of the installed node.
	// +optional
	MachineConfigPool string `json:"machineConfigPool,omitempty"`
	// Approved lets the host be installed.
	Approved bool `json:"approved"`
	// InstallationDiskID is the id (from the inventory) of the disk to install to.
	// +optional
	InstallationDiskID string `json:"installation_disk_id,omitempty"`
	// InstallationDiskPath is the older way to name the disk.
	// +optional
	InstallationDiskPath string `json:"installation_disk_path,omitempty"`
	// InstallerArgs is a JSON list of arguments for coreos-installer.
	// +optional
	InstallerArgs string `json:"installerArgs,omitempty"`
	// IgnitionConfigOverrides is Ignition JSON, merged last into the host's own.
	// +optional
	IgnitionConfigOverrides string `json:"ignitionConfigOverrides,omitempty"`
	// IgnitionEndpointTokenReference names the Secret with key ignition-token.
	// +optional
	IgnitionEndpointTokenReference *NamespacedReference `json:"ignitionEndpointTokenReference,omitempty"`
	// IgnitionEndpointHTTPHeaders are sent when the node fetches its Ignition.
	// +optional
	IgnitionEndpointHTTPHeaders map[string]string `json:"ignitionEndpointHTTPHeaders,omitempty"`
	// NodeLabels are put on the installed node.
	// +optional
	NodeLabels map[string]string `json:"nodeLabels,omitempty"`
	// FencingCredentialsSecretRef names the Secret with the BMC data for fencing.
	// +optional
	FencingCredentialsSecretRef string `json:"fencingCredentialsSecretRef,omitempty"`
}

// AgentStatus is a projection of the hub's record of the host.
type AgentStatus struct {
	// Bootstrap tells that the host runs the temporary control plane.
	// +optional
	Bootstrap bool `json:"bootstrap,omitempty"`
	// Role that the host has or would get.
	// +optional
	Role string `json:"role,omitempty"`
	// Inventory as the host reported it.
	// +optional
	Inventory HostInventory `json:"inventory,omitempty"`
	// Progress of the installation.
	// +optional
	Progress *HostProgressInfo `json:"progress,omitempty"`
	// NtpSources as the host sees them.
	// +optional
	NtpSources []HostNTPSource `json:"ntpSources,omitempty"`
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// DebugInfo helps people to look further.
	// +optional
	DebugInfo DebugInfo `json:"debugInfo,omitempty"`
	// ValidationsInfo holds the results of the hub's checks by category.
	// +optional
	ValidationsInfo map[string][]ValidationResult `json:"validationsInfo,omitempty"`
	// InstallationDiskID is the disk that will be, or was, installed to.
	// +optional
	InstallationDiskID string `json:"installation_disk_id,omitempty"`
	// Kind is Host, or AddToExistingClusterHost for a host added later.
	// +optional
	Kind string `json:"kind,omitempty"`
	// DeprovisionInfo tells which node has to be cleaned up after unbinding.
	// +optional
	DeprovisionInfo *AgentDeprovisionInfo `json:"deprovision_info,omitempty"`
	// CSRStatus lists the certificate requests approved for this host.
	// +optional
	CSRStatus *CSRStatus `json:"csrStatus,omitempty"`
}

// HostProgressInfo is the progress of an installation.
type HostProgressInfo struct {
	// CurrentStage by its protocol name, e.g. "Writing image to disk".
	// +optional
	CurrentStage string `json:"currentStage,omitempty"`
	// ProgressInfo is a detail of the stage, often a percentage.
	// +optional
	ProgressInfo string `json:"progressInfo,omitempty"`
	// InstallationPercentage of the whole installation, 0 to 100.
	// +optional
	InstallationPercentage int64 `json:"installationPercentage,omitempty"`
	// StageStartTime is when the stage began.
	// +optional
	StageStartTime *metav1.Time `json:"stageStartTime,omitempty"`
	// StageUpdateTime is when the stage was last reported.
	// +optional
	StageUpdateTime *metav1.Time `json:"stageUpdateTime,omitempty"`
	// ProgressStages are the stages of this host's role, in order.
	// +optional
	ProgressStages []string `json:"progressStages,omitempty"`
}

// HostNTPSource is one time source of the host.
type HostNTPSource struct {
	// +optional
	SourceName string `json:"sourceName,omitempty"`
	// +optional
	SourceState string `json:"sourceState,omitempty"`
}

// DebugInfo tells the hub's own state and where to look further.
type DebugInfo struct {
	// EventsURL lists the events of the host.
	// +optional
	EventsURL string `json:"eventsURL,omitempty"`
	// LogsURL is where collected logs are, once there are any.
	// +optional
	LogsURL string `json:"logsURL,omitempty"`
	// State is the host's status in the hub.
	// +optional
	State string `json:"state,omitempty"`
	// StateInfo is for people.
	// +optional
	StateInfo string `json:"stateInfo,omitempty"`
}

// ValidationResult is the outcome of one of the hub's checks.
type ValidationResult struct {
	ID string `json:"id"`
	// Status is success, failure, pending, error or disabled.
	Status  string `json:"status"`
	Message string `json:"message"`
}

// AgentDeprovisionInfo tells what remains to be cleaned up after unbinding.
type AgentDeprovisionInfo struct {
	// +optional
	ClusterName string `json:"cluster_name,omitempty"`
	// +optional
	ClusterNamespace string `json:"cluster_namespace,omitempty"`
	// +optional
	NodeName string `json:"node_name,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
}

// CSRStatus lists approved certificate requests.
type CSRStatus struct {
	// +optional
	ApprovedCSRs []CSRInfo `json:"approvedCSRs,omitempty"`
	// +optional
	LastApprovalAttempt *metav1.Time `json:"lastApprovalAttempt,omitempty"`
}

// CSRInfo is one approved certificate request.
type CSRInfo struct {
	Name string `json:"name"`
	// Type is client or serving.
	Type       string      `json:"type"`
	ApprovedAt metav1.Time `json:"approvedAt"`
}
