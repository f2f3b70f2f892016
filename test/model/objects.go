package model

import (
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func objectMeta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "lab", Name: name}
}

// newHost is a host of a machine and the one Secret, without a wish.
func newHost(name, system string) *metal3.BareMetalHost {
	return &metal3.BareMetalHost{
		ObjectMeta: objectMeta(name),
		Spec: metal3.BareMetalHostSpec{
			Online: true, BootMACAddress: "52:54:00:00:00:0" + system,
			BMC: metal3.BMCDetails{Address: bmcHost + machineOne[:len(machineOne)-1] + system, CredentialsName: "bmc"},
		},
	}
}

// bmcHost is where the BMC of all machines is, and machineOne the first machine behind it.
const (
	bmcHost    = "redfish-virtualmedia://bmc.test"
	machineOne = "/redfish/v1/Systems/1"
)

// newSecret is a Secret that the BMC of every machine takes.
func newSecret(name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: objectMeta(name), Data: map[string][]byte{"username": []byte("admin"), "password": []byte("right")}}
}
