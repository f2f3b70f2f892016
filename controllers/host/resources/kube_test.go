package resources

import (
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/ironflow/ironflow/api/names"
)

// newKube is a fake API for objects of hosts.
func newKube(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{metal3.AddToScheme, clientgoscheme.AddToScheme} {
		NewWithT(t).Expect(add(scheme)).To(Succeed())
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithIndex(&corev1.Secret{}, HeldIndex, IndexHeld).WithIndex(&metal3.BareMetalHost{}, NamedIndex, IndexNamed).Build()
}

// labHost is a host in a phase.
func labHost(state metal3.ProvisioningState) *metal3.BareMetalHost {
	return &metal3.BareMetalHost{
		ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "a", UID: "uid-a", Generation: 1, Finalizers: []string{names.HostFinalizer}},
		Spec: metal3.BareMetalHostSpec{Online: true, BMC: metal3.BMCDetails{
			Address: "redfish-virtualmedia://bmc/redfish/v1/Systems/1", CredentialsName: "bmc",
		}},
		Status: metal3.BareMetalHostStatus{Provisioning: metal3.ProvisionStatus{State: state, ID: "node-a"}},
	}
}
