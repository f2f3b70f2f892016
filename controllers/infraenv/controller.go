// Package infraenv registers InfraEnv resources in the hub and tells what became
// of them. Live images are built per host by package image; here the
// environment itself gets its record, which agents register in.
package infraenv

import (
	"context"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/controllers/mirrors"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/controllers/secretcache"
	"github.com/ironflow/ironflow/hub/input"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/imagecustomization/network"
)

// lookAgain is when a dependency that has no watch is looked at again.
const lookAgain = 10 * time.Second

// Hub is the part of the hub that is used here; *service.Hub implements it.
type Hub interface {
	EnsureInfraEnv(ctx context.Context, spec service.InfraEnvSpec) (wire.InfraEnv, error)
	DeleteInfraEnv(ctx context.Context, id string) error
	ImageURLs(ctx context.Context, id string) (service.ImageURLs, error)
	// ImageToken opens the environment's image and what else the hub serves of it.
	ImageToken(ctx context.Context, id string) (string, error)
}

type reconciler struct {
	reconcile.Reconciler[*agentv1.InfraEnv]
	hub     Hub
	secrets secretcache.Reader
	// publicURL is how clients reach the hub.
	publicURL string
	live      LiveSystem
}

// LiveSystem says what is known of the live system of an architecture and version, which
// does what of a network we cannot translate.
type LiveSystem func(ctx context.Context, arch, version string) network.Live

func newReconciler(c client.Client, hub Hub, publicURL string, live LiveSystem) *reconciler {
	r := &reconciler{hub: hub, secrets: secretcache.Reader{Client: c, Live: c}, publicURL: publicURL, live: live}
	r.Reconciler = reconcile.Reconciler[*agentv1.InfraEnv]{
		Client:    c,
		New:       func() *agentv1.InfraEnv { return &agentv1.InfraEnv{} },
		Finalizer: names.InfraEnvFinalizer,
		Steps:     []reconcile.Step[*agentv1.InfraEnv]{r.register},
		Delete:    r.deregister,
		Summarise: summarise,
	}
	return r
}

// Setup registers the controller with the manager. Clients reach the hub at publicURL. The
// channel tells that base images are others than before, of which live knows; nil for never.
func Setup(mgr ctrl.Manager, hub Hub, publicURL string, live LiveSystem, bases <-chan struct{}) error {
	r := newReconciler(mgr.GetClient(), hub, publicURL, live)
	r.secrets.Live = mgr.GetAPIReader()
	b := ctrl.NewControllerManagedBy(mgr).
		Named("infraenv").
		For(&agentv1.InfraEnv{}).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.envsOfSecret)).
		WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.envsOfSecret), builder.WithPredicates(secretcache.Unlabelled)).
		WatchesMetadata(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(r.envsOfMirrors)).
		Watches(&hivev1.ClusterDeployment{}, handler.EnqueueRequestsFromMapFunc(r.envsOfDeployment)).
		// Its status tells when the cluster has its record in the hub.
		Watches(&hiveextv1.AgentClusterInstall{}, handler.EnqueueRequestsFromMapFunc(r.envsOfInstall)).
		// The static networks of its hosts.
		Watches(&agentv1.NMStateConfig{}, handler.EnqueueRequestsFromMapFunc(r.envsOfNetwork)).
		// The last Agent that goes lets a deleted InfraEnv go.
		Watches(&agentv1.Agent{}, handler.EnqueueRequestsFromMapFunc(envOfAgent), builder.WithPredicates(deletions))
	if bases != nil {
		b = b.WatchesRawSource(r.followBases(bases))
	}
	return b.Complete(r)
}

// +kubebuilder:rbac:groups=agent-install.openshift.io,resources=infraenvs,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=agent-install.openshift.io,resources=infraenvs/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=agent-install.openshift.io,resources=agents;nmstateconfigs,verbs=get;list;watch
// +kubebuilder:rbac:groups=hive.openshift.io,resources=clusterdeployments,verbs=get;list;watch
// +kubebuilder:rbac:groups=extensions.hive.openshift.io,resources=agentclusterinstalls,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;patch

// register brings the hub's record up to date.
func (r *reconciler) register(ctx context.Context, env *agentv1.InfraEnv) error {
	spec, err := r.spec(ctx, env)
	if err != nil {
		return err
	}
	networks, refused, err := r.networks(ctx, env)
	if err != nil {
		return err
	}
	spec.StaticNetworks = networks
	if _, err := r.hub.EnsureInfraEnv(ctx, spec); err != nil {
		return hubError(err)
	}
	r.showImage(ctx, env, spec.ID)
	r.showAddresses(ctx, env, spec.ID, len(networks))
	env.Status.AgentLabelSelector = metav1.LabelSelector{MatchLabels: map[string]string{names.InfraEnvLabel: env.Name}}
	return refused
}

// showImage writes where the environment's own image is served. Without a base
// medium, or an image server that the hub knows, the last address stays: images
// of hosts do not depend on it.
func (r *reconciler) showImage(ctx context.Context, env *agentv1.InfraEnv, id string) {
	urls, err := r.hub.ImageURLs(ctx, id)
	if err != nil {
		ctrl.LoggerFrom(ctx).V(1).Info("the environment has no image of its own", "reason", err.Error())
		return
	}
	if env.Status.ISODownloadURL != urls.ISO {
		now := metav1.Now()
		env.Status.ISODownloadURL, env.Status.CreatedTime = urls.ISO, &now
	}
	env.Status.BootArtifacts.InitrdURL, env.Status.BootArtifacts.KernelURL, env.Status.BootArtifacts.RootfsURL = urls.Initrd, urls.Kernel, urls.Rootfs
}

// spec is the record that the resource asks for. Hosts are approved by their Agents, also where all of them
// are: the record of a host that has just registered has nothing yet of what its Agent, or its
// BareMetalHost, says of the disk and the rest, and would be installed with its inventory at once.
func (r *reconciler) spec(ctx context.Context, env *agentv1.InfraEnv) (service.InfraEnvSpec, error) {
	spec := service.InfraEnvSpec{
		ID: hubid.InfraEnv(env), Name: env.Name,
		SingleHost:           env.Annotations[names.SingleHost] == "true",
		CPUArchitecture:      env.Spec.CpuArchitecture,
		SSHKey:               env.Spec.SSHAuthorizedKey,
		AdditionalNTPSources: strings.Join(env.Spec.AdditionalNTPSources, ","),
		NTPSources:           strings.Join(env.Spec.NTPSources, ","),
		IgnitionOverride:     env.Spec.IgnitionConfigOverride,
		TrustBundle:          env.Spec.AdditionalTrustBundle,
		Version:              env.Spec.OSImageVersion,
		ImageType:            wire.ImageType(env.Spec.ImageType),
		Revoke:               env.Annotations[names.Revoke],

		NetworkDiscoveryDelay: env.Spec.NetworkDiscoveryDelaySeconds,
	}
	for _, a := range env.Spec.KernelArguments {
		spec.KernelArguments = append(spec.KernelArguments, wire.KernelArgument{Operation: a.Operation, Value: a.Value})
	}
	if p := env.Spec.Proxy; p != nil {
		spec.Proxy = &wire.Proxy{HTTPProxy: &p.HTTPProxy, HTTPSProxy: &p.HTTPSProxy, NoProxy: &p.NoProxy}
	}
	if spec.SingleHost && clusterRef(env) != nil {
		return spec, reconcile.Stall(agentv1.ReasonImageCreationError,
			"annotation %s and spec.clusterRef exclude each other: a host has one cluster; remove one of them", names.SingleHost)
	}
	var err error
	if spec.PullSecret, err = r.pullSecret(ctx, env); err != nil {
		return spec, err
	}
	found, err := mirrors.Read(ctx, r.secrets.Live, env.Spec.MirrorRegistryRef)
	if err != nil {
		return spec, err
	}
	spec.Registries = found.Registries
	if found.Certificates != "" {
		spec.TrustBundle = strings.TrimSpace(spec.TrustBundle+"\n"+found.Certificates) + "\n"
	}
	spec.ClusterID, err = r.clusterID(ctx, env)
	return spec, err
}

func (r *reconciler) pullSecret(ctx context.Context, env *agentv1.InfraEnv) (string, error) {
	ref := env.Spec.PullSecretRef
	if ref == nil || ref.Name == "" {
		return "", nil
	}
	key := types.NamespacedName{Namespace: env.Namespace, Name: ref.Name}
	secret, found, err := r.secrets.Get(ctx, key)
	if err != nil {
		return "", err
	}
	if !found {
		return "", reconcile.Stall(agentv1.ReasonImageCreationError, "pull secret %s does not exist: create it, or correct spec.pullSecretRef", key)
	}
	text, ok := secret.Data[corev1.DockerConfigJsonKey]
	if !ok {
		return "", reconcile.Stall(agentv1.ReasonImageCreationError, "pull secret %s has no key %s: add it", key, corev1.DockerConfigJsonKey)
	}
	return string(text), r.secrets.Mark(ctx, secret) // every host's image reads it again
}

// clusterRef is the cluster that all hosts belong to, nil for none.
func clusterRef(env *agentv1.InfraEnv) *agentv1.ClusterReference {
	if ref := env.Spec.ClusterRef; ref != nil && ref.Name != "" {
		return ref
	}
	return nil
}

// clusterID resolves spec.clusterRef; the record of the cluster has to be there first.
func (r *reconciler) clusterID(ctx context.Context, env *agentv1.InfraEnv) (string, error) {
	ref := clusterRef(env)
	if ref == nil {
		return "", nil
	}
	cd := &hivev1.ClusterDeployment{}
	if err := r.Client.Get(ctx, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, cd); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return "", missingCluster{reconcile.WaitFor(0, "ClusterDeployment %s/%s of spec.clusterRef to be created", ref.Namespace, ref.Name)}
		}
		return "", err
	}
	return hubid.Cluster(cd), nil
}

// hubError sorts the hub's refusals: what another attempt cannot change is for a person.
func hubError(err error) error {
	if text, is := input.Told("infra-env", err); is {
		return reconcile.Stall(agentv1.ReasonImageCreationError, "%s", text)
	}
	switch service.Code(err) {
	case http.StatusBadRequest, http.StatusConflict:
		return reconcile.Stall(agentv1.ReasonImageCreationError, "the hub refuses the InfraEnv: %w", err)
	case http.StatusNotFound:
		return missingCluster{reconcile.WaitFor(lookAgain, "the cluster of spec.clusterRef to be registered in the hub; see its AgentClusterInstall")}
	default:
		return &reconcile.Unavailable{What: "the hub's store", Err: err}
	}
}

// deregister removes the record. Hosts that are still there hold it.
func (r *reconciler) deregister(ctx context.Context, env *agentv1.InfraEnv) error {
	err := r.hub.DeleteInfraEnv(ctx, hubid.InfraEnv(env))
	switch {
	case err == nil, service.IsNotFound(err):
		return nil
	case service.Code(err) == http.StatusBadRequest:
		return reconcile.WaitFor(lookAgain, "the Agents of InfraEnv %s to be deleted: kubectl delete agents -n %s -l %s=%s",
			env.Name, env.Namespace, names.InfraEnvLabel, env.Name)
	default:
		return &reconcile.Unavailable{What: "the hub's store", Err: err}
	}
}
