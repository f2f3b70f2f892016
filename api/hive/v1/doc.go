// Package v1 holds the parts of hive.openshift.io/v1 that the hub reads:
// ClusterDeployment and ClusterImageSet.
//
// They are not Hive's types. Fields that the hub does not read are kept in the
// stored object (the schema preserves unknown fields) but are absent here, so
// objects must be changed with patches, never with a whole update.
//
// +kubebuilder:object:generate=true
// +groupName=hive.openshift.io
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Group is the API group of this package.
const Group = "hive.openshift.io"

var (
	// GroupVersion is the group and version of every kind of this package.
	GroupVersion = schema.GroupVersion{Group: Group, Version: "v1"}

	schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme registers the kinds of this package.
	AddToScheme = schemeBuilder.AddToScheme
)

func addKnownTypes(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion,
		&ClusterDeployment{}, &ClusterDeploymentList{},
		&ClusterImageSet{}, &ClusterImageSetList{},
	)
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
