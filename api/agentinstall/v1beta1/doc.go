// Package v1beta1 holds the kinds of agent-install.openshift.io/v1beta1 that the
// hub serves: InfraEnv, Agent, NMStateConfig and AgentClassification.
//
// Field names, enumerations and defaults are the contract of the existing
// service, so that manifests written for it apply unchanged. The spec says what
// a person wants; every status is a projection of the hub's records and can be
// rebuilt from them at any time.
//
// +kubebuilder:object:generate=true
// +groupName=agent-install.openshift.io
package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Group is the API group of this package.
const Group = "agent-install.openshift.io"

var (
	// GroupVersion is the group and version of every kind of this package.
	GroupVersion = schema.GroupVersion{Group: Group, Version: "v1beta1"}

	schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme registers the kinds of this package.
	AddToScheme = schemeBuilder.AddToScheme
)

func addKnownTypes(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion,
		&InfraEnv{}, &InfraEnvList{},
		&Agent{}, &AgentList{},
		&NMStateConfig{}, &NMStateConfigList{},
		&AgentClassification{}, &AgentClassificationList{},
	)
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
