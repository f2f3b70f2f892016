package v1beta1

// AgentClusterInstallStatus is a projection of the hub's record of the cluster.
type AgentClusterInstallStatus struct {
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// ControlPlaneAgentsDiscovered counts hosts that could be control-plane hosts.
	// +optional
	ControlPlaneAgentsDiscovered int `json:"controlPlaneAgentsDiscovered,omitempty"`
	// ControlPlaneAgentsReady counts those that are approved and ready.
	// +optional
	ControlPlaneAgentsReady int `json:"controlPlaneAgentsReady,omitempty"`
	// +optional
	WorkerAgentsDiscovered int `json:"workerAgentsDiscovered,omitempty"`
	// +optional
	WorkerAgentsReady int `json:"workerAgentsReady,omitempty"`
	// ConnectivityMajorityGroups is JSON: per network, the hosts that reach each other.
	// +optional
	ConnectivityMajorityGroups string `json:"connectivityMajorityGroups,omitempty"`
	// MachineNetwork in use.
	// +optional
	MachineNetwork []MachineNetworkEntry `json:"machineNetwork,omitempty"`
	// DebugInfo tells the hub's own state and where to look further.
	// +optional
	DebugInfo DebugInfo `json:"debugInfo,omitempty"`
	// APIVIP is the older form of APIVIPs.
	// +optional
	APIVIP string `json:"apiVIP,omitempty"`
	// +kubebuilder:validation:MaxItems=2
	// +optional
	APIVIPs []string `json:"apiVIPs,omitempty"`
	// IngressVIP is the older form of IngressVIPs.
	// +optional
	IngressVIP string `json:"ingressVIP,omitempty"`
	// +kubebuilder:validation:MaxItems=2
	// +optional
	IngressVIPs []string `json:"ingressVIPs,omitempty"`
	// UserManagedNetworking in use.
	// +optional
	UserManagedNetworking *bool `json:"userManagedNetworking,omitempty"`
	// PlatformType in use.
	// +optional
	PlatformType PlatformType `json:"platformType,omitempty"`
	// Progress of the installation.
	// +optional
	Progress *ClusterProgressInfo `json:"progress,omitempty"`
	// ValidationsInfo holds the results of the hub's checks by category.
	// +optional
	ValidationsInfo map[string][]ValidationResult `json:"validationsInfo,omitempty"`
}

// ClusterProgressInfo is the progress of an installation.
type ClusterProgressInfo struct {
	// TotalPercentage from 0 to 100.
	TotalPercentage int64 `json:"totalPercentage"`
}

// DebugInfo tells the hub's own state and where to look further.
type DebugInfo struct {
	// EventsURL lists the events of the cluster.
	// +optional
	EventsURL string `json:"eventsURL,omitempty"`
	// LogsURL is where collected logs are, once there are any.
	// +optional
	LogsURL string `json:"logsURL,omitempty"`
	// State is the cluster's status in the hub.
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
