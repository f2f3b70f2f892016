package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/bench/usage"
)

// prepareHosts is how many hosts the cluster has whose preparation is measured.
const prepareHosts = 500

// Events of the phase: all hosts could be installed; the Ignition of all of them is stored.
const (
	readyToPrepare = "ready"
	prepared       = "prepared"
)

// rested is how long a cluster that is ready is left alone before it is prepared.
const rested = 15 * time.Second

// prepare has a cluster of the source kubernetes prepared, and sees how long that takes, and how much more memory.
func (w *world) prepare(ctx context.Context, f *figures) error {
	g, err := w.newPlainCluster(ctx)
	if err != nil {
		return err
	}
	var rest int64
	return w.run(ctx, order{Phase: "prepare", Groups: []group{g}, Boot: 30 * time.Second, Settle: rested}, func(e event) error {
		switch e.Name {
		case readyToPrepare:
			before, err := w.used()
			if err != nil {
				return err
			}
			rest = before.Resident
			for _, pid := range w.pids() {
				if err := usage.ForgetPeak(pid); err != nil {
					return err
				}
			}
		case prepared:
			after, err := w.used()
			if err != nil {
				return err
			}
			f.Prepare, f.PrepareMemory = round(e.Figures["seconds"]), mib(max(0, after.Peak-rest))
			fmt.Printf("prepared %d hosts in %.2f s, with %.0f MiB beyond the %.0f at rest\n", g.Size, f.Prepare, f.PrepareMemory, mib(rest))
		}
		return nil
	})
}

// newPlainCluster makes a cluster of the source kubernetes without hosts.
func (w *world) newPlainCluster(ctx context.Context) (group, error) {
	masters, g := int64(3), group{Network: w.networks}
	params := wire.ClusterCreateParams{
		Name: "plain", BaseDNSDomain: "example", PullSecret: pullSecret, ControlPlaneCount: &masters, IgnitionSource: string(sources.Kubernetes),
		Kubernetes: &wire.KubernetesSettings{Version: "v1.37.1"}, NetworkType: new(wire.ClusterNetworkTypeNone),
		MachineNetworks: []wire.MachineNetwork{{CIDR: wire.Subnet(g.address(0) + "/22")}},
		ClusterNetworks: []wire.ClusterNetwork{{CIDR: "172.16.0.0/13", HostPrefix: 23}}, ServiceNetworks: []wire.ServiceNetwork{{CIDR: "172.30.0.0/16"}},
		APIVIPs: []wire.APIVIP{{IP: wire.IP(g.address(2))}}, IngressVIPs: []wire.IngressVIP{{IP: wire.IP(g.address(3))}},
	}
	var cluster wire.Cluster
	if err := w.user.do(ctx, userToken, http.MethodPost, "/clusters", params, &cluster); err != nil {
		return g, err
	}
	return w.newGroup(ctx, "plain", cluster.ID, w.options.agents+3*w.options.clusters, prepareHosts)
}

// prepare boots the hosts of a cluster, and has it prepared once they are all ready and have come to rest.
func (l *load) prepare(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	machines, g := l.machines(), l.Groups[0]
	for i, m := range machines {
		delay := l.Boot * time.Duration(i) / time.Duration(len(machines))
		running.Go(func() {
			agent := &agent{machine: m, load: l, calls: l.newClient()}
			defer agent.calls.close()
			if wait(ctx, delay) {
				agent.run(ctx, nil)
			}
		})
	}
	user := newClient(l.URL, l.roots, userPatience)
	defer user.close()
	if err := l.until(ctx, user, g.Cluster, wire.ClusterStatusReady, int64(g.Size)); err != nil {
		return err
	}
	if !wait(ctx, l.Settle) {
		return ctx.Err()
	}
	if err := l.tell(readyToPrepare, nil); err != nil || !wait(ctx, 2*time.Second) { // who measures looks at the hub meanwhile
		return err
	}
	begin := time.Now()
	if err := user.do(ctx, userToken, http.MethodPost, "/clusters/"+g.Cluster+"/actions/install", nil, nil); err != nil {
		return err
	}
	for {
		var c wire.Cluster
		if err := user.do(ctx, userToken, http.MethodGet, "/clusters/"+g.Cluster+"?exclude-hosts=true", nil, &c); err != nil {
			return err
		}
		switch p := c.LastInstallationPreparation; p.Status {
		case wire.LastInstallationPreparationStatusSuccess:
			return l.tell(prepared, map[string]float64{"seconds": time.Since(begin).Seconds()})
		case wire.LastInstallationPreparationStatusFailed:
			return fmt.Errorf("cluster %s could not be prepared: %s", g.Cluster, p.Reason)
		}
		if !wait(ctx, 100*time.Millisecond) {
			return fmt.Errorf("cluster %s is %s and not prepared: %s", g.Cluster, c.Status, c.StatusInfo)
		}
	}
}
