// Package v1alpha1 holds Ironflow's own kinds. BMC is what is known of a host's
// management controller: what it is, what it can do, and what became of the work
// on it. It has the name of its BareMetalHost, which owns it.
//
// +kubebuilder:object:generate=true
// +groupName=ironflow.io
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Group is the API group of this package.
const Group = "ironflow.io"

var (
	// GroupVersion is the group and version of every kind of this package.
	GroupVersion = schema.GroupVersion{Group: Group, Version: "v1alpha1"}

	schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme registers the kinds of this package.
	AddToScheme = schemeBuilder.AddToScheme
)

func addKnownTypes(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &BMC{}, &BMCList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
