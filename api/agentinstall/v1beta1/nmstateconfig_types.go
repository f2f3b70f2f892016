package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// NMStateConfig is the static network of one host, found by its MAC addresses.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=nmstateconfigs
// +kubebuilder:printcolumn:name="MAC",type="string",JSONPath=".spec.interfaces[0].macAddress"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
type NMStateConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec NMStateConfigSpec `json:"spec,omitempty"`
}

// NMStateConfigList is a list of NMStateConfigs.
//
// +kubebuilder:object:root=true
type NMStateConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NMStateConfig `json:"items"`
}

// NMStateConfigSpec holds the wanted network and whose it is.
type NMStateConfigSpec struct {
	// Interfaces maps MAC addresses to the interface names used in Config.
	// +kubebuilder:validation:MinItems=1
	// +optional
	Interfaces []NMStateInterface `json:"interfaces,omitempty"`
	// NetConfig is the network in nmstate's form.
	// +optional
	NetConfig NetConfig `json:"config,omitzero"`
}

// NMStateInterface names one network interface.
type NMStateInterface struct {
	// Name of the interface in the nmstate document.
	Name string `json:"name"`
	// MacAddress of the interface.
	// +kubebuilder:validation:Pattern=`^([0-9A-Fa-f]{2}[:]){5}([0-9A-Fa-f]{2})$`
	MacAddress string `json:"macAddress"`
}

// NetConfig is an nmstate document, kept as it is.
//
// +kubebuilder:pruning:PreserveUnknownFields
// +kubebuilder:validation:Type=object
type NetConfig struct {
	runtime.RawExtension `json:",inline"`
}
