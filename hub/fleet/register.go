package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/clustermachine"
	"github.com/ironflow/ironflow/hub/clusters"
	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/rules"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
	"github.com/ironflow/ironflow/hub/wire"
)

// Registration is an agent's announcement of its host.
type Registration struct {
	InfraEnvID, HostID string
	// AgentVersion is the agent's image reference.
	AgentVersion string
	// Attempt tells one run of the deploy step from the next; empty for agents
	// that do not say. See [wire.HeaderAttempt].
	Attempt string
	// By is the token that the agent registers with; the zero value stands for a hub
	// without authentication.
	By auth.Claims
	// From is where the call comes from: another machine with the same id does not repeat it.
	From string
	// WantsToken tells that the agent goes on with a token of the host's own.
	WantsToken bool
}

// maxVersion bounds the reference of an agent's image, in bytes.
const maxVersion = 512

// RegisterHost notes a host whose agent has started, and answers what the agent
// needs to go on. A known host starts over as far as its status allows; a host
// that the hub must not touch again is refused with 403 or 409, a new one of a cluster
// that is closed for now with 503, or with 409 where no agent asks. One without a record that
// somebody else remembers (see [Memory]) is put off with 503 until it has one again.
// The same registration that comes again meanwhile waits for the first, which goes on
// when its caller leaves.
func (f *Fleet) RegisterHost(ctx context.Context, r Registration) (wire.HostRegistrationResponse, error) {
	if uuid.Validate(r.HostID) != nil {
		return wire.HostRegistrationResponse{}, apierror.BadRequest("host_id %.40q is not a UUID", r.HostID)
	}
	if len(r.AgentVersion) > maxVersion {
		return wire.HostRegistrationResponse{}, apierror.BadRequest("discovery_agent_version has %d bytes, more than %d", len(r.AgentVersion), maxVersion)
	}
	return f.registering.Do(ctx, unit.Text(r), func(ctx context.Context) (wire.HostRegistrationResponse, error) { return f.registerHost(ctx, r) })
}

// registerHost has one end, whatever comes of the registration.
func (f *Fleet) registerHost(ctx context.Context, r Registration) (wire.HostRegistrationResponse, error) {
	key := store.HostKey{InfraEnvID: r.InfraEnvID, HostID: r.HostID}
	answer, err := f.tryRegistration(ctx, key, r)
	f.refusedTwin(ctx, key, err)
	f.turnedAway(ctx, key, err)
	return answer, err
}

func (f *Fleet) tryRegistration(ctx context.Context, key store.HostKey, r Registration) (answer wire.HostRegistrationResponse, err error) {
	if err := f.Remembered(ctx, key); err != nil {
		return answer, err
	}
	err = f.units.Update(ctx, func(w *settle.Work) error {
		host, err := f.register(w, r)
		if err != nil {
			return err
		}
		if err := w.Settle(); err != nil {
			return err
		}
		answer, err = registrationAnswer(host, cmp.Or(f.units.Rules.Checks.AgentImage, r.AgentVersion, f.units.Rules.Images.Installer))
		return err
	})
	return answer, err
}

func (f *Fleet) register(w *settle.Work, r Registration) (*store.Host, error) {
	env, err := w.Env(r.InfraEnvID)
	if err != nil {
		return nil, err
	}
	if env.API.Type == wire.ImageTypeDisconnectedISO {
		return nil, apierror.BadRequest("infra-env %s is for disconnected images; hosts cannot register in it", env.API.Name)
	}
	host, err := w.Host(store.HostKey{InfraEnvID: r.InfraEnvID, HostID: r.HostID})
	if err == nil {
		if err := bind(w, host, false, r); err != nil {
			return nil, err
		}
	}
	if err == nil && slices.Contains(hostmachine.Installing, host.API.Status) {
		host.CutOff = host.API.StatusUpdatedAt.Time // an agent that goes on after a crash does not register
	}
	switch {
	case apierror.IsNotFound(err):
		if err := f.room.forOneMore(w, env); err != nil {
			return nil, err
		}
		if host, err = newHost(w, env, r); err != nil {
			return nil, err
		}
		if err := bind(w, host, true, r); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	default:
		if err := startOver(w, host, r); err != nil {
			return nil, err
		}
	}
	host.Restarted = false
	host.API.CheckedInAt, host.API.RegisteredAt = w.At(), w.At()
	host.API.DiscoveryAgentVersion, host.Attempt, host.AgentFailed = r.AgentVersion, r.Attempt, ""
	if err := rejoin(w, env, host); err != nil {
		return nil, err
	}
	if err := w.Trigger(host, hostmachine.Register, ""); err != nil {
		return nil, registerRefusal(host, err)
	}
	w.Touch(host, store.ChangedHost)
	if err := upgrades(w, host); err != nil {
		return nil, err
	}
	return host, w.HostEvent(host, "host_registration_succeeded", wire.EventSeverityInfo, "registered", unit.Props{"agent_version": r.AgentVersion})
}

// upgrades says that the agent will be told to make way for the wanted one.
func upgrades(w *settle.Work, host *store.Host) error {
	wanted := w.Checks.AgentImage
	if wanted == "" || host.API.DiscoveryAgentVersion == wanted {
		return nil
	}
	return w.HostEvent(host, "upgrade_agent_started", wire.EventSeverityInfo, "its agent makes way for "+wanted, unit.Props{"agent_image": wanted})
}

func registerRefusal(host *store.Host, err error) error {
	if errors.Is(err, rules.ErrNoRule) {
		return apierror.BadRequest("a host in status %s cannot register", host.API.Status)
	}
	if refused, ok := errors.AsType[*rules.RefusedError](err); ok {
		code := http.StatusConflict
		if host.API.Status == wire.HostStatusInstallingPendingUserAction {
			code = http.StatusForbidden
		}
		return apierror.New(code, "%s", refused.Why)
	}
	return err
}

// newHost makes the record of a host that was never seen.
func newHost(w *settle.Work, env *store.InfraEnv, r Registration) (*store.Host, error) {
	host := &store.Host{Approved: env.AutoApprove}
	host.API = wire.Host{
		ID: r.HostID, InfraEnvID: r.InfraEnvID, Kind: wire.HostKindHost, Role: wire.HostRoleAutoAssign,
		Href: hostHref(r.InfraEnvID, r.HostID), CreatedAt: w.Now,
	}
	if env.API.ClusterID == "" {
		return host, nil
	}
	c, err := w.Cluster(env.API.ClusterID)
	if err != nil {
		return nil, err
	}
	if err := clusters.Opened(w, c); err != nil {
		return nil, err
	}
	if !slices.Contains(clustermachine.Open, c.API.Status) {
		return nil, closed(r, c)
	}
	join(host, c)
	return host, nil
}

// join makes the host one of the cluster.
func join(host *store.Host, c *store.Cluster) {
	host.API.ClusterID = &c.API.ID
	switch {
	case c.API.Kind == wire.ClusterKindAddHostsCluster:
		host.API.Kind, host.API.Role, host.API.MachineConfigPoolName = wire.HostKindAddToExistingClusterHost, wire.HostRoleWorker, "worker"
		host.API.SuggestedRole = wire.HostRoleWorker
	case evaluate.SingleNode(c):
		host.API.Role, host.API.SuggestedRole = wire.HostRoleMaster, wire.HostRoleMaster
	}
}

// rejoin gives a host of a single-host infra-env its own cluster, when it has
// none, may begin anew, and nobody has put it into the pool.
func rejoin(w *settle.Work, env *store.InfraEnv, host *store.Host) error {
	fresh := host.API.Status == "" || slices.Contains(hostmachine.Pool, host.API.Status) ||
		host.API.Status == wire.HostStatusUnbinding || host.API.Status == wire.HostStatusUnbindingPendingUserAction
	if !env.SingleHost || !fresh || host.Pooled {
		return nil
	}
	if host.API.Status != "" {
		settle.ClearBinding(&host.API)
		settle.ClearDiscovery(&host.API)
		host.API.Status = ""
	}
	c, err := clusters.Own(w, env, host)
	if err != nil {
		return err
	}
	join(host, c)
	return nil
}

// startOver lets a new attempt on a host of its own cluster begin anew. Only
// Ironic's deploy step starts an agent in this flow, so a registration of a new
// attempt is somebody's explicit wish to install; an installed host is still
// refused until it is removed.
func startOver(w *settle.Work, host *store.Host, r Registration) error {
	c, err := w.ClusterOf(host)
	if err != nil || c == nil || !c.Own {
		return err
	}
	newAttempt := r.Attempt == "" || r.Attempt != host.Attempt
	ended := host.API.Status == wire.HostStatusError || host.API.Status == wire.HostStatusCancelled
	interrupted := r.Attempt != "" && newAttempt && slices.Contains(hostmachine.Installing, host.API.Status)
	if interrupted {
		if err := w.Trigger(host, hostmachine.InstallationFailed, "the host was started anew during the installation"); err != nil {
			return err
		}
		if err := w.Settle(); err != nil {
			return err
		}
	}
	if !interrupted && (!ended || !newAttempt) {
		return nil
	}
	return reset(w, host, c)
}

// reset makes a host of its own cluster ready to begin anew with its next registration.
func reset(w *settle.Work, host *store.Host, c *store.Cluster) error {
	reason := host.Reason
	if err := w.TriggerCluster(c, clustermachine.Reset); errors.Is(err, rules.ErrNoRule) {
		err = w.Trigger(host, hostmachine.ResettingPendingUserAction, "")
		if err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	host.Reason = reason
	if !c.PreparedAt.IsZero() {
		c.PreparedAt, c.Preparations = time.Time{}, 0
		w.TouchCluster(c)
	}
	return nil
}

func hostHref(infraEnvID, hostID string) string {
	return "/api/assisted-install/v2/infra-envs/" + infraEnvID + "/hosts/" + hostID
}

// registrationAnswer carries what the agent goes on with: its identity and the
// agent image to run.
func registrationAnswer(host *store.Host, agentVersion string) (wire.HostRegistrationResponse, error) {
	args, err := json.Marshal(wire.NextStepCmdRequest{
		InfraEnvID: host.API.InfraEnvID, HostID: host.API.ID, AgentVersion: agentVersion,
	})
	return wire.HostRegistrationResponse{
		Host:                  host.API,
		NextStepRunnerCommand: &wire.HostRegistrationResponseNextStepRunnerCommand{Args: []string{string(args)}},
	}, err
}
