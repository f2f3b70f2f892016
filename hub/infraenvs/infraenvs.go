package infraenvs

import (
	"cmp"
	"context"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/snapshots"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
	"github.com/ironflow/ironflow/hub/wire"
)

// Registry is the infra-envs of the hub. All methods are safe for concurrent use.
type Registry struct {
	units     *settle.Units
	snapshots *snapshots.Cache
	key       auth.Key
	imageURLs func(env wire.InfraEnv, token string) (ImageURLs, error)
	lost      func(ctx context.Context, infraEnvID string) (bool, error)
}

// New makes the registry. Generations of tokens are remembered in the cache; the
// zero key makes no tokens; urls says where live images are served, nil when
// they are not.
func New(units *settle.Units, cache *snapshots.Cache, key auth.Key, urls func(env wire.InfraEnv, token string) (ImageURLs, error)) *Registry {
	return &Registry{units: units, snapshots: cache, key: key, imageURLs: urls}
}

// AskLost has the registry ask whether an infra-env without a record is there all the same, before it
// calls a token wrong that this hub has made. It is called before the hub serves.
func (r *Registry) AskLost(lost func(ctx context.Context, infraEnvID string) (bool, error)) {
	r.lost = lost
}

// Spec is what a controller wants of an infra-env.
type Spec struct {
	// ID is stable: the same object always asks for the same id.
	ID, Name string
	// ClusterID binds every host to one cluster; empty for late binding or single hosts.
	ClusterID string
	// SingleHost gives every host that registers a cluster of its own, which is
	// installed as soon as the host is approved and ready.
	SingleHost bool
	// AutoApprove makes new hosts start approved.
	AutoApprove bool
	// CPUArchitecture as uname names it; empty means x86_64.
	CPUArchitecture string
	SSHKey          string
	PullSecret      string
	// NTPSources are comma-separated.
	AdditionalNTPSources, NTPSources string
	IgnitionOverride                 string
	Proxy                            *wire.Proxy
	// TrustBundle holds PEM certificates for the live system, Version picks its base.
	TrustBundle, Version string
	// Registries is registries.conf of the live system; empty leaves it to the hub's site.
	Registries string
	// KernelArguments change the live system's command line.
	KernelArguments wire.KernelArguments
	// StaticNetworks are those of its hosts, NetworkDiscoveryDelay is how many seconds a
	// host waits for its cards before it takes one of them.
	StaticNetworks        []wire.HostStaticNetworkConfig
	NetworkDiscoveryDelay *int64
	// Revoke revokes the agents' tokens once for each other text; empty revokes nothing.
	Revoke string
	// ImageType is full-iso or minimal-iso; empty means full-iso.
	ImageType wire.ImageType
}

// EnsureInfraEnv makes the infra-env or brings it up to date; asking for what
// is there already changes nothing.
func (r *Registry) EnsureInfraEnv(ctx context.Context, spec Spec) (wire.InfraEnv, error) {
	if uuid.Validate(spec.ID) != nil {
		return wire.InfraEnv{}, apierror.BadRequest("infra-env id %q is not a UUID", spec.ID)
	}
	var out wire.InfraEnv
	err := r.units.Update(ctx, func(w *settle.Work) error {
		env, err := w.Env(spec.ID)
		fresh := apierror.IsNotFound(err)
		if err != nil && !fresh {
			return err
		}
		if fresh {
			env = newInfraEnv(w, spec.ID)
		}
		if err := spec.stays(w, env); !fresh && err != nil {
			return err
		}
		before := *env
		spec.apply(env)
		env.Birth = cmp.Or(env.Birth, uuid.NewString()) // one of an older program has none
		if err := r.putInfraEnv(w, env, &spec.PullSecret, fresh, before); err != nil {
			return err
		}
		out = r.shown(env)
		return nil
	})
	return out, err
}

// stays refuses what cannot change, by the names that Kubernetes objects have for it. A cluster that was removed may be
// followed by the one that was made in its place: its hosts went with it, and register anew.
func (spec Spec) stays(w *settle.Work, env *store.InfraEnv) error {
	if want := spec.architecture(); env.API.CPUArchitecture != want && env.API.CPUArchitecture != "" {
		return apierror.Conflict("spec.cpuArchitecture of infra-env %s cannot change from %s to %s: put it back, or create another InfraEnv", env.API.Name, env.API.CPUArchitecture, want)
	}
	if env.API.ClusterID == spec.ClusterID {
		return nil
	}
	if env.API.ClusterID != "" && spec.ClusterID != "" {
		switch _, err := w.Cluster(env.API.ClusterID); {
		case apierror.IsNotFound(err):
			return nil
		case err != nil:
			return err
		}
	}
	return apierror.Conflict("spec.clusterRef of infra-env %s cannot change: put it back, or create another InfraEnv", env.API.Name)
}

func (spec Spec) architecture() string {
	return cmp.Or(spec.CPUArchitecture, wire.InfraEnvCPUArchitectureX8664)
}

func (spec Spec) apply(env *store.InfraEnv) {
	env.AutoApprove, env.SingleHost, env.Registries = spec.AutoApprove, spec.SingleHost, spec.Registries
	env.API.Name, env.API.ClusterID = spec.Name, spec.ClusterID
	env.API.CPUArchitecture = spec.architecture()
	env.API.SSHAuthorizedKey, env.API.Proxy, env.API.IgnitionConfigOverride = spec.SSHKey, spec.Proxy, spec.IgnitionOverride
	env.API.AdditionalNTPSources, env.API.NTPSources = spec.AdditionalNTPSources, spec.NTPSources
	env.API.AdditionalTrustBundle, env.API.OpenshiftVersion = spec.TrustBundle, spec.Version
	if spec.Revoke != "" && spec.Revoke != env.Revoked {
		env.Revoked, env.TokenGeneration = spec.Revoke, auth.Next(env.TokenGeneration, spec.Revoke)
	}
	env.API.Type, env.API.KernelArguments = cmp.Or(spec.ImageType, wire.ImageTypeFullISO), nil
	if len(spec.KernelArguments) > 0 {
		env.API.KernelArguments = new(unit.Text(spec.KernelArguments))
	}
	env.API.StaticNetworkConfig, env.API.NetworkDiscoveryDelaySeconds = "", spec.NetworkDiscoveryDelay
	if len(spec.StaticNetworks) > 0 {
		env.API.StaticNetworkConfig = unit.Text(spec.StaticNetworks)
	}
}

func newInfraEnv(w *settle.Work, id string) *store.InfraEnv {
	return &store.InfraEnv{TokenGeneration: 1, Birth: uuid.NewString(), API: wire.InfraEnv{
		ID: id, Kind: wire.InfraEnvKindInfraEnv, Href: "/api/assisted-install/v2/infra-envs/" + id,
		Type: wire.ImageTypeFullISO, CreatedAt: w.Now, UpdatedAt: w.Now,
	}}
}

// putInfraEnv writes the infra-env when something about it changed. A nil pull secret
// leaves the one that it has.
func (r *Registry) putInfraEnv(w *settle.Work, env *store.InfraEnv, pullSecret *string, fresh bool, before store.InfraEnv) error {
	if pullSecret != nil {
		if err := r.units.Made().KeepInfraEnvPullSecret(env, *pullSecret); err != nil {
			return err
		}
	}
	if err := checkGiven(env, wire.Value(pullSecret), fresh, before); err != nil {
		return err
	}
	if env.API.ClusterID != "" && (fresh || env.API.ClusterID != before.API.ClusterID) { // one that is gone is no reason to keep the rest
		if _, err := w.Cluster(env.API.ClusterID); err != nil {
			return err
		}
	}
	if !fresh && unit.Text(before) == unit.Text(env) {
		return nil
	}
	w.PutEnv(env)
	switch {
	case fresh:
		return w.EnvEvent(env, "infra_env_registered", wire.EventSeverityInfo, "registered", nil)
	case env.TokenGeneration != before.TokenGeneration:
		return w.EnvEvent(env, "infra_env_tokens_revoked", wire.EventSeverityWarning, "the tokens of its agents are revoked; hosts have to boot from an image that is made from now on", nil)
	case env.API.IgnitionConfigOverride != before.API.IgnitionConfigOverride:
		return w.EnvEvent(env, "ignition_config_image_generated", wire.EventSeverityInfo, "its live image has another Ignition", unit.Props{"details": "ignition_config_override"})
	case unit.Text(env.API) != unit.Text(before.API):
		return w.EnvEvent(env, "image_info_updated", wire.EventSeverityInfo, "its live image is another one", unit.Props{"cluster_id": env.API.ClusterID, "details": "settings"})
	}
	return nil
}

// CreateInfraEnv makes an infra-env for a user of the REST API.
func (r *Registry) CreateInfraEnv(ctx context.Context, p wire.InfraEnvCreateParams) (wire.InfraEnv, error) {
	if p.PullSecret == "" {
		return wire.InfraEnv{}, apierror.Missing("pull_secret", `want JSON with "auths"`)
	}
	if err := checkDisconnected(p.ImageType, p.RendezvousIP); err != nil {
		return wire.InfraEnv{}, err
	}
	var out wire.InfraEnv
	err := r.units.Update(ctx, func(w *settle.Work) error {
		id, err := r.newID(w)
		if err != nil {
			return err
		}
		env := newInfraEnv(w, id)
		spec := Spec{
			Name: p.Name, CPUArchitecture: p.CPUArchitecture, Proxy: p.Proxy, IgnitionOverride: p.IgnitionConfigOverride,
			ClusterID: wire.Value(p.ClusterID), SSHKey: wire.Value(p.SSHAuthorizedKey),
			AdditionalNTPSources: wire.Value(p.AdditionalNTPSources), NTPSources: wire.Value(p.NTPSources),
			TrustBundle: p.AdditionalTrustBundle, Version: p.OpenshiftVersion, ImageType: p.ImageType,
			NetworkDiscoveryDelay: p.NetworkDiscoveryDelaySeconds,
		}
		spec.apply(env)
		env.AutoApprove = true // without Kubernetes, to register is to be approved
		putLists(env, p.StaticNetworkConfig, p.KernelArguments)
		err = r.putInfraEnv(w, env, &p.PullSecret, true, *env)
		out = r.shown(env)
		return err
	})
	return out, err
}

// newID is the id of a new infra-env. A hub on one of the hosts of an installation has a
// single infra-env, whose id was known before the hub: it is in the hosts' image.
func (r *Registry) newID(w *settle.Work) (string, error) {
	fixed := r.units.Rules.NodeZero.InfraEnvID
	if fixed == "" {
		return uuid.NewString(), nil
	}
	env, err := w.Env(fixed)
	switch {
	case err == nil:
		return "", apierror.Conflict("this hub installs one cluster and has its infra-env %s (%s); change that one", env.API.Name, fixed)
	case apierror.IsNotFound(err):
		return fixed, nil
	}
	return "", err
}

// checkDisconnected refuses what is for images of clusters that no hub reaches.
func checkDisconnected(kind wire.ImageType, rendezvous *string) error {
	switch {
	case kind == wire.ImageTypeDisconnectedISO:
		return apierror.BadRequest("image_type disconnected-iso is not served by this hub")
	case wire.Value(rendezvous) != "":
		return apierror.BadRequest("rendezvous_ip is for images of type disconnected-iso, which this hub does not serve; leave it out")
	}
	return nil
}

// UpdateInfraEnv changes the members that are given. The model does not tell an override that is
// emptied from one that is not given: it is kept, see [Registry.WithoutOverride].
func (r *Registry) UpdateInfraEnv(ctx context.Context, id string, p wire.InfraEnvUpdateParams) (wire.InfraEnv, error) {
	return r.update(ctx, id, p, p.IgnitionConfigOverride != "")
}

// WithoutOverride is UpdateInfraEnv which takes the Ignition override away.
func (r *Registry) WithoutOverride(ctx context.Context, id string, p wire.InfraEnvUpdateParams) (wire.InfraEnv, error) {
	p.IgnitionConfigOverride = ""
	return r.update(ctx, id, p, true)
}

func (r *Registry) update(ctx context.Context, id string, p wire.InfraEnvUpdateParams, override bool) (wire.InfraEnv, error) {
	var out wire.InfraEnv
	if err := checkDisconnected(p.ImageType, p.RendezvousIP); err != nil {
		return out, err
	}
	err := r.units.Update(ctx, func(w *settle.Work) error {
		env, err := w.Env(id)
		if err != nil {
			return err
		}
		before := *env
		wire.Set(&env.API.AdditionalNTPSources, p.AdditionalNTPSources)
		wire.Set(&env.API.AdditionalTrustBundle, p.AdditionalTrustBundle)
		wire.Set(&env.API.NTPSources, p.NTPSources)
		wire.Set(&env.API.OpenshiftVersion, p.OpenshiftVersion)
		wire.Set(&env.API.SSHAuthorizedKey, p.SSHAuthorizedKey)
		if override {
			env.API.IgnitionConfigOverride = p.IgnitionConfigOverride
		}
		env.API.Type = cmp.Or(p.ImageType, env.API.Type)
		env.API.NetworkDiscoveryDelaySeconds = cmp.Or(p.NetworkDiscoveryDelaySeconds, env.API.NetworkDiscoveryDelaySeconds)
		env.API.Proxy = changedProxy(env.API.Proxy, p.Proxy)
		putLists(env, p.StaticNetworkConfig, p.KernelArguments)
		var secret *string
		if p.PullSecret != "" {
			secret = &p.PullSecret
		}
		err = r.putInfraEnv(w, env, secret, false, before)
		out = r.shown(env)
		return err
	})
	return out, err
}

// changedProxy keeps what a change does not name. An empty text takes away what is there.
func changedProxy(had, given *wire.Proxy) *wire.Proxy {
	if had == nil || given == nil {
		return cmp.Or(given, had)
	}
	return &wire.Proxy{
		HTTPProxy: cmp.Or(given.HTTPProxy, had.HTTPProxy), HTTPSProxy: cmp.Or(given.HTTPSProxy, had.HTTPSProxy), NoProxy: cmp.Or(given.NoProxy, had.NoProxy),
	}
}

// putLists stores lists, which the protocol carries as JSON in text.
func putLists(env *store.InfraEnv, network []wire.HostStaticNetworkConfig, arguments wire.KernelArguments) {
	if network != nil {
		env.API.StaticNetworkConfig = unit.Text(network)
	}
	if arguments != nil {
		env.API.KernelArguments = new(unit.Text(arguments))
	}
}

// InfraEnv returns one infra-env.
func (r *Registry) InfraEnv(ctx context.Context, id string) (wire.InfraEnv, error) {
	env, err := r.record(ctx, id)
	if err != nil {
		return wire.InfraEnv{}, err
	}
	return r.shown(env), nil
}

// InfraEnvs returns the selected infra-envs.
func (r *Registry) InfraEnvs(ctx context.Context, filter store.InfraEnvFilter) (wire.InfraEnvList, error) {
	out := wire.InfraEnvList{}
	err := r.units.View(ctx, func(w *settle.Work) error {
		found, err := w.Reader.InfraEnvs(filter)
		for _, e := range found {
			out = append(out, r.shown(e))
		}
		return err
	})
	return out, err
}

// DeleteInfraEnv removes an infra-env without hosts; one with hosts is refused
// with 400. Its tokens die with it.
func (r *Registry) DeleteInfraEnv(ctx context.Context, id string) error {
	err := r.units.Update(ctx, func(w *settle.Work) error {
		env, err := w.Env(id)
		if err != nil {
			return err
		}
		hosts, err := w.Reader.Hosts(store.HostFilter{InfraEnvID: id, Bare: true})
		if err != nil {
			return err
		}
		if len(hosts) > 0 {
			return apierror.BadRequest("infra-env %s still has %d hosts; delete them first", env.API.Name, len(hosts))
		}
		w.Announce(store.Change{InfraEnvID: id, What: store.ChangedDeleted})
		if err := w.EnvEvent(env, "infra_env_deregistered", wire.EventSeverityInfo, "removed", nil); err != nil {
			return err
		}
		w.Remove(env.Ref())
		return nil
	})
	if err != nil {
		e := wire.Event{Name: "infra_env_deregister_failed", Message: "Infra-env " + id + ": it cannot be removed", InfraEnvID: &id}
		r.units.Refused(ctx, err, e, unit.Props{"error": err.Error()})
	}
	return err
}

func (r *Registry) record(ctx context.Context, infraEnvID string) (*store.InfraEnv, error) {
	var env *store.InfraEnv
	err := r.units.View(ctx, func(w *settle.Work) (err error) {
		env, err = w.Env(infraEnvID)
		return err
	})
	return env, err
}
