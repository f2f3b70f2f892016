package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AgentClusterInstall is a request to install the cluster of a
// ClusterDeployment with agents.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=agentclusterinstalls,shortName=aci
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".spec.clusterDeploymentRef.name"
// +kubebuilder:printcolumn:name="State",type="string",JSONPath=".status.debugInfo.state"
// +kubebuilder:printcolumn:name="Progress",type="integer",JSONPath=".status.progress.totalPercentage"
// +kubebuilder:printcolumn:name="Reason",type="string",JSONPath=".status.conditions[?(@.type==\"RequirementsMet\")].reason"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
type AgentClusterInstall struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   AgentClusterInstallSpec   `json:"spec"`
	Status AgentClusterInstallStatus `json:"status,omitempty"`
}

// AgentClusterInstallList is a list of AgentClusterInstalls.
//
// +kubebuilder:object:root=true
type AgentClusterInstallList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AgentClusterInstall `json:"items"`
}

// AgentClusterInstallSpec is the wanted cluster.
type AgentClusterInstallSpec struct {
	// ImageSetRef names the ClusterImageSet with the release to install.
	// +optional
	ImageSetRef *ClusterImageSetReference `json:"imageSetRef,omitempty"`
	// ClusterDeploymentRef names the ClusterDeployment in the same namespace.
	ClusterDeploymentRef corev1.LocalObjectReference `json:"clusterDeploymentRef"`
	// ClusterMetadata is filled in when the cluster has its identity.
	// +optional
	ClusterMetadata *ClusterMetadata `json:"clusterMetadata,omitempty"`
	// ManifestsConfigMapRef is the older form of ManifestsConfigMapRefs.
	// +optional
	ManifestsConfigMapRef *corev1.LocalObjectReference `json:"manifestsConfigMapRef,omitempty"`
	// ManifestsConfigMapRefs name ConfigMaps with extra manifests.
	// +optional
	ManifestsConfigMapRefs []ManifestsConfigMapReference `json:"manifestsConfigMapRefs,omitempty"`
	// Networking of the cluster.
	Networking Networking `json:"networking"`
	// SSHPublicKey is put on every host.
	// +optional
	SSHPublicKey string `json:"sshPublicKey,omitempty"`
	// ProvisionRequirements say how many hosts the installation waits for.
	ProvisionRequirements ProvisionRequirements `json:"provisionRequirements"`
	// ControlPlane configures the pool of control-plane machines.
	// +optional
	ControlPlane *AgentMachinePool `json:"controlPlane,omitempty"`
	// Arbiter configures the pool of arbiter machines.
	// +optional
	Arbiter *AgentMachinePool `json:"arbiter,omitempty"`
	// Compute configures the pools of workers.
	// +optional
	Compute []AgentMachinePool `json:"compute,omitempty"`
	// APIVIP is the older form of APIVIPs.
	// +optional
	APIVIP string `json:"apiVIP,omitempty"`
	// APIVIPs are the virtual addresses of the API, at most one of each family.
	// +kubebuilder:validation:MaxItems=2
	// +optional
	APIVIPs []string `json:"apiVIPs,omitempty"`
	// IngressVIP is the older form of IngressVIPs.
	// +optional
	IngressVIP string `json:"ingressVIP,omitempty"`
	// IngressVIPs are the virtual addresses of ingress, at most one of each family.
	// +kubebuilder:validation:MaxItems=2
	// +optional
	IngressVIPs []string `json:"ingressVIPs,omitempty"`
	// HoldInstallation keeps a ready cluster from being installed.
	// +optional
	HoldInstallation bool `json:"holdInstallation,omitempty"`
	// IgnitionEndpoint tells where later hosts get their Ignition.
	// +optional
	IgnitionEndpoint *IgnitionEndpoint `json:"ignitionEndpoint,omitempty"`
	// DiskEncryption of the hosts.
	// +optional
	DiskEncryption *DiskEncryption `json:"diskEncryption,omitempty"`
	// Proxy of the cluster.
	// +optional
	Proxy *Proxy `json:"proxy,omitempty"`
	// PlatformType of the cluster.
	// +optional
	PlatformType PlatformType `json:"platformType,omitempty"`
	// ExternalPlatformSpec details platform External.
	// +optional
	ExternalPlatformSpec *ExternalPlatformSpec `json:"external,omitempty"`
	// MastersSchedulable lets workloads run on control-plane hosts.
	// +optional
	MastersSchedulable bool `json:"mastersSchedulable,omitempty"`
	// MirrorRegistryRef names the ConfigMap with registry mirrors.
	// +optional
	MirrorRegistryRef *MirrorRegistryReference `json:"mirrorRegistryRef,omitempty"`
	// LoadBalancer says who balances the API and ingress addresses.
	// +optional
	LoadBalancer *LoadBalancer `json:"loadBalancer,omitempty"`
	// NTPSources of the cluster's hosts.
	// +optional
	NTPSources []string `json:"ntpSources,omitempty"`
}

// PlatformType of a cluster.
// +kubebuilder:validation:Enum="";BareMetal;None;VSphere;Nutanix;External
type PlatformType string

// ClusterImageSetReference names a ClusterImageSet.
type ClusterImageSetReference struct {
	Name string `json:"name"`
}

// ManifestsConfigMapReference names a ConfigMap with manifests.
type ManifestsConfigMapReference struct {
	Name string `json:"name"`
}

// MirrorRegistryReference names a ConfigMap with registry mirrors.
type MirrorRegistryReference struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// ProvisionRequirements say how many hosts the installation waits for.
type ProvisionRequirements struct {
	// ControlPlaneAgents is the number of control-plane hosts: 1 for a single
	// node, else 3 to 5.
	ControlPlaneAgents int `json:"controlPlaneAgents"`
	// +kubebuilder:validation:Minimum=0
	// +optional
	ArbiterAgents int `json:"arbiterAgents,omitempty"`
	// +kubebuilder:validation:Minimum=0
	// +optional
	WorkerAgents int `json:"workerAgents,omitempty"`
}

// Total is the number of hosts that the installation waits for.
func (p ProvisionRequirements) Total() int {
	return p.ControlPlaneAgents + p.ArbiterAgents + p.WorkerAgents
}

// AgentMachinePool configures the machines of one pool.
type AgentMachinePool struct {
	// Hyperthreading is Enabled or Disabled.
	// +kubebuilder:validation:Enum="";Enabled;Disabled
	// +kubebuilder:default=Enabled
	// +optional
	Hyperthreading string `json:"hyperthreading,omitempty"`
	// Name of the pool: master, arbiter, worker.
	Name string `json:"name"`
}

// IgnitionEndpoint tells where later hosts get their Ignition.
type IgnitionEndpoint struct {
	// +optional
	Url string `json:"url,omitempty"`
	// +optional
	CaCertificateReference *CaCertificateReference `json:"caCertificateReference,omitempty"`
}

// CaCertificateReference names the Secret with the endpoint's certificate.
type CaCertificateReference struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// DiskEncryption says which hosts encrypt their disk, and how.
type DiskEncryption struct {
	// EnableOn lists roles.
	// +kubebuilder:validation:Enum=none;all;masters;arbiters;workers;"masters,arbiters";"masters,workers";"arbiters,workers";"masters,arbiters,workers"
	// +kubebuilder:default=none
	// +optional
	EnableOn *string `json:"enableOn,omitempty"`
	// Mode is tpmv2 or tang.
	// +kubebuilder:validation:Enum=tpmv2;tang
	// +optional
	Mode *string `json:"mode,omitempty"`
	// TangServers is a JSON list of url and thumbprint.
	// +optional
	TangServers string `json:"tangServers,omitempty"`
}

// Proxy of the cluster.
type Proxy struct {
	// +optional
	HTTPProxy string `json:"httpProxy,omitempty"`
	// +optional
	HTTPSProxy string `json:"httpsProxy,omitempty"`
	// NoProxy is a comma-separated list of names and networks reached directly.
	// +optional
	NoProxy string `json:"noProxy,omitempty"`
}

// ExternalPlatformSpec details platform External.
type ExternalPlatformSpec struct {
	// PlatformName of the provider; it can be set once.
	// +kubebuilder:default="Unknown"
	// +kubebuilder:validation:XValidation:rule="oldSelf == 'Unknown' || self == oldSelf",message="the platform name cannot change once it is set"
	// +optional
	PlatformName string `json:"platformName,omitempty"`
	// CloudControllerManager is External or empty.
	// +kubebuilder:validation:Enum="";External
	// +kubebuilder:default=""
	// +optional
	CloudControllerManager string `json:"cloudControllerManager,omitempty"`
}

// LoadBalancer says who balances the API and ingress addresses.
type LoadBalancer struct {
	// Type is ClusterManaged or UserManaged.
	// +kubebuilder:validation:Enum=ClusterManaged;UserManaged
	// +kubebuilder:default=ClusterManaged
	// +optional
	Type string `json:"type,omitempty"`
}

// ClusterMetadata is the identity of the installed cluster.
type ClusterMetadata struct {
	// ClusterID is the cluster's own id.
	ClusterID string `json:"clusterID"`
	// InfraID is the hub's id of the cluster.
	InfraID string `json:"infraID"`
	// AdminKubeconfigSecretRef names the Secret with the kubeconfig.
	AdminKubeconfigSecretRef corev1.LocalObjectReference `json:"adminKubeconfigSecretRef"`
	// +optional
	AdminPasswordSecretRef *corev1.LocalObjectReference `json:"adminPasswordSecretRef,omitempty"`
	// +optional
	MetadataJSONSecretRef *corev1.LocalObjectReference `json:"metadataJSONSecretRef,omitempty"`
	// Platform holds data of cloud platforms; the hub leaves it alone.
	// +optional
	Platform *ClusterPlatformMetadata `json:"platform,omitempty"`
}

// ClusterPlatformMetadata holds data of cloud platforms, which Hive reads.
type ClusterPlatformMetadata struct {
	// +optional
	AWS *AWSPlatformMetadata `json:"aws,omitempty"`
	// +optional
	Azure *AzurePlatformMetadata `json:"azure,omitempty"`
	// +optional
	GCP *GCPPlatformMetadata `json:"gcp,omitempty"`
}

// AWSPlatformMetadata is Hive's data of a cluster on AWS.
type AWSPlatformMetadata struct {
	// +optional
	HostedZoneRole *string `json:"hostedZoneRole,omitempty"`
}

// AzurePlatformMetadata is Hive's data of a cluster on Azure.
type AzurePlatformMetadata struct {
	ResourceGroupName *string `json:"resourceGroupName"`
}

// GCPPlatformMetadata is Hive's data of a cluster on GCP.
type GCPPlatformMetadata struct {
	// +optional
	NetworkProjectID *string `json:"networkProjectID,omitempty"`
}
