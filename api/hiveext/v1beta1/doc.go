// Package v1beta1 holds AgentClusterInstall of extensions.hive.openshift.io, the
// part of a cluster that is about installing it with agents. Field names and
// enumerations are the contract of the existing service.
//
// +kubebuilder:object:generate=true
// +groupName=extensions.hive.openshift.io
package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Group is the API group of this package.
const Group = "extensions.hive.openshift.io"

var (
	// GroupVersion is the group and version of every kind of this package.
	GroupVersion = schema.GroupVersion{Group: Group, Version: "v1beta1"}

	schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme registers the kinds of this package.
	AddToScheme = schemeBuilder.AddToScheme
)

func addKnownTypes(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &AgentClusterInstall{}, &AgentClusterInstallList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
