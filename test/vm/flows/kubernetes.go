package flows

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/test/vm/node"
)

// manifestsName is the ConfigMap with the manifests of a cluster.
const manifestsName = "manifests"

// CreateKubernetes writes a cluster of the source kubernetes at the site, with one host of
// the control plane and the pod of a user among its manifests.
func (w *World) CreateKubernetes(ctx context.Context, name string, site *node.Site) error {
	if err := w.create(ctx, &corev1.ConfigMap{ObjectMeta: meta(manifestsName), Data: map[string]string{"hello.yaml": site.Manifest()}}); err != nil {
		return err
	}
	return w.CreateCluster(ctx, name, 1, func(aci *hiveextv1.AgentClusterInstall) error {
		settings, err := json.Marshal(site.Settings())
		aci.Annotations = map[string]string{names.IgnitionSource: string(sources.Kubernetes), names.KubernetesSettings: string(settings)}
		aci.Spec.Networking = hiveextv1.Networking{
			NetworkType:    "None",
			MachineNetwork: []hiveextv1.MachineNetworkEntry{{CIDR: w.Network.Prefix().Masked().String()}},
			ClusterNetwork: []hiveextv1.ClusterNetworkEntry{{CIDR: node.PodNetwork, HostPrefix: 24}},
			ServiceNetwork: []string{"10.96.0.0/16"},
		}
		aci.Spec.ManifestsConfigMapRefs = []hiveextv1.ManifestsConfigMapReference{{Name: manifestsName}}
		return err
	})
}

// ForNode has the installed system say that it runs. It does not wait for the units that make
// it a node, as the target of all units does: on an emulated processor, fetching their programs
// takes longer than the installation.
func ForNode(word string) func(*metal3v1.BareMetalHost) {
	return func(h *metal3v1.BareMetalHost) {
		h.Annotations[names.BMACIgnitionOverrides] = ignitionOf(map[string]string{
			"say-installed.service": strings.Replace(fmt.Sprintf(installedUnit, word), "After=multi-user.target\n", "", 1),
		})
	}
}

// Kubeconfig is what the hub hands out of the cluster, where Hive looks for it.
func (w *World) Kubeconfig(ctx context.Context, name string) ([]byte, error) {
	secret := &corev1.Secret{}
	if err := w.Client.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: name + "-admin-kubeconfig"}, secret); err != nil {
		return nil, err
	}
	return secret.Data["kubeconfig"], nil
}
