// Package bootstrap is what the bootstrap host of a cluster does besides writing
// its own disk: it runs the cluster's temporary control plane out of memory.
// [Role] adds its tasks to the graph of the installation:
// fetch bootstrap.ign, write it onto the live system, start bootkube and its
// companions, and wait for the control plane. A cluster that is not OpenShift has
// no bootstrap.ign and so no such role: the tasks then have nothing to do.
package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/install"
	"github.com/ironflow/ironflow/agent/install/effect"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/systemd"
	"github.com/ironflow/ironflow/hub/wire"
)

// Hub is what the role asks of the hub.
type Hub interface {
	ClusterFile(ctx context.Context, clusterID, name string) ([]byte, error)
	// ClusterInventories lists the cluster's hosts with their inventories.
	ClusterInventories(ctx context.Context, clusterID string) ([]wire.Host, error)
	Progress(ctx context.Context, h hubclient.Host, progress wire.HostProgress) error
}

// Units is what it needs of the host's systemd.
type Units interface {
	Unit(ctx context.Context, unit string) (systemd.Properties, error)
	Start(ctx context.Context, unit string) (result string, err error)
	Restart(ctx context.Context, unit string) (result string, err error)
	Reload(ctx context.Context) error
	// SetHostname names a host that has no name yet, or one that no node can have.
	SetHostname(ctx context.Context, name string) error
}

// Role is the bootstrap role of one host. All fields must be set.
type Role struct {
	Dir      hostfile.Dir
	Commands command.Runner
	// Env is what podman pulls images with, NAME=value: its configuration; the order's proxies are added.
	Env   []string
	Hub   Hub
	Units Units
	// Controller is what the in-cluster controller is told.
	Controller Controller
	Effects    *effect.Recorder
	Log        *slog.Logger

	mu     sync.Mutex
	absent bool // the cluster has no bootstrap role
}

// Files of the temporary control plane, as its services write them.
const (
	ignitionFile = hostfile.RunDir + "/bootstrap.ign"
	bootkubeDone = "/opt/openshift/.bootkube.done"
	manifestsDir = "/opt/openshift/manifests"
	kubeconfig   = "/opt/openshift/auth/kubeconfig-loopback"
)

// services are what is started, in this order.
var services = []string{"bootkube.service", "approve-csr.service", "progress.service"}

// Names of tasks.
const (
	fetch          = "fetch-bootstrap-ignition"
	unpack         = "write-machine-config"
	settle         = "settle-live-system"
	manifests      = "write-controller-manifests"
	start          = "start-bootstrap-services"
	waitNodes      = "wait-control-plane"
	waitBootkube   = "wait-bootkube"
	waitController = "wait-controller"
)

// Tasks returns the role's tasks and the names of those that the disk must wait
// for: a single node writes it only when its temporary control plane has done its work.
func (r *Role) Tasks(_ context.Context, job install.Job, single bool) (tasks []install.Task, before []string, err error) {
	stage := wire.HostStageWaitingForControlPlane
	if single {
		stage = wire.HostStageWaitingForBootkube
	}
	add := func(name string, stage wire.HostStage, after string, run func(ctx context.Context, report install.Report) error) {
		t := install.Task{Name: name, Stage: stage, Run: func(ctx context.Context, report install.Report) error {
			if r.none() {
				return nil
			}
			return run(ctx, report)
		}}
		if after != "" {
			t.After = []string{after}
		}
		tasks = append(tasks, t)
	}
	add(fetch, stage, "", func(ctx context.Context, _ install.Report) error { return r.fetch(ctx, job.Request) })
	add(unpack, stage, fetch, func(ctx context.Context, report install.Report) error { return r.unpack(ctx, job.Request, report) })
	add(settle, stage, unpack, func(ctx context.Context, _ install.Report) error { return r.settle(ctx, job.Request) })
	add(manifests, stage, settle, func(ctx context.Context, _ install.Report) error {
		if job.Request.ControllerImage == "" {
			return nil
		}
		return r.writeManifests(ctx, job.Request)
	})
	add(start, stage, manifests, func(ctx context.Context, _ install.Report) error { return r.start(ctx) })
	add(waitBootkube, wire.HostStageWaitingForBootkube, start, r.waitBootkube)
	if single {
		return tasks, []string{waitBootkube}, nil
	}
	add(waitNodes, wire.HostStageWaitingForControlPlane, start, func(ctx context.Context, report install.Report) error {
		return r.waitNodes(ctx, job.Request, report)
	})
	if job.Request.ControllerImage != "" { // nobody else says that it is ready
		add(waitController, wire.HostStageWaitingForController, waitBootkube, r.waitController)
	}
	return tasks, nil, nil
}

func (r *Role) none() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.absent
}

// fetch gets bootstrap.ign. A hub that has none, for a cluster without a release,
// says with it that there is no bootstrap role.
func (r *Role) fetch(ctx context.Context, request wire.InstallCmdRequest) error {
	var raw []byte
	none := false
	err := install.Persist(ctx, r.Log, "fetch bootstrap.ign", func() (err error) {
		raw, err = r.Hub.ClusterFile(ctx, request.ClusterID, "bootstrap.ign")
		code := hubclient.Code(err)
		if request.OpenshiftVersion == "" && (code == http.StatusNotFound || code == http.StatusConflict) {
			none = true
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	if none {
		r.Log.Info("the cluster has no bootstrap.ign, so no bootstrap role")
		r.mu.Lock()
		defer r.mu.Unlock()
		r.absent = true
		return nil
	}
	config, err := parse(raw)
	if err != nil {
		return fmt.Errorf("bootstrap.ign: %w", err)
	}
	if request.McoImage == "" { // nobody else writes it: what cannot be done is refused before anything is
		if _, err := newLive(raw, r.Dir); err != nil {
			return fmt.Errorf("bootstrap.ign: %w", err)
		}
	}
	err = r.Effects.Do(ctx, effect.KeepBootstrap, ignitionFile, func() error { return writeFile(r.Dir, ignitionFile, raw, 0o600) })
	if err != nil {
		return err
	}
	secret, found, err := config.file(pullSecret)
	if err != nil || !found {
		return err
	}
	return r.Effects.Do(ctx, effect.WritePullSecret, pullSecret, func() error { return writeFile(r.Dir, pullSecret, secret, 0o600) })
}

// begun tells whether an earlier process has started the services already: then
// the live system is left as they know it.
func (r *Role) begun(ctx context.Context) bool {
	if exists(r.Dir, bootkubeDone) {
		return true
	}
	unit, err := r.Units.Unit(ctx, services[0])
	return err == nil && (unit.ActiveState == "active" || unit.ActiveState == "activating")
}

// errNotLoaded means that bootstrap.ign did not bring a unit.
var errNotLoaded = errors.New("systemd has no such unit; bootstrap.ign should have brought it")
