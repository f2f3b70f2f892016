package host

import (
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/policy"
)

// noon is when tests without a clock of their own take place.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// Wishes for volumes.
var (
	mirror   = &metal3.RAIDConfig{HardwareRAIDVolumes: []metal3.HardwareRAIDVolume{{Level: "1", Name: "root"}}}
	noVolume = &metal3.RAIDConfig{HardwareRAIDVolumes: []metal3.HardwareRAIDVolume{}}
	softRAID = &metal3.RAIDConfig{SoftwareRAIDVolumes: []metal3.SoftwareRAIDVolume{{Level: "1"}}}
)

// labHost is a host in a phase.
func labHost(state policy.State) *metal3.BareMetalHost {
	updated := metav1.NewTime(noon.Add(-time.Hour))
	return &metal3.BareMetalHost{
		ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "a", UID: "uid-a", Generation: 1, Finalizers: []string{names.HostFinalizer}},
		Spec: metal3.BareMetalHostSpec{Online: true, BMC: metal3.BMCDetails{
			Address: "redfish-virtualmedia://bmc/redfish/v1/Systems/1", CredentialsName: "bmc",
		}},
		Status: metal3.BareMetalHostStatus{
			OperationalStatus: metal3.OperationalStatusOK, LastUpdated: &updated, PoweredOn: true,
			Provisioning: metal3.ProvisionStatus{State: state, ID: "node-a"},
		},
	}
}

// detached reports a host that Ironic does not manage.
func detached(h *metal3.BareMetalHost) bool {
	return h.Status.OperationalStatus == metal3.OperationalStatusDetached
}
