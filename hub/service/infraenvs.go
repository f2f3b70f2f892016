package service

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/hub/ignition"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// InfraEnvSpec is what a controller wants of an infra-env.
type InfraEnvSpec struct {
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
	// KernelArguments change the live system's command line.
	KernelArguments wire.KernelArguments
	// ImageType is full-iso or minimal-iso; empty leaves it as it is.
	ImageType wire.ImageType
}

// EnsureInfraEnv makes the infra-env or brings it up to date; asking for what
// is there already changes nothing.
func (h *Hub) EnsureInfraEnv(ctx context.Context, spec InfraEnvSpec) (wire.InfraEnv, error) {
	if uuid.Validate(spec.ID) != nil {
		return wire.InfraEnv{}, badRequest("infra-env id %q is not a UUID", spec.ID)
	}
	var out wire.InfraEnv
	err := h.update(ctx, func(w *work) error {
		env, err := w.env(spec.ID)
		fresh := IsNotFound(err)
		if err != nil && !fresh {
			return err
		}
		if fresh {
			env = w.newInfraEnv(spec.ID)
		}
		if !fresh && env.API.ClusterID != spec.ClusterID {
			return conflict("the cluster of infra-env %s cannot change", env.API.Name)
		}
		before := *env
		spec.apply(env)
		if err := w.putInfraEnv(env, fresh, before); err != nil {
			return err
		}
		out = h.shown(env)
		return nil
	})
	return out, err
}

func (spec InfraEnvSpec) apply(env *store.InfraEnv) {
	env.AutoApprove, env.SingleHost, env.PullSecret = spec.AutoApprove, spec.SingleHost, spec.PullSecret
	env.API.Name, env.API.ClusterID, env.API.PullSecretSet = spec.Name, spec.ClusterID, spec.PullSecret != ""
	env.API.CPUArchitecture = cmp.Or(spec.CPUArchitecture, wire.InfraEnvCPUArchitectureX8664)
	env.API.SSHAuthorizedKey, env.API.Proxy, env.API.IgnitionConfigOverride = spec.SSHKey, spec.Proxy, spec.IgnitionOverride
	env.API.AdditionalNTPSources, env.API.NTPSources = spec.AdditionalNTPSources, spec.NTPSources
	env.API.AdditionalTrustBundle, env.API.OpenshiftVersion = spec.TrustBundle, spec.Version
	env.API.Type, env.API.KernelArguments = cmp.Or(spec.ImageType, env.API.Type), nil
	if len(spec.KernelArguments) > 0 {
		env.API.KernelArguments = new(mustJSON(spec.KernelArguments))
	}
}

func (w *work) newInfraEnv(id string) *store.InfraEnv {
	return &store.InfraEnv{TokenGeneration: 1, API: wire.InfraEnv{
		ID: id, Kind: wire.InfraEnvKindInfraEnv, Href: "/api/assisted-install/v2/infra-envs/" + id,
		Type: wire.ImageTypeFullISO, CreatedAt: w.now, UpdatedAt: w.now,
	}}
}

// putInfraEnv writes the infra-env when something about it changed.
func (w *work) putInfraEnv(env *store.InfraEnv, fresh bool, before store.InfraEnv) error {
	if err := ignition.Valid(env.API.IgnitionConfigOverride); err != nil {
		return badRequest("ignition_config_override: %v", err)
	}
	if env.API.ClusterID != "" {
		if _, err := w.cluster(env.API.ClusterID); err != nil {
			return err
		}
	}
	if !fresh && mustJSON(before) == mustJSON(env) {
		return nil
	}
	env.API.UpdatedAt = w.now
	w.envs[env.API.ID] = env
	w.announce(Event{InfraEnvID: env.API.ID, What: ChangedInfraEnv})
	if fresh {
		if err := w.envEvent(env, "infra_env_registered", wire.EventSeverityInfo, "registered", nil); err != nil {
			return err
		}
	}
	w.unit.InfraEnvs = append(w.unit.InfraEnvs, env)
	return nil
}

// CreateInfraEnv makes an infra-env for a user of the REST API.
func (h *Hub) CreateInfraEnv(ctx context.Context, p wire.InfraEnvCreateParams) (wire.InfraEnv, error) {
	if p.Name == "" {
		return wire.InfraEnv{}, badRequest("name is required")
	}
	if err := checkPullSecret(p.PullSecret); err != nil {
		return wire.InfraEnv{}, err
	}
	if p.ImageType == wire.ImageTypeDisconnectedISO {
		return wire.InfraEnv{}, badRequest("image_type disconnected-iso is not served by this hub")
	}
	var out wire.InfraEnv
	err := h.update(ctx, func(w *work) error {
		env := w.newInfraEnv(uuid.NewString())
		spec := InfraEnvSpec{
			Name: p.Name, CPUArchitecture: p.CPUArchitecture, PullSecret: p.PullSecret, Proxy: p.Proxy, IgnitionOverride: p.IgnitionConfigOverride,
			ClusterID: value(p.ClusterID), SSHKey: value(p.SSHAuthorizedKey),
			AdditionalNTPSources: value(p.AdditionalNTPSources), NTPSources: value(p.NTPSources),
			TrustBundle: p.AdditionalTrustBundle, Version: p.OpenshiftVersion, ImageType: p.ImageType,
		}
		spec.apply(env)
		env.AutoApprove = true // without Kubernetes, to register is to be approved
		env.API.RendezvousIP = p.RendezvousIP
		env.API.NetworkDiscoveryDelaySeconds = p.NetworkDiscoveryDelaySeconds
		if err := putLists(env, p.StaticNetworkConfig, p.KernelArguments); err != nil {
			return err
		}
		err := w.putInfraEnv(env, true, *env)
		out = h.shown(env)
		return err
	})
	return out, err
}

// UpdateInfraEnv changes the members that are given.
func (h *Hub) UpdateInfraEnv(ctx context.Context, id string, p wire.InfraEnvUpdateParams) (wire.InfraEnv, error) {
	var out wire.InfraEnv
	err := h.update(ctx, func(w *work) error {
		env, err := w.env(id)
		if err != nil {
			return err
		}
		before := *env
		set(&env.API.AdditionalNTPSources, p.AdditionalNTPSources)
		set(&env.API.AdditionalTrustBundle, p.AdditionalTrustBundle)
		set(&env.API.NTPSources, p.NTPSources)
		set(&env.API.OpenshiftVersion, p.OpenshiftVersion)
		set(&env.API.SSHAuthorizedKey, p.SSHAuthorizedKey)
		env.API.IgnitionConfigOverride = cmp.Or(p.IgnitionConfigOverride, env.API.IgnitionConfigOverride)
		env.API.Type = cmp.Or(p.ImageType, env.API.Type)
		env.API.NetworkDiscoveryDelaySeconds = cmp.Or(p.NetworkDiscoveryDelaySeconds, env.API.NetworkDiscoveryDelaySeconds)
		env.API.RendezvousIP = cmp.Or(p.RendezvousIP, env.API.RendezvousIP)
		env.API.Proxy = cmp.Or(p.Proxy, env.API.Proxy)
		if p.PullSecret != "" {
			if err := checkPullSecret(p.PullSecret); err != nil {
				return err
			}
			env.PullSecret, env.API.PullSecretSet = p.PullSecret, true
		}
		if err := putLists(env, p.StaticNetworkConfig, p.KernelArguments); err != nil {
			return err
		}
		err = w.putInfraEnv(env, false, before)
		out = h.shown(env)
		return err
	})
	return out, err
}

// putLists stores lists, which the protocol carries as JSON in text.
func putLists(env *store.InfraEnv, network []wire.HostStaticNetworkConfig, arguments wire.KernelArguments) error {
	if network != nil {
		env.API.StaticNetworkConfig = mustJSON(network)
	}
	if arguments != nil {
		env.API.KernelArguments = new(mustJSON(arguments))
	}
	return nil
}

// checkPullSecret refuses what no container tool would read. The text is not repeated.
func checkPullSecret(text string) error {
	var secret struct {
		Auths map[string]json.RawMessage `json:"auths"`
	}
	if json.Unmarshal([]byte(text), &secret) != nil || secret.Auths == nil {
		return badRequest(`pull_secret is not JSON with "auths"`)
	}
	return nil
}

// InfraEnv returns one infra-env.
func (h *Hub) InfraEnv(ctx context.Context, id string) (wire.InfraEnv, error) {
	env, err := h.record(ctx, id)
	if err != nil {
		return wire.InfraEnv{}, err
	}
	return h.shown(env), nil
}

// InfraEnvs returns all infra-envs, or those of one cluster.
func (h *Hub) InfraEnvs(ctx context.Context, clusterID string) (wire.InfraEnvList, error) {
	out := wire.InfraEnvList{}
	err := h.view(ctx, func(r *store.Reader) error {
		found, err := r.InfraEnvs(store.InfraEnvFilter{ClusterID: clusterID})
		for _, e := range found {
			out = append(out, h.shown(e))
		}
		return err
	})
	return out, err
}

// DeleteInfraEnv removes an infra-env without hosts; one with hosts is refused
// with 400. Its tokens die with it.
func (h *Hub) DeleteInfraEnv(ctx context.Context, id string) error {
	return h.update(ctx, func(w *work) error {
		env, err := w.env(id)
		if err != nil {
			return err
		}
		hosts, err := w.read.Hosts(store.HostFilter{InfraEnvID: id, Bare: true})
		if err != nil {
			return err
		}
		if len(hosts) > 0 {
			return badRequest("infra-env %s still has %d hosts; delete them first", env.API.Name, len(hosts))
		}
		w.announce(Event{InfraEnvID: id, What: ChangedDeleted})
		if err := w.envEvent(env, "infra_env_deregistered", wire.EventSeverityInfo, "removed", nil); err != nil {
			return err
		}
		w.remove(env.Ref())
		return nil
	})
}

func (h *Hub) record(ctx context.Context, infraEnvID string) (*store.InfraEnv, error) {
	var env *store.InfraEnv
	err := h.view(ctx, func(r *store.Reader) error {
		var err error
		env, err = r.InfraEnv(infraEnvID)
		if errors.Is(err, store.ErrNotFound) {
			return refuse(http.StatusNotFound, "there is no infra-env %s", infraEnvID)
		}
		return err
	})
	return env, err
}

// value is the text behind a pointer, or nothing.
func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// set changes a member that was given.
func set[T any](member *T, given *T) {
	if given != nil {
		*member = *given
	}
}
