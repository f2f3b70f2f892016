package demo

import (
	"context"
	"encoding/json"
	"fmt"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/api/names"
)

const (
	namespace = "demo"
	infraEnv  = "edge"
	pullName  = "pull-secret"
)

// machineSpec is what a user knows about a machine before it is registered.
type machineSpec struct {
	name, bmcAddress, bmcUser, bmcPassword, bootMAC, rootSerial string
}

// create writes what a user writes: the InfraEnv, and for each machine its BMC
// Secret, its cluster of one host, and the BareMetalHost.
func create(ctx context.Context, c client.Client, machines []machineSpec) error {
	objects := []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		&corev1.Secret{
			ObjectMeta: meta(pullName), Type: corev1.SecretTypeDockerConfigJson,
			Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(`{"auths":{}}`)},
		},
		&agentv1.InfraEnv{ObjectMeta: meta(infraEnv), Spec: agentv1.InfraEnvSpec{
			PullSecretRef: &corev1.LocalObjectReference{Name: pullName}, CpuArchitecture: "x86_64",
		}},
	}
	for _, m := range machines {
		objects = append(objects, cluster(m)...)
		objects = append(objects, bmcSecret(m), host(m))
	}
	for _, o := range objects {
		if err := c.Create(ctx, o); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create %T %s: %w", o, o.GetName(), err)
		}
	}
	return nil
}

func meta(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: namespace, Name: name} }

func bmcSecret(m machineSpec) client.Object {
	return &corev1.Secret{ObjectMeta: meta(m.name + "-bmc"), StringData: map[string]string{"username": m.bmcUser, "password": m.bmcPassword}}
}

func host(m machineSpec) client.Object {
	o := meta(m.name)
	o.Labels = map[string]string{names.InfraEnvLabel: infraEnv}
	o.Annotations = map[string]string{
		names.BMACRole:     "master",
		names.BMACHostname: m.name,
		names.BMACCluster:  namespace + "/" + m.name,
		// The demo gives the hosts back in the end, so they stay under management.
		names.BMACManage: "",
	}
	return &metal3v1.BareMetalHost{ObjectMeta: o, Spec: metal3v1.BareMetalHostSpec{
		Online:          true,
		BootMACAddress:  m.bootMAC,
		BootMode:        metal3v1.UEFI,
		RootDeviceHints: &metal3v1.RootDeviceHints{SerialNumber: m.rootSerial},
		BMC: metal3v1.BMCDetails{
			Address: m.bmcAddress, CredentialsName: m.name + "-bmc", DisableCertificateVerification: true,
		},
		AutomatedCleaningMode: metal3v1.CleaningModeMetadata,
	}}
}

// cluster is a cluster of this one host.
func cluster(m machineSpec) []client.Object {
	cd := &hivev1.ClusterDeployment{ObjectMeta: meta(m.name)}
	cd.Spec.ClusterName, cd.Spec.BaseDomain = m.name, "lab.example"
	cd.Spec.PullSecretRef = &corev1.LocalObjectReference{Name: pullName}
	cd.Spec.Platform.AgentBareMetal = &hivev1.AgentBareMetalPlatform{}
	cd.Spec.ClusterInstallRef = &hivev1.ClusterInstallReference{
		Group: "extensions.hive.openshift.io", Version: "v1beta1", Kind: "AgentClusterInstall", Name: m.name,
	}
	aci := &hiveextv1.AgentClusterInstall{ObjectMeta: meta(m.name)}
	aci.Spec.ClusterDeploymentRef.Name = m.name
	aci.Spec.ProvisionRequirements.ControlPlaneAgents = 1
	return []client.Object{cd, aci}
}

// annotate sets one annotation of a host.
func annotate(ctx context.Context, c client.Client, name, key, value string) error {
	return patchHost(ctx, c, name, map[string]any{"metadata": map[string]any{"annotations": map[string]any{key: value}}})
}

// giveBack asks for a host to be cleaned, and takes the InfraEnv label off, so that it is
// not installed again.
func giveBack(ctx context.Context, c client.Client, name string) error {
	return patchHost(ctx, c, name, map[string]any{"metadata": map[string]any{
		"annotations": map[string]any{names.GiveBack: name}, "labels": map[string]any{names.InfraEnvLabel: nil},
	}})
}

func patchHost(ctx context.Context, c client.Client, name string, patch map[string]any) error {
	raw, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	h := &metal3v1.BareMetalHost{ObjectMeta: meta(name)}
	if err := c.Patch(ctx, h, client.RawPatch("application/merge-patch+json", raw)); err != nil {
		return fmt.Errorf("change host %s: %w", name, err)
	}
	return nil
}
