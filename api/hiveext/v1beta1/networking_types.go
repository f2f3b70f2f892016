package v1beta1

// Networking of a cluster.
type Networking struct {
	// MachineNetwork lists the networks that the hosts are on.
	// +optional
	MachineNetwork []MachineNetworkEntry `json:"machineNetwork,omitempty"`
	// ClusterNetwork lists the pools of pod addresses.
	// +optional
	ClusterNetwork []ClusterNetworkEntry `json:"clusterNetwork,omitempty"`
	// ServiceNetwork lists the networks of service addresses, in CIDR form.
	// +optional
	ServiceNetwork []string `json:"serviceNetwork,omitempty"`
	// NetworkType of the cluster; empty leaves it to the hub.
	// +kubebuilder:validation:Enum=OpenShiftSDN;OVNKubernetes;CiscoACI;Cilium;Calico;None
	// +optional
	NetworkType string `json:"networkType,omitempty"`
	// UserManagedNetworking means that nobody in the cluster manages the API
	// and ingress addresses.
	// +optional
	UserManagedNetworking *bool `json:"userManagedNetworking,omitempty"`
}

// MachineNetworkEntry is one network that hosts are on.
type MachineNetworkEntry struct {
	CIDR string `json:"cidr"`
}

// ClusterNetworkEntry is one pool of pod addresses.
type ClusterNetworkEntry struct {
	CIDR string `json:"cidr"`
	// HostPrefix is the prefix length of one host's share.
	// +optional
	HostPrefix int32 `json:"hostPrefix,omitempty"`
}
