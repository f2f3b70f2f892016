package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ClusterImageSet names a release that clusters can be installed with.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=clusterimagesets,shortName=imgset,scope=Cluster
// +kubebuilder:printcolumn:name="Release",type="string",JSONPath=".spec.releaseImage"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
type ClusterImageSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ClusterImageSetSpec `json:"spec,omitempty"`
	// +optional
	Status ClusterImageSetStatus `json:"status,omitempty"`
}

// ClusterImageSetList is a list of ClusterImageSets.
//
// +kubebuilder:object:root=true
type ClusterImageSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterImageSet `json:"items"`
}

// ClusterImageSetSpec names the release.
type ClusterImageSetSpec struct {
	// ReleaseImage is the full reference of the release image.
	ReleaseImage string `json:"releaseImage"`
}

// ClusterImageSetStatus is empty; the subresource is part of the contract.
type ClusterImageSetStatus struct{}
