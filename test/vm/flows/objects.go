package flows

import (
	"context"
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

// Namespace holds all objects of a world's user; InfraEnv is the one InfraEnv in it.
const (
	Namespace = "machines"
	InfraEnv  = "edge"
	pullName  = "pull-secret"
)

func meta(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: Namespace, Name: name} }

// create writes objects; those that exist stay.
func (w *World) create(ctx context.Context, objects ...client.Object) error {
	for _, o := range objects {
		if err := w.Client.Create(ctx, o); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create %T %s: %w", o, o.GetName(), err)
		}
	}
	return nil
}

// CreateInfraEnv writes the InfraEnv. Its live systems copy their journal to the
// serial console, so that a failed one can be read, and take commands there.
func (w *World) CreateInfraEnv(ctx context.Context) error {
	return w.create(ctx,
		&corev1.Secret{
			ObjectMeta: meta(pullName), Type: corev1.SecretTypeDockerConfigJson,
			Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(`{"auths":{}}`)},
		},
		&agentv1.InfraEnv{ObjectMeta: meta(InfraEnv), Spec: agentv1.InfraEnvSpec{
			PullSecretRef: &corev1.LocalObjectReference{Name: pullName}, CpuArchitecture: "x86_64",
			KernelArguments: []agentv1.KernelArgument{
				{Operation: "append", Value: "console=ttyS0"}, // CoreOS media have none
				{Operation: "append", Value: "systemd.journald.forward_to_console=1"},
			},
			IgnitionConfigOverride: ignitionWith("console-shell.service", consoleShell),
		}})
}

// CreateCluster writes a cluster with that many hosts of the control plane, and the
// changes to its AgentClusterInstall.
func (w *World) CreateCluster(ctx context.Context, name string, hosts int, changes ...func(*hiveextv1.AgentClusterInstall) error) error {
	cd := &hivev1.ClusterDeployment{ObjectMeta: meta(name)}
	cd.Spec.ClusterName, cd.Spec.BaseDomain = name, "lab.example"
	cd.Spec.PullSecretRef = &corev1.LocalObjectReference{Name: pullName}
	cd.Spec.Platform.AgentBareMetal = &hivev1.AgentBareMetalPlatform{}
	cd.Spec.ClusterInstallRef = &hivev1.ClusterInstallReference{
		Group: "extensions.hive.openshift.io", Version: "v1beta1", Kind: "AgentClusterInstall", Name: name,
	}
	aci := &hiveextv1.AgentClusterInstall{ObjectMeta: meta(name)}
	aci.Spec.ClusterDeploymentRef.Name = name
	aci.Spec.ProvisionRequirements.ControlPlaneAgents = hosts
	for _, change := range changes {
		if err := change(aci); err != nil {
			return err
		}
	}
	return w.create(ctx, cd, aci)
}

func (h *Host) bmcSecret() client.Object {
	bmc := h.world.Lab.Emulator
	return &corev1.Secret{ObjectMeta: meta(h.Name + "-bmc"), StringData: map[string]string{"username": bmc.User, "password": bmc.Password}}
}

// bareMetalHost is what a user writes who knows the BMC, the card that boots, and
// the disk that is meant.
func (h *Host) bareMetalHost() *metal3v1.BareMetalHost {
	return &metal3v1.BareMetalHost{ObjectMeta: meta(h.Name), Spec: metal3v1.BareMetalHostSpec{
		Online:          true,
		BootMACAddress:  h.Config.NICs[0].MAC,
		BootMode:        metal3v1.UEFI,
		RootDeviceHints: &metal3v1.RootDeviceHints{SerialNumber: h.Config.Disks[0].Serial},
		BMC: metal3v1.BMCDetails{
			Address: h.world.Lab.Emulator.Address(h.UUID), CredentialsName: h.Name + "-bmc", DisableCertificateVerification: true,
		},
		AutomatedCleaningMode: metal3v1.CleaningModeMetadata,
	}}
}

// ForCluster makes the host a part of an assisted installation.
func ForCluster(cluster, role string) func(*metal3v1.BareMetalHost) {
	return func(h *metal3v1.BareMetalHost) {
		h.Labels = map[string]string{names.InfraEnvLabel: InfraEnv}
		h.Annotations = map[string]string{
			names.BMACRole: role, names.BMACHostname: h.Name, names.BMACCluster: Namespace + "/" + cluster,
			// The flow gives the host back in the end, so it stays under management.
			names.BMACManage: "",
		}
	}
}
