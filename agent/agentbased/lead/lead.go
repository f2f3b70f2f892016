package lead

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/ironflow/ironflow/agent/agentbased/hostconfig"
	"github.com/ironflow/ironflow/agent/agentbased/hubcalls"
	"github.com/ironflow/ironflow/agent/agentbased/messages"
	"github.com/ironflow/ironflow/agent/agentbased/pause"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
)

// every is how often the hub is asked: it has no way to tell by itself.
const every = 5 * time.Second

// Hub is what the hub is asked.
type Hub interface {
	Clusters(ctx context.Context) ([]wire.Cluster, error)
	InfraEnvs(ctx context.Context) ([]wire.InfraEnv, error)
	Hosts(ctx context.Context, infraEnv string) ([]wire.Host, error)
	InstallCluster(ctx context.Context, cluster string) error
	InstallHost(ctx context.Context, infraEnv, host string) error
	// Close ends the connections: the hub is looked for anew each time.
	Close()
}

// Leader is what all of this package's programs need.
type Leader struct {
	Dir     hostfile.Dir
	Console *messages.Console
	Log     *slog.Logger
	// Hub makes the hub of the settings; nil is the real one.
	Hub func(settings map[string]string) (Hub, error)
}

// hub reads the settings, which may have changed, and returns the hub that they name, to be
// closed before the next look.
func (l Leader) hub() (Hub, map[string]string, error) {
	settings, err := places.Settings(l.Dir)
	if err != nil {
		return nil, nil, err
	}
	if l.Hub != nil {
		h, err := l.Hub(settings)
		return h, settings, err
	}
	h, err := hubcalls.New(l.Dir, settings)
	return h, settings, err
}

// ErrFailed means that the installation has ended without its goal: a person must act.
var ErrFailed = errors.New("the installation has ended without its goal")

// repeat calls look every few seconds until it is done, or the context ends.
func repeat(ctx context.Context, look func() (done bool, err error)) error {
	for {
		done, err := look()
		if done || err != nil {
			return err
		}
		if err := pause.For(ctx, every); err != nil {
			return err
		}
	}
}

// Cluster starts the installation whenever the cluster is ready with all its hosts, and
// returns when it is installed. A cluster that has failed is waited for: a person may
// reset it.
func (l Leader) Cluster(ctx context.Context) error {
	return repeat(ctx, func() (bool, error) {
		hub, settings, err := l.hub()
		if err != nil {
			l.Console.Show(ctx, messages.StartHubAway, err.Error())
			return false, nil
		}
		defer hub.Close()
		need, err := required(l.Dir, settings)
		if err != nil {
			l.Console.Show(ctx, messages.StartRefused, err.Error())
			return false, nil
		}
		clusters, err := hub.Clusters(ctx)
		switch {
		case err != nil:
			l.Console.Show(ctx, messages.StartHubAway, err.Error())
			return false, nil
		case len(clusters) == 0:
			l.Console.Show(ctx, messages.StartHostsMissing, "the cluster is not registered yet")
			return false, nil
		case len(clusters) > 1:
			l.Console.Show(ctx, messages.StartRefused, fmt.Sprintf("it has %d clusters; remove all but one", len(clusters)))
			return false, nil
		}
		s := decideCluster(need, clusters[0])
		if s.install {
			if missing := l.withoutSettings(clusters[0].Hosts); missing != "" {
				l.Console.Show(ctx, messages.StartHostsMissing, missing)
				return false, nil
			}
			if err := hub.InstallCluster(ctx, clusters[0].ID); err != nil {
				l.Console.Show(ctx, messages.StartRefused, err.Error())
				return false, nil
			}
			l.Log.InfoContext(ctx, "the hub starts the installation", "cluster", clusters[0].ID)
		}
		l.Console.Show(ctx, s.message, s.args...)
		return s.done, nil
	})
}

// Node starts the installation of the host with this id, and returns when it is
// installed; [ErrFailed] when that has failed.
func (l Leader) Node(ctx context.Context, id string) error {
	return repeat(ctx, func() (bool, error) {
		hub, settings, err := l.hub()
		if err != nil {
			l.Console.Show(ctx, messages.AddNodeWaiting, err.Error())
			return false, nil
		}
		defer hub.Close()
		env := settings[places.InfraEnvID]
		if env == "" {
			l.Console.Show(ctx, messages.AddNodeWaiting, places.InfraEnvID+" is not known yet")
			return false, nil
		}
		hosts, err := hub.Hosts(ctx, env)
		if err != nil {
			l.Console.Show(ctx, messages.AddNodeWaiting, err.Error())
			return false, nil
		}
		for _, h := range hosts {
			if h.ID == id {
				return l.node(ctx, hub, env, h)
			}
		}
		l.Console.Show(ctx, messages.AddNodeWaiting, "it has not registered yet")
		return false, nil
	})
}

func (l Leader) node(ctx context.Context, hub Hub, env string, h wire.Host) (bool, error) {
	s := decideNode(h)
	if s.install {
		if missing := l.withoutSettings([]wire.Host{h}); missing != "" {
			l.Console.Show(ctx, messages.AddNodeWaiting, missing)
			return false, nil
		}
		if err := hub.InstallHost(ctx, env, h.ID); err != nil {
			l.Console.Show(ctx, messages.AddNodeRefused, err.Error())
			return false, nil
		}
		l.Log.InfoContext(ctx, "the hub starts the installation of this host", "host", h.ID)
	}
	l.Console.Show(ctx, s.message, s.args...)
	if s.failed {
		return true, fmt.Errorf("%w: %s", ErrFailed, s.args[0])
	}
	return s.done, nil
}

// withoutSettings says which hosts have not got the role and the disk that the image says; empty for
// none. One that has just registered again may be ready before: it would be installed to a disk that
// the hub chooses.
func (l Leader) withoutSettings(hosts []wire.Host) string {
	applied, err := hostconfig.Read(l.Dir)
	if err != nil {
		return err.Error()
	}
	missing := applied.Missing(hosts)
	if len(missing) == 0 {
		return ""
	}
	var names []string
	for _, h := range missing[:min(len(missing), shown)] {
		names = append(names, cmp.Or(h.RequestedHostname, h.ID))
	}
	return fmt.Sprintf("the roles and disks that the image says are not set yet of %d hosts (%s)", len(missing), strings.Join(names, ", "))
}

// InfraEnv waits until the hub has an infra-env and returns the id of the first one, with
// the hub's URL.
func (l Leader) InfraEnv(ctx context.Context) (id, url string, err error) {
	last := ""
	err = repeat(ctx, func() (bool, error) {
		hub, settings, err := l.hub()
		var envs []wire.InfraEnv
		if err == nil {
			envs, err = hub.InfraEnvs(ctx)
			hub.Close()
		}
		if err == nil && len(envs) == 0 {
			err = errors.New("the hub has no infra-env yet")
		}
		if err != nil {
			if last != err.Error() {
				last = err.Error()
				l.Log.InfoContext(ctx, "the agent waits for an infra-env", "reason", err)
			}
			return false, nil
		}
		id, url = envs[0].ID, settings[places.ServiceBaseURL]
		return true, nil
	})
	return id, url, err
}
