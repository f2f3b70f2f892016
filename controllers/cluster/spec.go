package cluster

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
)

// wish is a cluster as its objects describe it, on the way to what the hub takes.
type wish struct {
	aci  *hiveextv1.AgentClusterInstall
	cd   *hivev1.ClusterDeployment
	spec service.ClusterSpec
}

// read brings together what the hub is asked for. The spec's ID is there also with an error.
func (r *reconciler) read(ctx context.Context, aci *hiveextv1.AgentClusterInstall, cd *hivev1.ClusterDeployment) (*wish, error) {
	w := &wish{aci: aci, cd: cd, spec: service.ClusterSpec{ID: hubid.Cluster(cd)}}
	for _, read := range []func() error{w.refused, w.plain, w.networks, w.platform, w.pools, w.annotations} {
		if err := read(); err != nil {
			return w, err
		}
	}
	for _, read := range []func(context.Context, *wish) error{r.pullSecret, r.release, r.endpoint, r.manifests, r.ignitionFiles} {
		if err := read(ctx, w); err != nil {
			return w, err
		}
	}
	return w, nil
}

// wrong is the error of a setting that cannot be taken.
func wrong(format string, args ...any) error {
	return reconcile.Stall(hiveextv1.ReasonInputError, "%w", fmt.Errorf(format, args...))
}

// refused names the settings that nothing would be done with.
func (w *wish) refused() error {
	for _, f := range fields {
		if f.refused == "" || !f.asked(w) {
			continue
		}
		path := f.path
		if strings.HasSuffix(path, "*}") {
			path = annotation(unknownAnnotations(w.aci)[0])
		}
		return wrong("%s %s is refused: %s", f.kind, path, f.refused)
	}
	return nil
}

// plain are the settings that are taken as they are.
func (w *wish) plain() error {
	in, s := &w.aci.Spec, &w.spec
	s.Name, s.BaseDomain, s.SSHKey = w.cd.Spec.ClusterName, w.cd.Spec.BaseDomain, in.SSHPublicKey
	s.Masters = in.ProvisionRequirements.ControlPlaneAgents
	s.Arbiters, s.Workers = in.ProvisionRequirements.ArbiterAgents, in.ProvisionRequirements.WorkerAgents
	s.Hold, s.SchedulableMasters = in.HoldInstallation, in.MastersSchedulable
	s.NTPSources, s.Tags = strings.Join(in.NTPSources, ","), w.aci.Labels[names.ClusterConsumerLabel]
	s.Was = cmp.Or(w.aci.Status.DebugInfo.State, w.aci.Annotations[names.ClusterState])
	s.Arrived = w.aci.Status.DebugInfo.State == "" && s.Was != ""
	s.Imported = w.cd.Spec.Installed && !w.madeByAHub()
	if w.cd.Spec.Installed && s.Was == "" {
		s.Was = wire.ClusterStatusAddingHosts // it takes more hosts, and is not installed again
	}
	if p := in.Proxy; p != nil {
		s.HTTPProxy, s.HTTPSProxy, s.NoProxy = p.HTTPProxy, p.HTTPSProxy, p.NoProxy
	}
	if e := in.DiskEncryption; e != nil {
		on, mode := wire.DiskEncryptionEnableOnNone, wire.DiskEncryptionModeTpmv2
		if e.EnableOn != nil {
			on = *e.EnableOn
		}
		if e.Mode != nil {
			mode = *e.Mode
		}
		s.DiskEncryption = &wire.DiskEncryption{EnableOn: &on, Mode: &mode, TangServers: e.TangServers}
	}
	return nil
}

// madeByAHub tells that a hub has made the cluster, this one or the one that it was moved from: it has written who the
// cluster is. Hive waits for that before it calls such a cluster installed.
func (w *wish) madeByAHub() bool {
	own := w.aci.Spec.ClusterMetadata
	return own != nil && own.InfraID != ""
}

// networks are the cluster's networks and addresses.
func (w *wish) networks() (err error) {
	in, s := &w.aci.Spec, &w.spec
	for _, n := range in.Networking.MachineNetwork {
		s.MachineNetworks = append(s.MachineNetworks, n.CIDR)
	}
	for _, n := range in.Networking.ClusterNetwork {
		share := int64(n.HostPrefix)
		if share == 0 {
			share = hostPrefix(n.CIDR)
		}
		s.ClusterNetworks = append(s.ClusterNetworks, wire.ClusterNetwork{CIDR: wire.Subnet(n.CIDR), HostPrefix: share})
	}
	s.ServiceNetworks, s.NetworkType = in.Networking.ServiceNetwork, in.Networking.NetworkType
	if s.APIVIPs, err = addresses("apiVIP", in.APIVIP, in.APIVIPs); err != nil {
		return err
	}
	s.IngressVIPs, err = addresses("ingressVIP", in.IngressVIP, in.IngressVIPs)
	return err
}

// hostPrefix is the share of a host in a cluster network that does not say it.
func hostPrefix(cidr string) int64 {
	if strings.Contains(cidr, ":") {
		return 64
	}
	return 23
}

// addresses are those of the list, or the one of the older form.
func addresses(member, one string, list []string) ([]string, error) {
	switch {
	case one == "":
		return list, nil
	case len(list) == 0:
		return []string{one}, nil
	case list[0] != one:
		return nil, wrong("spec.%s is %s, and spec.%ss begins with %s: take spec.%s away", member, one, member, list[0], member)
	}
	return list, nil
}

var platforms = map[hiveextv1.PlatformType]wire.PlatformType{
	"BareMetal": wire.PlatformTypeBaremetal, "None": wire.PlatformTypeNone, "VSphere": wire.PlatformTypeVsphere,
	"Nutanix": wire.PlatformTypeNutanix, "External": wire.PlatformTypeExternal,
}

// platform is where the cluster is, and who sees to its addresses.
func (w *wish) platform() error {
	in, s := &w.aci.Spec, &w.spec
	if in.PlatformType != "" {
		kind, known := platforms[in.PlatformType]
		if !known {
			return wrong("spec.platformType %.40q: the hub knows no such platform", in.PlatformType)
		}
		s.Platform = &wire.Platform{Type: kind}
	}
	if e := in.ExternalPlatformSpec; e != nil {
		if in.PlatformType != "External" {
			return wrong("spec.external is of spec.platformType External; take it away, or set that")
		}
		s.Platform.External = &wire.PlatformExternal{PlatformName: &e.PlatformName, CloudControllerManager: &e.CloudControllerManager}
	}
	if b := in.LoadBalancer; b != nil {
		kind := map[string]string{"": wire.LoadBalancerTypeClusterManaged, "ClusterManaged": wire.LoadBalancerTypeClusterManaged, "UserManaged": wire.LoadBalancerTypeUserManaged}[b.Type]
		if kind == "" {
			return wrong("spec.loadBalancer.type %.40q: want ClusterManaged or UserManaged", b.Type)
		}
		s.LoadBalancer = &wire.LoadBalancer{Type: kind}
	}
	s.UserManagedNetworking = in.Networking.UserManagedNetworking
	return nil
}

// pools say which roles use hyperthreading.
func (w *wish) pools() error {
	in := &w.aci.Spec
	type pool struct {
		path, name string
		given      *hiveextv1.AgentMachinePool
	}
	all := []pool{{"spec.controlPlane", "master", in.ControlPlane}, {"spec.arbiter", "arbiter", in.Arbiter}}
	for i := range in.Compute {
		all = append(all, pool{fmt.Sprintf("spec.compute[%d]", i), "worker", &in.Compute[i]})
	}
	off := map[string]bool{}
	for _, p := range all {
		if p.given == nil {
			continue
		}
		if p.given.Name != p.name {
			return wrong("%s.name %.40q: the hub has one pool of these machines, %s", p.path, p.given.Name, p.name)
		}
		off[p.name] = off[p.name] || p.given.Hyperthreading == "Disabled"
	}
	var on []string
	for _, name := range []string{"master", "arbiter", "worker"} {
		if !off[name] {
			on = append(on, name+"s")
		}
	}
	switch len(on) {
	case 0:
		w.spec.Hyperthreading = wire.ClusterHyperthreadingNone
	case len([]string{"master", "arbiter", "worker"}):
		w.spec.Hyperthreading = wire.ClusterHyperthreadingAll
	default:
		w.spec.Hyperthreading = strings.Join(on, ",")
	}
	return nil
}

// pullSecret is the one of the ClusterDeployment.
func (r *reconciler) pullSecret(ctx context.Context, w *wish) error {
	ref := w.cd.Spec.PullSecretRef
	if ref == nil || ref.Name == "" {
		return nil
	}
	secret, found, err := r.secrets.Get(ctx, types.NamespacedName{Namespace: w.cd.Namespace, Name: ref.Name})
	switch {
	case err != nil:
		return err
	case !found:
		return reconcile.WaitFor(lookAgain, "pull secret %s/%s of ClusterDeployment %s to be created", w.cd.Namespace, ref.Name, w.cd.Name)
	case len(secret.Data[corev1.DockerConfigJsonKey]) == 0:
		return wrong("pull secret %s/%s of ClusterDeployment %s has no key %s: make it of type %s",
			w.cd.Namespace, ref.Name, w.cd.Name, corev1.DockerConfigJsonKey, corev1.SecretTypeDockerConfigJson)
	}
	w.spec.PullSecret = string(secret.Data[corev1.DockerConfigJsonKey])
	return nil
}

// endpoint is where hosts that join later have their Ignition from.
func (r *reconciler) endpoint(ctx context.Context, w *wish) error {
	e := w.aci.Spec.IgnitionEndpoint
	if e == nil {
		return nil
	}
	w.spec.IgnitionEndpoint = &wire.IgnitionEndpoint{URL: &e.Url}
	ref := e.CaCertificateReference
	switch {
	case ref == nil:
		return nil
	case ref.Name == "" || ref.Namespace == "":
		return wrong("AgentClusterInstall spec.ignitionEndpoint.caCertificateReference: want the name and the namespace of a Secret, or no reference")
	}
	secret, found, err := r.secrets.Get(ctx, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name})
	switch {
	case err != nil:
		return err
	case !found:
		return reconcile.WaitFor(lookAgain, "Secret %s/%s of spec.ignitionEndpoint.caCertificateReference to be created", ref.Namespace, ref.Name)
	case len(secret.Data[corev1.TLSCertKey]) == 0:
		return wrong("Secret %s/%s of spec.ignitionEndpoint.caCertificateReference has no key %s", ref.Namespace, ref.Name, corev1.TLSCertKey)
	}
	w.spec.IgnitionEndpoint.CaCertificate = new(base64.StdEncoding.EncodeToString(secret.Data[corev1.TLSCertKey]))
	return nil
}
