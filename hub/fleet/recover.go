package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/clusters"
	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
	"github.com/ironflow/ironflow/hub/wire"
)

// LostHost is what somebody else still knows of a host that the hub has no record of.
type LostHost struct {
	// Known has the status and what else is to come back: names, role, disk,
	// inventory, progress, overrides.
	Known wire.Host
	// Approved tells that it may be installed.
	Approved bool
	// ClusterID is its cluster, empty for none.
	ClusterID string
	// Asked are the settings that its object asks for, Token is what TokenFrom of them holds.
	Asked store.HostSettings
	Token string
	// Signing are the signing requests of its kubelet.
	Signing store.Signing
	// Machine is whose live image the host had registered from (see [HostView.Machine]): its agent, which goes on, has no
	// other token. Shared tells that it was that of the infra-env. Nobody knows where neither is set.
	Machine string
	Shared  bool
	// Since is when whoever knows it heard of it first.
	Since time.Time
	// EnvBirth is that of its infra-env's record when the host was last seen in the hub (see
	// [HostView.EnvBirth]); empty where nobody has noted it.
	EnvBirth string
}

// removed tells that somebody has removed the host from the hub, whose records are whole: they
// are those in which the host was seen last, or, where nobody has noted that, older than what
// is known of it. Any others were made since the host's was lost: another hub's, new ones, or
// those of a backup.
func (l LostHost) removed(env *store.InfraEnv) bool {
	if l.EnvBirth == "" {
		return !l.Since.Before(env.API.CreatedAt.Truncate(time.Second))
	}
	return l.EnvBirth == env.Birth
}

// RecoverHost makes the record of a host anew, where it was lost with the store, or has
// never been in this one. A host that was removed from the hub stays removed, and one that was not begun to be installed comes
// back by itself; both are no error, and made is false. No host comes back in a
// status in which it would be installed without a person's word.
func (f *Fleet) RecoverHost(ctx context.Context, key store.HostKey, lost LostHost) (made bool, err error) {
	status, info, ok := hostmachine.Recovered(lost.Known.Status)
	if !ok {
		return false, f.current(ctx, key)
	}
	err = f.units.Update(ctx, func(w *settle.Work) error {
		made = false
		env, err := w.Env(key.InfraEnvID)
		if err != nil {
			return err
		}
		host := lost.record(w, key)
		switch old, err := w.Host(key); {
		case apierror.IsNotFound(err):
			if lost.removed(env) {
				return nil
			}
		case err != nil || !old.Restored:
			return err // an agent was faster
		default:
			if id := old.ClusterID(); id != "" {
				w.LookAt(id)
			}
			host = lost.replaced(old, host)
		}
		made = true
		host.API.Status, host.API.StatusInfo, host.API.StatusUpdatedAt = status, info, w.At()
		if err := placeRecovered(w, env, host, lost.ClusterID); err != nil {
			return err
		}
		w.Touch(host, store.ChangedHost)
		if err := w.HostEvent(host, "host_recovered", wire.EventSeverityWarning, "the record was made anew: "+info, unit.Props{"src_status": lost.Known.Status}); err != nil {
			return err
		}
		return w.Settle()
	})
	return made && err == nil, err
}

// Current notes that the record of a host, which was put back from a backup, says no less than what somebody else
// knows of it: it goes on from where it was.
func (f *Fleet) current(ctx context.Context, key store.HostKey) error {
	return f.change(ctx, key, func(w *settle.Work, host *store.Host) error {
		if host.Restored {
			host.Restored = false
			w.Touch(host, store.ChangedHost)
		}
		return nil
	})
}

// record is the host's, but for its status and its cluster.
func (l LostHost) record(w *settle.Work, key store.HostKey) *store.Host {
	k := l.Known
	host := &store.Host{Approved: l.Approved, DiskChosen: k.InstallationDiskID != "", InventoryAt: w.Now, Signing: l.Signing}
	host.Bearer.Machine = l.Machine
	host.Asked, host.EndpointToken, host.EndpointHeaders = l.Asked, l.Token, headersOf(l.Asked.Headers)
	host.API = wire.Host{
		ID: key.HostID, InfraEnvID: key.InfraEnvID, Kind: wire.HostKindHost, Href: hostHref(key.InfraEnvID, key.HostID),
		CreatedAt: l.Since, RegisteredAt: wire.At(l.Since),
		RequestedHostname: k.RequestedHostname, Role: k.Role, SuggestedRole: k.SuggestedRole, Bootstrap: k.Bootstrap, MachineConfigPoolName: k.MachineConfigPoolName,
		InstallationDiskID: k.InstallationDiskID, InstallationDiskPath: k.InstallationDiskPath, NodeLabels: k.NodeLabels,
		InstallerArgs: k.InstallerArgs, IgnitionConfigOverrides: k.IgnitionConfigOverrides,
		IgnitionEndpointTokenSet: l.Token != "",
		Inventory:                k.Inventory, Progress: k.Progress, ProgressStages: slices.Clone(k.ProgressStages),
	}
	var inventory wire.Inventory
	if json.Unmarshal([]byte(k.Inventory), &inventory) == nil {
		host.MACs = evaluate.MACs(&inventory)
	}
	return host
}

// replaced is the record of a backup with what somebody has seen of the host since.
func (l LostHost) replaced(old, now *store.Host) *store.Host {
	if known := l.Machine != "" || l.Shared; known && old.Bearer.Machine != l.Machine { // it has booted another image since
		old.Bearer.Machine, old.Bearer.Exchanged = l.Machine, false
	}
	now.API.CreatedAt, now.API.RegisteredAt = old.API.CreatedAt, old.API.RegisteredAt
	old.API, old.MACs, old.Approved, old.DiskChosen, old.InventoryAt = now.API, now.MACs, now.Approved, now.DiskChosen, now.InventoryAt
	old.Asked, old.EndpointToken, old.EndpointHeaders, old.Signing = now.Asked, now.EndpointToken, now.EndpointHeaders, now.Signing
	old.Restored, old.Pooled, old.Unprepared, old.Reason, old.CutOff = false, false, "", "", now.CutOff
	return old
}

// placeRecovered gives the host its cluster, or its own one in the host's status.
func placeRecovered(w *settle.Work, env *store.InfraEnv, host *store.Host, clusterID string) error {
	if clusterID == "" && !env.SingleHost {
		return nil
	}
	var c *store.Cluster
	var err error
	if clusterID != "" {
		c, err = w.Cluster(clusterID)
	} else {
		c, err = clusters.RecoverOwn(w, env, host)
	}
	if err != nil {
		return err
	}
	if c.HostsAwaited {
		c.HostsAwaited = false
		w.TouchCluster(c)
	}
	role, suggested, pool := host.API.Role, host.API.SuggestedRole, host.API.MachineConfigPoolName
	join(host, c)
	takeRole(host, role)
	host.API.SuggestedRole, host.API.MachineConfigPoolName = suggested, cmp.Or(pool, host.API.MachineConfigPoolName)
	return nil
}
