package fleet

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/reports"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// HostView is what a controller shows of a host.
type HostView struct {
	Key       store.HostKey
	ClusterID string
	// Name is the wanted name, the host's own, or its id.
	Name string
	// Status and Info are the host's status with its text for people.
	Status, Info string
	// Stage and StageInfo are the installation stage and its detail; empty before.
	Stage     wire.HostStage
	StageInfo string
	// Percent of the installation, 0 to 100 by the protocol's rule.
	Percent int
	// StagePercent of the present stage, 0 to 100; -1 when it does not say.
	StagePercent int
	// Waiting says what the host waits for and who can end it; empty while it works.
	Waiting string
	// Approved tells that it may be installed.
	Approved bool
	// Asked is what its object has asked for last.
	Asked store.HostSettings
	// Installing, Installed, Failed and Cancelled sum the status up.
	Installing, Installed, Failed, Cancelled bool
	// Reason is why the last installation failed or was called off.
	Reason string
	// Attempts counts the installations that were started.
	Attempts int
	// CheckedInAt is the agent's last sign of life, StageUpdatedAt the last report of the stage.
	CheckedInAt, StatusSince, StageUpdatedAt time.Time
	// InventoryAt is when the inventory was last stored; zero before.
	InventoryAt time.Time
	// CutOff is when the installation began that a restart of the machine has cut
	// off; zero for none.
	CutOff time.Time
	// Restored tells that the record is that of a backup, and may know less than its object.
	Restored bool
	// Signing are the signing requests of its kubelet since its installation began.
	Signing store.Signing
	// Machine is whose live image the host has registered from, by the token in it: named as that image is, such as by the
	// boot MAC address. Shared tells that the image was that of the infra-env. A hub that checks no tokens knows neither.
	Machine string
	Shared  bool
	// EnvBirth is [store.InfraEnv.Birth] of its infra-env, for a host that would have to come
	// back if its record were lost; empty for any other.
	EnvBirth string
}

// View returns what a controller shows of a host, with the host itself.
func (f *Fleet) View(ctx context.Context, key store.HostKey) (HostView, wire.Host, error) {
	var view HostView
	var api wire.Host
	err := f.units.View(ctx, func(w *settle.Work) error {
		host, err := w.Host(key)
		if err != nil {
			return err
		}
		view, api = viewOf(host), host.API
		if _, _, lasting := hostmachine.Recovered(host.API.Status); !lasting {
			return nil
		}
		env, err := w.Env(key.InfraEnvID)
		if err == nil {
			view.EnvBirth = env.Birth
		}
		return err
	})
	return view, api, err
}

// mostClaims is how many hosts are looked at that say they have an address.
const mostClaims = 100

// HostByMAC returns the infra-env's host with that address in its inventory.
// False means that there is none (yet), or that several say that they have it:
// a machine's word alone does not tell which of them it is. The token does of the one that has registered from
// the image of the machine with that address, and of others that have from that of another machine. That image may
// have other names than the address, such as one from before the address was known.
func (f *Fleet) HostByMAC(ctx context.Context, infraEnvID, mac string, images ...string) (HostView, bool, error) {
	var view HostView
	found := false
	mac = strings.ToLower(mac)
	err := f.units.View(ctx, func(w *settle.Work) error {
		hosts, err := claiming(w, store.HostFilter{InfraEnvID: infraEnvID, MAC: mac, Bare: true}, append([]string{mac}, images...))
		if err != nil || len(hosts) != 1 {
			return err
		}
		host, err := w.Host(hosts[0].Key())
		if err == nil {
			view, found = viewOf(host), true
		}
		return err
	})
	return view, found, err
}

// claiming are those of the hosts that say that they have an address that may be the machine with it: the one that has
// registered from its image, whatever number of others there is, or else those that have from no machine's image.
func claiming(w *settle.Work, filter store.HostFilter, images []string) ([]*store.Host, error) {
	for _, image := range images {
		own := filter
		own.Machine, own.Limit = image, 1
		if hosts, err := w.Reader.Hosts(own); err != nil || len(hosts) > 0 {
			return hosts, err
		}
	}
	filter.Limit = mostClaims
	hosts, err := w.Reader.Hosts(filter)
	return slices.DeleteFunc(hosts, func(h *store.Host) bool { return h.Bearer.Machine != "" }), err
}

func viewOf(host *store.Host) HostView {
	v := HostView{
		Key: host.Key(), ClusterID: host.ClusterID(), Name: evaluate.HostName(host), Status: host.API.Status, Info: host.API.StatusInfo,
		Stage: host.Stage(), StagePercent: stagePercent(host.API.Progress), Approved: host.Approved, Reason: host.Reason, Attempts: host.Attempts,
		Installing: slices.Contains(hostmachine.Installing, host.API.Status), Installed: evaluate.IsUp(host.API.Status),
		Failed: host.API.Status == wire.HostStatusError, Cancelled: host.API.Status == wire.HostStatusCancelled,
		CheckedInAt: host.API.CheckedInAt.Time, StatusSince: host.API.StatusUpdatedAt.Time, InventoryAt: host.InventoryAt,
		CutOff: host.CutOff, Asked: host.Asked, Restored: host.Restored, Signing: host.Signing,
		Machine: host.Bearer.Machine, Shared: host.Bearer.Machine == "" && host.Bearer.Serial > 0,
	}
	if p := host.API.Progress; p != nil {
		v.StageInfo, v.Percent, v.StageUpdatedAt = p.ProgressInfo, int(p.InstallationPercentage), p.StageUpdatedAt.Time
	}
	if !v.Installing && !v.Installed && !v.Failed && !v.Cancelled {
		v.Waiting = host.API.StatusInfo
	}
	if host.API.Status == wire.HostStatusInstallingPendingUserAction {
		v.Waiting = host.API.StatusInfo
	}
	return v
}

// change changes the host; one that is not there any more is no error.
func (f *Fleet) change(ctx context.Context, key store.HostKey, act func(*settle.Work, *store.Host) error) error {
	err := f.units.Update(ctx, func(w *settle.Work) error {
		host, err := w.Host(key)
		if err != nil {
			return err
		}
		return act(w, host)
	})
	if apierror.IsNotFound(err) {
		return nil
	}
	return err
}

// CompleteHost is told by the controllers when the machine runs from its disk. Where nobody in the cluster reports Joined and Done, this
// is what completes the installation; otherwise the host is Configuring, and the rest is the cluster's to say. It may be called again; a host that has
// failed or was called off in the meantime stays so.
func (f *Fleet) CompleteHost(ctx context.Context, key store.HostKey) error {
	return f.change(ctx, key, func(w *settle.Work, host *store.Host) error {
		if !slices.Contains(hostmachine.Installing, host.API.Status) {
			return nil
		}
		c, err := w.ClusterOf(host)
		if err != nil || c == nil {
			return err
		}
		stages := []wire.HostStage{wire.HostStageJoined, wire.HostStageDone}
		if c.Supervised {
			stages = ahead(host, evaluate.Stages(c, host))
		}
		for _, stage := range stages {
			if err := reports.Stage(w, host, stage, "the machine runs from its disk"); err != nil {
				return err
			}
		}
		return nil
	})
}

// ahead is the stage of a machine that runs from its disk, unless the cluster has said more already.
func ahead(host *store.Host, stages []wire.HostStage) []wire.HostStage {
	if next := slices.Index(stages, wire.HostStageConfiguring); next > slices.Index(stages, host.Stage()) {
		return stages[next : next+1]
	}
	return nil // a single node has no such stage
}

// FailHost is told by the controllers when the deployment of the machine has
// ended without an installation, for a reason that the agent may not have lived
// to tell. It changes nothing unless the host is being installed.
func (f *Fleet) FailHost(ctx context.Context, key store.HostKey, reason string) error {
	return f.change(ctx, key, func(w *settle.Work, host *store.Host) error {
		if !slices.Contains(hostmachine.Installing, host.API.Status) {
			return nil
		}
		return w.Trigger(host, hostmachine.InstallationFailed, reports.FirstLine(reason))
	})
}

var percentForm = regexp.MustCompile(`(\d{1,3})\s?%`)

// stagePercent reads how far the stage is, 0 to 100; -1 when it does not say.
func stagePercent(p *wire.HostProgressInfo) int {
	if p == nil {
		return -1
	}
	m := percentForm.FindStringSubmatch(p.ProgressInfo)
	if m == nil {
		return -1
	}
	n, err := strconv.Atoi(m[1])
	if err != nil || n > 100 {
		return -1
	}
	return n
}
