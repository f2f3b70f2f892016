package image

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/mirrors"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/controllers/secretcache"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/media"
	"github.com/ironflow/ironflow/imagecustomization/network"
	"github.com/ironflow/ironflow/imagecustomization/sharednetwork"
)

// Store keeps the images; *images.Store implements it.
type Store interface {
	Put(ctx context.Context, spec images.Spec) (images.Built, error)
	Remove(key string) error
	// Keys lists what there is an image for; MarkSynced says that all that are wanted are there.
	Keys() []string
	MarkSynced()
}

// Options configure the controller. Store, IPA and Agent are required.
type Options struct {
	// Store keeps what is built.
	Store Store
	// Architectures lists those that there is a base image for.
	Architectures func() []string
	// IPA returns what every image of an architecture tells ironic-python-agent, read
	// anew for each build.
	IPA func(arch string) (ignition.IPA, error)
	// VLANInterfaces is [VLANAlways], [VLANNever], or empty: then
	// ironic-python-agent makes VLAN interfaces of what it hears from the switches
	// only in images without network settings.
	VLANInterfaces string
	// Agent returns what the image of a machine of an InfraEnv tells the host agent. The
	// machine is named by what lasts, see [machineOf].
	Agent func(ctx context.Context, infraEnv *agentv1.InfraEnv, machine string) (ignition.Agent, error)
	// Live returns what is known of the live system of an architecture and version: an
	// nmstate document that cannot be translated is passed on where it has nmstatectl;
	// nil for nothing known.
	Live func(ctx context.Context, arch, version string) network.Live
	// Changed tells that base images or settings are others than before, which all
	// images are to be compared with; nil for never.
	Changed <-chan struct{}
	// Namespaces are those that the program watches, none for all.
	Namespaces []string
	// Base returns the settings that every image begins with, read anew for each
	// build; an InfraEnv's are put on top. nil for none.
	Base func() (ignition.HostConfig, error)
}

// Reconciler produces PreprovisioningImages.
type Reconciler struct {
	reconcile.Reconciler[*metal3v1.PreprovisioningImage]
	options Options
	first   *firstPass
	live    client.Reader // of Secrets that the cache leaves out
	cached  client.Reader // the cache as it is, without waiting for writes of others to be there
}

func newReconciler(c client.Client, o Options) *Reconciler {
	r := &Reconciler{options: o, first: newFirstPass(c, o), live: c, cached: c}
	r.Reconciler = reconcile.Reconciler[*metal3v1.PreprovisioningImage]{
		Client:    c,
		New:       func() *metal3v1.PreprovisioningImage { return &metal3v1.PreprovisioningImage{} },
		Finalizer: names.ImageFinalizer,
		Gate:      r.hostAllows,
		Steps:     []reconcile.Step[*metal3v1.PreprovisioningImage]{r.produce},
		Delete:    r.discard,
	}
	return r
}

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	defer r.first.pass(req.NamespacedName)
	return r.Reconciler.Reconcile(ctx, req)
}

// Setup registers the controller with the manager.
func Setup(mgr ctrl.Manager, o Options) error {
	r := newReconciler(mgr.GetClient(), o)
	r.live, r.cached = mgr.GetAPIReader(), mgr.GetCache()
	if err := mgr.Add(r.first); err != nil {
		return err
	}
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), &corev1.Secret{}, ownedIndex, owningImages); err != nil {
		return fmt.Errorf("index Secrets by the images that own them: %w", err)
	}
	b := ctrl.NewControllerManagedBy(mgr).
		Named("image").
		For(&metal3v1.PreprovisioningImage{}).
		Watches(&metal3v1.BareMetalHost{}, &handler.EnqueueRequestForObject{},
			builder.WithPredicates(predicate.Or[client.Object](predicate.AnnotationChangedPredicate{}, cardsChanged{}, hostReleased{}))).
		Watches(&agentv1.InfraEnv{}, handler.EnqueueRequestsFromMapFunc(r.imagesOfInfraEnv)).
		Watches(&agentv1.NMStateConfig{}, handler.EnqueueRequestsFromMapFunc(r.imagesOfNMState)).
		WatchesMetadata(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(r.imagesOfMirrors)).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.imagesOfSecret)).
		WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.imagesOfSecret), builder.WithPredicates(secretcache.Unlabelled))
	if o.Changed != nil {
		b = b.WatchesRawSource(source.Func(r.followSettings))
	}
	return b.Complete(r)
}

// +kubebuilder:rbac:groups=metal3.io,resources=preprovisioningimages,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch
// +kubebuilder:rbac:groups=metal3.io,resources=preprovisioningimages/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=metal3.io,resources=baremetalhosts,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=agent-install.openshift.io,resources=infraenvs;nmstateconfigs,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;patch;delete

// lookAgain is when a refusal is looked at again that no watch can end.
const lookAgain = time.Minute

// nextPass is when a pass follows that the object's own status asks for, if its
// watch does not tell earlier.
const nextPass = time.Second

// hostAllows stops at an image whose host somebody keeps everybody off. What was
// handed out is served on: the store has it, after a restart too.
func (r *Reconciler) hostAllows(ctx context.Context, image *metal3v1.PreprovisioningImage) error {
	host := &metal3v1.BareMetalHost{}
	if found, err := r.get(ctx, client.ObjectKeyFromObject(image), host); err != nil || !found {
		return err
	}
	return reconcile.HandsOff(host)
}

// produce decides, builds and records the outcome in the status.
func (r *Reconciler) produce(ctx context.Context, image *metal3v1.PreprovisioningImage) error {
	in, version, err := r.observe(ctx, image)
	if err != nil {
		return err
	}
	verdict := Decide(in)
	if verdict.Refused != nil {
		return r.refuse(ctx, in, verdict.Refused)
	}
	want := inputsOf(image, verdict.Build, version)
	if next := nextPhase(image.Status, want); next != phaseBuild {
		return r.change(ctx, in, next, want)
	}
	made, err := r.build(ctx, in, verdict.Build)
	if err != nil {
		refusal := buildRefusal(err)
		if refused := r.refuse(ctx, in, refusal); refusal.Error || refused != nil {
			return refused
		}
		return fmt.Errorf("build the live image: %w", err) // the queue tries again
	}
	saved := handedOut(image, made.URL)
	if !saved && image.Status.ImageUrl != "" && image.Status.ImageUrl != made.URL {
		if err := r.remember(ctx, in); err != nil {
			return err
		}
	}
	built(image, verdict.Build, made, want)
	return r.restartWaiting(ctx, in, saved)
}

// change takes the next step from an image that was built from other inputs.
func (r *Reconciler) change(ctx context.Context, in Input, next phase, want inputs) error {
	if err := r.remember(ctx, in); err != nil {
		return err
	}
	if next == phaseAnnounce {
		announced(in.Image)
	} else {
		emptied(in.Image, want)
	}
	return reconcile.WaitFor(nextPass, "everybody to see that the image changes")
}

// refuse records a refusal. An error also revokes the address that was handed out
// before: nobody may download what is not to be used any more.
func (r *Reconciler) refuse(ctx context.Context, in Input, refusal *Refusal) error {
	if refusal.Error {
		if err := r.remember(ctx, in); err != nil {
			return err
		}
		if err := r.options.Store.Remove(storeKey(in.Image)); err != nil {
			return fmt.Errorf("revoke the live image: %w", err)
		}
	}
	refused(in.Image, refusal)
	return again(refusal)
}

// storeKey is the key of the object's image in the store.
func storeKey(image *metal3v1.PreprovisioningImage) string {
	return client.ObjectKeyFromObject(image).String()
}

// again has a refusal looked at again that only the configuration of the
// program can end, such as a base image that is added to its folder.
func again(r *Refusal) error {
	if r.Reason == ReasonConfigurationError {
		return reconcile.WaitFor(lookAgain, "the configuration to offer what the host needs")
	}
	return nil
}

// buildRefusal turns an error into conditions. One that another attempt would
// repeat is for a person; after any other, the image from before stays.
func buildRefusal(err error) *Refusal {
	switch {
	case errors.Is(err, images.ErrBadSpec), errors.Is(err, ignition.ErrInvalid):
		return &Refusal{Reason: ReasonBuildInvalid, Message: "Cannot generate image: " + err.Error(), Error: true}
	case errors.Is(err, images.ErrUnsupported), errors.Is(err, media.ErrNoMedium):
		return &Refusal{Reason: ReasonConfigurationError, Message: err.Error(), Error: true}
	default:
		return &Refusal{Reason: ReasonBuildFailed, Message: "Cannot generate image now, it is tried again: " + err.Error()}
	}
}

func (r *Reconciler) observe(ctx context.Context, image *metal3v1.PreprovisioningImage) (Input, string, error) {
	name, labelled := image.Labels[names.InfraEnvLabel]
	in := Input{Image: image, Labelled: labelled, Architectures: r.options.Architectures()}
	key := client.ObjectKeyFromObject(image)
	host := &metal3v1.BareMetalHost{}
	if found, err := r.get(ctx, key, host); err != nil {
		return in, "", err
	} else if found {
		in.Host = host
	}
	if labelled {
		if err := r.observeInfraEnv(ctx, types.NamespacedName{Namespace: key.Namespace, Name: name}, &in); err != nil {
			return in, "", err
		}
	}
	if r.options.Live != nil {
		var version string // of the base, empty for the newest
		if in.InfraEnv != nil {
			version = in.InfraEnv.Spec.OSImageVersion
		}
		in.Live = r.options.Live(ctx, image.Spec.Architecture, version)
	}
	version, err := r.observeNetwork(ctx, &in)
	return in, version, err
}

// observeInfraEnv reads the environment and the pull secret that its images carry.
func (r *Reconciler) observeInfraEnv(ctx context.Context, key types.NamespacedName, in *Input) error {
	env := &agentv1.InfraEnv{}
	found, err := r.get(ctx, key, env)
	if err != nil || !found {
		return err
	}
	in.InfraEnv = env
	if err := r.observeNMState(ctx, in); err != nil {
		return err
	}
	if in.Mirrors, err = mirrors.Read(ctx, r.live, env.Spec.MirrorRegistryRef); err != nil {
		return err
	}
	if env.Spec.PullSecretRef == nil || env.Spec.PullSecretRef.Name == "" {
		return nil
	}
	// A missing one is refused by the InfraEnv's own condition.
	secret, _, err := r.secret(ctx, types.NamespacedName{Namespace: key.Namespace, Name: env.Spec.PullSecretRef.Name})
	in.PullSecret = string(secret.Data[corev1.DockerConfigJsonKey])
	return err
}

// get reads an object and reports whether it exists.
func (r *Reconciler) get(ctx context.Context, key types.NamespacedName, obj client.Object) (bool, error) {
	err := r.Client.Get(ctx, key, obj)
	return err == nil, client.IgnoreNotFound(err)
}

// Values of [Options.VLANInterfaces].
const (
	VLANAlways = "always"
	VLANNever  = "never"
)

// ipaOf is what the host's image tells ironic-python-agent.
func (r *Reconciler) ipaOf(in Input, request *Request) (ignition.IPA, error) {
	ipa, err := r.options.IPA(request.Architecture)
	if err != nil {
		return ipa, err
	}
	if in.InfraEnv != nil && in.InfraEnv.Annotations[names.IronicAgentImage] != "" {
		ipa.Image, ipa.Command = in.InfraEnv.Annotations[names.IronicAgentImage], nil
	}
	if in.InfraEnv != nil {
		if err := families(&ipa, in.InfraEnv); err != nil {
			return ipa, err
		}
	}
	ipa.DefaultHostname = request.Hostname
	ipa.CopyNetwork = len(request.Network.Keyfiles) > 0 || request.Network.Nmstate != ""
	if v := r.options.VLANInterfaces; v == VLANAlways || v != VLANNever && !ipa.CopyNetwork {
		ipa.VLANInterfaces = "all"
	}
	return ipa, nil
}

// build renders the Ignition and puts the image into the store.
func (r *Reconciler) build(ctx context.Context, in Input, request *Request) (images.Built, error) {
	ipa, err := r.ipaOf(in, request)
	if err != nil {
		return images.Built{}, err
	}
	config := ignition.HostConfig{}
	if r.options.Base != nil {
		if config, err = r.options.Base(); err != nil {
			return images.Built{}, err
		}
	}
	config.IPA, config.Hostname = &ipa, request.Network.Hostname
	if document := request.Network.Nmstate; document != "" {
		config.Nmstate = []ignition.Nmstate{{Document: document}}
	}
	if request.Agent {
		agent, err := r.options.Agent(ctx, in.InfraEnv, machineOf(in))
		if err != nil {
			return images.Built{}, err
		}
		agent.Deadlines = request.Deadlines
		config.Agent = &agent
		config.PullSecret = cmp.Or(ignition.Secret(in.PullSecret), config.PullSecret)
		infraEnvSettings(&config, in.InfraEnv, in.Mirrors)
	}
	raw, err := ignition.Build(config)
	if err != nil {
		return images.Built{}, err
	}
	keyfiles, files := sharednetwork.OfHost(request.Network)
	return r.options.Store.Put(ctx, images.Spec{
		Key: storeKey(in.Image), UID: string(in.Image.UID),
		Arch: request.Architecture, Version: request.Version, Format: string(request.Format), Ignition: raw, NetworkKeyfiles: keyfiles, InitrdFiles: files, Kargs: request.Kargs,
		MACs: request.MACs,
	})
}

// machineOf names the machine that the image is for: by its boot MAC address, which a host
// keeps that is made anew or moves to another cluster, or else by its object.
func machineOf(in Input) string {
	if in.Host != nil && in.Host.Spec.BootMACAddress != "" {
		return strings.ToLower(in.Host.Spec.BootMACAddress)
	}
	return in.Image.Namespace + "/" + in.Image.Name
}

// infraEnvSettings adds what the user said about the environment's live images.
func infraEnvSettings(c *ignition.HostConfig, env *agentv1.InfraEnv, m mirrors.Mirrors) {
	if p := env.Spec.Proxy; p != nil {
		c.Proxy = ignition.Proxy{HTTP: p.HTTPProxy, HTTPS: p.HTTPSProxy, No: p.NoProxy}
	}
	// The field takes the content of an authorized_keys file: any number of lines.
	var keys []string
	for line := range strings.Lines(env.Spec.SSHAuthorizedKey) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			keys = append(keys, line)
		}
	}
	c.SSHKeys = append(keys, c.SSHKeys...)
	c.NTPServers = slices.Concat(env.Spec.NTPSources, env.Spec.AdditionalNTPSources, c.NTPServers)
	for _, bundle := range []string{m.Certificates, env.Spec.AdditionalTrustBundle} {
		if bundle != "" {
			c.CABundle = strings.TrimSpace(bundle+"\n"+c.CABundle) + "\n"
		}
	}
	c.Registries = cmp.Or(m.Registries, c.Registries)
	c.Override = []byte(env.Spec.IgnitionConfigOverride)
}

// discard forgets the image, once nobody else holds the object any more: a host
// that is being deprovisioned still boots it.
func (r *Reconciler) discard(ctx context.Context, image *metal3v1.PreprovisioningImage) error {
	if len(image.Finalizers) > 1 {
		return reconcile.WaitFor(0, "the other finalizers %v of the image to go", image.Finalizers)
	}
	host := &metal3v1.BareMetalHost{}
	if found, err := r.get(ctx, client.ObjectKeyFromObject(image), host); err != nil {
		return err
	} else if found && metav1.IsControlledBy(image, host) && slices.Contains(host.Finalizers, names.HostFinalizer) {
		// Its host is yet to be released, and has put no finalizer on the image: that is so
		// with images that another version made. The end of the host wakes the image.
		return reconcile.WaitFor(0, "the host %s to be released", host.Name)
	}
	return r.options.Store.Remove(storeKey(image))
}
