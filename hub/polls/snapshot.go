package polls

import (
	"context"
	"time"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/snapshots"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// Snapshot returns what the host's polls are answered from; it is made of the
// records where there is none.
func (d *Answerer) Snapshot(ctx context.Context, key store.HostKey) (*snapshots.Host, error) {
	if s := d.cache.Host(key); s != nil {
		return s, nil
	}
	return d.read(ctx, key)
}

// read makes the host's snapshot of the records as they are, and keeps it.
func (d *Answerer) read(ctx context.Context, key store.HostKey) (*snapshots.Host, error) {
	since := d.cache.Now()
	var s *snapshots.Host
	err := d.units.View(ctx, func(w *settle.Work) error {
		host, err := w.Host(key)
		if err != nil {
			return err
		}
		env, err := w.Env(key.InfraEnvID)
		if err != nil {
			return err
		}
		c, err := w.ClusterOf(host)
		if err != nil {
			return err
		}
		more := asked{}
		if more.masters, err = mastersFor(w, host, c); err != nil {
			return err
		}
		if host.API.Status == wire.HostStatusReclaiming && d.artifacts != nil {
			if more.artifacts, err = d.artifacts(env); err != nil {
				return err
			}
		}
		var skipped []instructions.SkippedStep
		s, skipped = snapshotOf(w.Evaluator, host, env, c, more)
		for _, step := range skipped {
			d.units.Log.Info("a step could not be built and was left out", "host", host.API.ID, "step", step.Type, "error", step.Err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.ReadAt = d.units.Now()
	d.cache.Put(s, since)
	return s, nil
}

// Told notes a host's reply to a check by its digest, and the [Result] that it has led to.
func (d *Answerer) Told(key store.HostKey, step wire.StepType, reply, result uint64) {
	d.cache.Told(key, step, reply, result)
}

// Tells reports whether the host's reply tells what it has told last, and what the hub still has of it. It decodes
// and writes nothing where the host's snapshot is there.
func (d *Answerer) Tells(ctx context.Context, key store.HostKey, step wire.StepType, reply uint64) bool {
	s, err := d.Snapshot(ctx, key)
	return err == nil && d.cache.Tells(s, step, reply)
}

// leases are those of the cluster's addresses; c may be nil.
func leases(c *store.Cluster) store.Leases {
	if c == nil {
		return store.Leases{}
	}
	return c.Leases
}

// asked is what the snapshots of few hosts need beside their own records.
type asked struct {
	// masters are the addresses of [mastersFor].
	masters []string
	// artifacts are the live image's parts, for a host that is reclaimed.
	artifacts *wire.DownloadBootArtifactsRequest
}

// snapshotOf makes the snapshot of a host: all that is decoded of it is decoded
// here. c is nil for an unbound host.
func snapshotOf(j evaluate.Evaluator, host *store.Host, env *store.InfraEnv, c *store.Cluster, more asked) (*snapshots.Host, []instructions.SkippedStep) {
	facts := &validations.HostFacts{Host: &host.API, Inventory: evaluate.Inventory(host)} // all that the disk check asks for
	in := instructions.Input{
		Host: &host.API, Inventory: facts.Inventory, InfraEnv: &env.API, Images: j.ImagesOf(c),
		ImagesChecked:    j.ImageCheck(host, c) == hostmachine.Passed,
		DiskCheckTimeout: j.Timers.DiskCheck, ImageTimeout: j.Timers.Images, Disabled: j.Checks.DisabledSteps,
		Last: evaluate.Waits(host, c), Hurry: evaluate.Hurry(host, c), AgentImage: j.Checks.AgentImage,
		EndpointToken: host.EndpointToken, EndpointHeaders: host.EndpointHeaders, APILease: leases(c).API, IngressLease: leases(c).Ingress,
		MasterIPs: more.masters, Artifacts: more.artifacts, TellReboots: c != nil && !c.AutoInstall,
	}
	if c != nil {
		in.Cluster, in.Endpoint, in.DiskChecked, in.HasPeers = &c.API, evaluate.Endpoint(c), j.DiskCheck(host, c, facts) == hostmachine.Passed, !evaluate.SingleNode(c)
	}
	steps, skipped := instructions.For(in)
	s := &snapshots.Host{
		Key: host.Key(), ClusterID: host.ClusterID(), Bearer: host.Bearer, Steps: steps, Peer: peerOf(host, facts.Inventory), Agent: host.API.DiscoveryAgentVersion,
		CheckedInAt: host.API.CheckedInAt.Time, Patience: j.Timers.Silence(host.API.Bootstrap),
		Results: results(host, c, j.NeedsOf(c, facts)),
		Away:    host.API.ConnectionTimedOut || host.API.Status == wire.HostStatusDisconnected || host.API.Status == wire.HostStatusDisconnectedUnbound,
	}
	if host.Twin != nil {
		s.TwinSeenAt = host.Twin.SeenAt
	}
	if evaluate.PastReboot(host.Stage()) {
		s.Patience = 0
	}
	return s, skipped
}

// mastersFor are the addresses of the control plane for a bootstrap host that failed:
// it gathers their logs, too. nil for all other hosts.
func mastersFor(w *settle.Work, host *store.Host, c *store.Cluster) (addresses []string, err error) {
	if c == nil || !host.API.Bootstrap || host.API.Status != wire.HostStatusError && host.API.Status != wire.HostStatusCancelled {
		return nil, nil
	}
	hosts, err := w.HostsOf(c.API.ID)
	if err != nil {
		return nil, err
	}
	for _, h := range hosts {
		inventory := evaluate.Inventory(h)
		if h.API.Role != wire.HostRoleMaster || h.Key() == host.Key() || inventory == nil {
			continue
		}
		if a := evaluate.AddressIn(c, inventory); a != "" {
			addresses = append(addresses, a)
		}
	}
	return addresses, nil
}

// peers returns the other hosts of the host's cluster for its connectivity check.
func (d *Answerer) peers(ctx context.Context, s *snapshots.Host) (string, error) {
	list := func() (keys []store.HostKey, err error) {
		err = d.units.View(ctx, func(w *settle.Work) error {
			found, err := w.Reader.Hosts(store.HostFilter{ClusterID: s.ClusterID, Bare: true})
			if err != nil {
				return err
			}
			for _, host := range found {
				keys = append(keys, host.Key())
			}
			return nil
		})
		return keys, err
	}
	look := func(key store.HostKey) ([]byte, error) {
		other, err := d.Snapshot(ctx, key)
		if apierror.IsNotFound(err) || err == nil && other.ClusterID != s.ClusterID {
			return nil, nil // it has left
		}
		if err != nil {
			return nil, err
		}
		return other.Peer, nil
	}
	return d.cache.Peers(s.ClusterID).Others(s.Key, list, look)
}

const (
	// flushEvery is how often signs of life are stored: a crash loses those since.
	flushEvery = 3 * time.Second
	// flushTime bounds one time.
	flushTime = 10 * time.Second
)

// KeepCheckIns stores signs of life until the context ends, and then those that
// are left. Every replica runs it.
func (d *Answerer) KeepCheckIns(ctx context.Context) error {
	ticker := time.NewTicker(flushEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return d.flush(context.WithoutCancel(ctx))
		case <-ticker.C:
			if err := d.flush(ctx); err != nil && ctx.Err() == nil {
				d.units.Log.Error("the hosts' signs of life could not be stored; the hub tries again", "error", err)
			}
		}
	}
}

func (d *Answerer) flush(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	return d.checkIns.Flush(ctx, d.units.Store, d.units.Now())
}
