package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// InfraEnv is an environment that hosts boot into: the settings of their live
// image and the record that they register with.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=infraenvs
// +kubebuilder:printcolumn:name="Image",type="string",JSONPath=".status.conditions[?(@.type==\"ImageCreated\")].reason"
// +kubebuilder:printcolumn:name="ISO Created At",type="string",JSONPath=".status.createdTime",description="when the image last changed"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="ISO URL",type="string",JSONPath=".status.isoDownloadURL",description="where the image is served",priority=1
type InfraEnv struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   InfraEnvSpec   `json:"spec,omitempty"`
	Status InfraEnvStatus `json:"status,omitempty"`
}

// InfraEnvList is a list of InfraEnvs.
//
// +kubebuilder:object:root=true
type InfraEnvList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []InfraEnv `json:"items"`
}

// InfraEnvSpec is what a person wants of the environment.
//
// +kubebuilder:validation:XValidation:rule="has(self.clusterRef) == has(oldSelf.clusterRef) && (!has(self.clusterRef) || self.clusterRef == oldSelf.clusterRef)",message="clusterRef cannot change; create another InfraEnv for another cluster"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.cpuArchitecture) || (has(self.cpuArchitecture) && self.cpuArchitecture == oldSelf.cpuArchitecture)",message="cpuArchitecture cannot change; create another InfraEnv for another architecture"
type InfraEnvSpec struct {
	// Proxy is used by everything in the live image.
	// +optional
	Proxy *Proxy `json:"proxy,omitempty"`
	// AdditionalNTPSources are added to the image's own time sources.
	// +optional
	AdditionalNTPSources []string `json:"additionalNTPSources,omitempty"`
	// NTPSources replace the image's own time sources.
	// +optional
	NTPSources []string `json:"ntpSources,omitempty"`
	// SSHAuthorizedKey lets a person log in to the live image as user core.
	// +optional
	SSHAuthorizedKey string `json:"sshAuthorizedKey,omitempty"`
	// PullSecretRef names the Secret (key .dockerconfigjson) for image registries.
	PullSecretRef *corev1.LocalObjectReference `json:"pullSecretRef"`
	// AgentLabels are put on every Agent of this environment.
	// +optional
	AgentLabels map[string]string `json:"agentLabels,omitempty"`
	// AgentApproval says whether a new Agent starts approved.
	// +optional
	AgentApproval *AgentApproval `json:"agentApproval,omitempty"`
	// NMStateConfigLabelSelector selects the NMStateConfigs of this
	// environment's hosts; empty selects none.
	// +optional
	NMStateConfigLabelSelector metav1.LabelSelector `json:"nmStateConfigLabelSelector,omitempty"`
	// ClusterRef binds every host of this environment to one cluster; immutable.
	// +optional
	ClusterRef *ClusterReference `json:"clusterRef,omitempty"`
	// KernelArguments change the kernel command line of the live image.
	// +optional
	KernelArguments []KernelArgument `json:"kernelArguments,omitempty"`
	// IgnitionConfigOverride is Ignition JSON, merged last into the live image's.
	// +optional
	IgnitionConfigOverride string `json:"ignitionConfigOverride,omitempty"`
	// CpuArchitecture of the hosts, as uname names it; immutable.
	// +kubebuilder:default="x86_64"
	// +optional
	CpuArchitecture string `json:"cpuArchitecture,omitempty"`
	// OSImageVersion picks the base medium when no cluster does.
	// +optional
	OSImageVersion string `json:"osImageVersion,omitempty"`
	// ImageType is full-iso or minimal-iso; empty leaves it to the hub.
	// +optional
	ImageType string `json:"imageType,omitempty"`
	// IPXEScriptType decides whether the iPXE script always boots the live image.
	// +kubebuilder:validation:Enum="";DiscoveryImageAlways;BootOrderControl
	// +kubebuilder:default="DiscoveryImageAlways"
	// +optional
	IPXEScriptType IPXEScriptType `json:"ipxeScriptType,omitempty"`
	// AdditionalTrustBundle holds PEM certificates to be trusted by hosts.
	// +optional
	AdditionalTrustBundle string `json:"additionalTrustBundle,omitempty"`
	// MirrorRegistryRef names the ConfigMap with registry mirrors.
	// +optional
	MirrorRegistryRef *NamespacedReference `json:"mirrorRegistryRef,omitempty"`
	// NetworkDiscoveryDelaySeconds is how long a host waits for its NICs before
	// static network settings are applied.
	// +kubebuilder:validation:Minimum=0
	// +optional
	NetworkDiscoveryDelaySeconds *int64 `json:"networkDiscoveryDelaySeconds,omitempty"`
}

// InfraEnvStatus is a projection of the hub's record.
type InfraEnvStatus struct {
	// ISODownloadURL is where the image is served.
	// +optional
	ISODownloadURL string `json:"isoDownloadURL,omitempty"`
	// CreatedTime is when the image last changed.
	// +optional
	CreatedTime *metav1.Time `json:"createdTime,omitempty"`
	// Conditions of the environment; types ImageCreated and StaticNetworks.
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// AgentLabelSelector selects the Agents of this environment.
	// +optional
	AgentLabelSelector metav1.LabelSelector `json:"agentLabelSelector,omitempty"`
	// InfraEnvDebugInfo helps people to look further.
	// +optional
	InfraEnvDebugInfo InfraEnvDebugInfo `json:"debugInfo,omitempty"`
	// BootArtifacts are the parts for booting over the network.
	// +optional
	BootArtifacts BootArtifacts `json:"bootArtifacts,omitempty"`
}

// IPXEScriptType decides what the iPXE script does for an installed host.
type IPXEScriptType string

// The iPXE script types.
const (
	DiscoveryImageAlways IPXEScriptType = "DiscoveryImageAlways"
	BootOrderControl     IPXEScriptType = "BootOrderControl"
)

// Proxy holds the proxy settings of the live image.
type Proxy struct {
	// +optional
	HTTPProxy string `json:"httpProxy,omitempty"`
	// +optional
	HTTPSProxy string `json:"httpsProxy,omitempty"`
	// NoProxy is a comma-separated list of names and networks reached directly.
	// +optional
	NoProxy string `json:"noProxy,omitempty"`
}

// AgentApproval says how Agents of an environment are approved.
type AgentApproval struct {
	// AutoApprove makes new Agents start approved.
	// +kubebuilder:default=false
	// +optional
	AutoApprove bool `json:"autoApprove,omitempty"`
}

// ClusterReference names a ClusterDeployment.
type ClusterReference struct {
	// +optional
	Name string `json:"name,omitempty"`
	// +optional
	Namespace string `json:"namespace,omitempty"`
}

// NamespacedReference names an object in any namespace.
type NamespacedReference struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// KernelArgument is one change of the kernel command line.
type KernelArgument struct {
	// Operation is append, replace or delete.
	// +kubebuilder:validation:Enum=append;replace;delete
	// +optional
	Operation string `json:"operation,omitempty"`
	// Value is the argument; for replace KEY=OLD=NEW.
	// +kubebuilder:validation:Pattern=`^(?:(?:[^ \t\n\r"]+)|(?:"[^"]*"))+$`
	// +optional
	Value string `json:"value,omitempty"`
}

// InfraEnvDebugInfo holds addresses that help to look further.
type InfraEnvDebugInfo struct {
	// EventsURL lists the environment's events.
	// +optional
	EventsURL string `json:"eventsURL,omitempty"`
	// StaticNetworkDownloadURL is the rendered static network of its hosts.
	// +optional
	StaticNetworkDownloadURL string `json:"staticNetworkDownloadURL,omitempty"`
}

// BootArtifacts are addresses of the parts for booting over the network.
type BootArtifacts struct {
	// +optional
	InitrdURL string `json:"initrd,omitempty"`
	// +optional
	RootfsURL string `json:"rootfs,omitempty"`
	// +optional
	KernelURL string `json:"kernel,omitempty"`
	// +optional
	IpxeScriptURL string `json:"ipxeScript,omitempty"`
	// +optional
	DiscoveryIgnitionURL string `json:"discoveryIgnitionURL,omitempty"`
}
