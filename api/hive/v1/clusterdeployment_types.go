package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterDeployment is a cluster that exists or shall exist.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=clusterdeployments,shortName=cd
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".spec.clusterName"
// +kubebuilder:printcolumn:name="Installed",type="boolean",JSONPath=".spec.installed"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
type ClusterDeployment struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ClusterDeploymentSpec `json:"spec,omitempty"`
	// +optional
	Status ClusterDeploymentStatus `json:"status,omitempty"`
}

// ClusterDeploymentList is a list of ClusterDeployments.
//
// +kubebuilder:object:root=true
type ClusterDeploymentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterDeployment `json:"items"`
}

// ClusterDeploymentSpec is the part of the cluster that the hub reads.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ClusterDeploymentSpec struct {
	// ClusterName is the cluster's name in DNS.
	ClusterName string `json:"clusterName"`
	// BaseDomain is the DNS domain that the cluster's name is put below.
	BaseDomain string `json:"baseDomain"`
	// Platform is required by the kind; the hub does not read it.
	Platform Platform `json:"platform"`
	// PullSecretRef names the Secret (key .dockerconfigjson) for image registries.
	// +optional
	PullSecretRef *corev1.LocalObjectReference `json:"pullSecretRef,omitempty"`
	// ClusterInstallRef names the AgentClusterInstall in the same namespace.
	// +optional
	ClusterInstallRef *ClusterInstallReference `json:"clusterInstallRef,omitempty"`
	// ClusterMetadata is filled in when the cluster has its identity.
	// +optional
	ClusterMetadata *ClusterMetadata `json:"clusterMetadata,omitempty"`
	// Installed tells that the cluster runs.
	// +optional
	Installed bool `json:"installed,omitempty"`
	// PreserveOnDelete keeps the hosts when the object is deleted.
	// +optional
	PreserveOnDelete bool `json:"preserveOnDelete,omitempty"`
}

// ClusterDeploymentStatus is written by Hive, not by the hub.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ClusterDeploymentStatus struct{}

// Platform of a cluster; only the name of the platform matters here.
//
// +kubebuilder:pruning:PreserveUnknownFields
type Platform struct {
	// +optional
	AgentBareMetal *AgentBareMetalPlatform `json:"agentBareMetal,omitempty"`
}

// AgentBareMetalPlatform is a cluster on hosts with agents.
type AgentBareMetalPlatform struct {
	// AgentSelector selects Agents; the hub does not read it.
	AgentSelector metav1.LabelSelector `json:"agentSelector"`
}

// ClusterInstallReference names an object that installs the cluster.
type ClusterInstallReference struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
	Name    string `json:"name"`
}

// ClusterMetadata is the identity of the installed cluster.
type ClusterMetadata struct {
	ClusterID string `json:"clusterID"`
	InfraID   string `json:"infraID"`
	// AdminKubeconfigSecretRef names the Secret with key kubeconfig.
	AdminKubeconfigSecretRef corev1.LocalObjectReference `json:"adminKubeconfigSecretRef"`
}
