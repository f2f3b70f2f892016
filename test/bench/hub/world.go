package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/bench/usage"
	"github.com/ironflow/ironflow/test/hub/program"
	"github.com/ironflow/ironflow/test/hub/rolefiles"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/guard"
	"github.com/ironflow/ironflow/test/lab/progress"
	"github.com/ironflow/ironflow/test/postgres"
)

// world is the hub with its fleet.
type world struct {
	options options
	lab     *lab.Lab
	hub     *program.Hub
	user    *client
	// groups are the pool and the clusters.
	groups []group
	// tokens are the hosts' own ones, by their numbers.
	tokens map[int]string
	// networks counts the subnets that were given out.
	networks int
	// pprof is where the hub is profiled.
	pprof string
	// drop ends the database.
	drop func() error
}

func newWorld(ctx context.Context, o options) (_ *world, err error) {
	w := &world{options: o, drop: func() error { return nil }}
	if w.lab, err = lab.New(lab.Options{Progress: progress.Lines(os.Stderr)}); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.stop(context.WithoutCancel(ctx)))
		}
	}()
	plane, err := w.lab.StartControlPlane(ctx, lab.ControlPlaneOptions{})
	if err != nil {
		return nil, err
	}
	if err := lab.InstallCRDs(ctx, plane.Config()); err != nil {
		return nil, err
	}
	roles := filepath.Join(w.lab.Dir, "ignition")
	if err := rolefiles.Write(roles); err != nil {
		return nil, err
	}
	args := []string{"--metrics-insecure", "--log-level", "warn", "--hub-ignition-dir", roles, "--hub-kubernetes", "--hub-cluster-image", "registry.example/ironflow-cluster:bench"}
	if o.profile != "" {
		w.pprof = "127.0.0.1:6060"
		args = append(args, "--pprof-addr", w.pprof)
	}
	if o.database == "postgres" {
		db, drop, err := postgres.Start(ctx)
		if err != nil {
			return nil, err
		}
		w.drop = drop
		args = append(args, "--database", db.URL, "--database-password-file", db.PasswordFile)
	}
	if w.hub, err = program.New(program.Options{
		Program: o.program, Kubeconfig: plane.Kubeconfig, Dir: filepath.Join(w.lab.Dir, "hub"), UserToken: userToken, Plain: true, Args: args, CPUs: o.hubCPUs,
	}); err != nil {
		return nil, err
	}
	if err := w.hub.Start(ctx); err != nil {
		return nil, err
	}
	w.user = newClient(w.hub.URL, trust(w.hub.CA), userPatience)
	return w, w.place(ctx)
}

func (w *world) stop(ctx context.Context) error {
	var err error
	if w.hub != nil {
		err = w.hub.Stop()
	}
	return errors.Join(err, w.drop(), w.lab.Stop(ctx))
}

// place makes the infra-envs and clusters of the fleets, which are alike.
func (w *world) place(ctx context.Context) error {
	for n := range max(1, w.options.fleets) {
		if err := w.placeFleet(ctx, n*w.options.agents, fmt.Sprintf("fleet-%d-", n)); err != nil {
			return err
		}
	}
	return nil
}

// placeFleet makes those of a fleet: half of it in the pool, the other half in clusters of 500, of 50
// and of 3, a third of it each.
func (w *world) placeFleet(ctx context.Context, first int, name string) error {
	pool, err := w.newGroup(ctx, name+"pool", "", first, w.options.agents/2)
	if err != nil {
		return err
	}
	w.groups = append(w.groups, pool)
	next, end := first+pool.Size, first+w.options.agents
	for _, size := range []int{500, 50} {
		for n := 0; n < max(1, w.options.agents/6/size) && next+size <= end; n++ {
			g, err := w.newCluster(ctx, fmt.Sprintf("%sof-%d-%d", name, size, n), next, size)
			if err != nil {
				return err
			}
			w.groups = append(w.groups, g)
			next += size
		}
	}
	rest, err := w.threes(ctx, (end-next)/3, next, name+"three")
	w.groups = append(w.groups, rest...)
	return err
}

// threes makes clusters of three hosts.
func (w *world) threes(ctx context.Context, count, first int, name string) (groups []group, err error) {
	for n := range count {
		g, err := w.newCluster(ctx, fmt.Sprintf("%s-%d", name, n), first+3*n, 3)
		if err != nil {
			return nil, err
		}
		groups = append(groups, g)
	}
	return groups, nil
}

func (w *world) newCluster(ctx context.Context, name string, first, size int) (group, error) {
	masters, g := int64(3), group{Network: w.networks}
	params := wire.ClusterCreateParams{
		Name: name, BaseDNSDomain: "example", OpenshiftVersion: "4.20.1", OcpReleaseImage: "registry.example/release:4.20.1", PullSecret: pullSecret,
		ControlPlaneCount: &masters, APIVIPs: []wire.APIVIP{{IP: wire.IP(g.address(2))}}, IngressVIPs: []wire.IngressVIP{{IP: wire.IP(g.address(3))}},
	}
	var cluster wire.Cluster
	if err := w.user.do(ctx, userToken, http.MethodPost, "/clusters", params, &cluster); err != nil {
		return g, err
	}
	return w.newGroup(ctx, name, cluster.ID, first, size)
}

// pullSecret is in the form that the hub asks for, and opens nothing.
const pullSecret = `{"auths":{"registry.example":{"auth":"dXNlcjpub3RoaW5n"}}}` //nolint:gosec // see above

func (w *world) newGroup(ctx context.Context, name, cluster string, first, size int) (group, error) {
	params := wire.InfraEnvCreateParams{Name: name, PullSecret: pullSecret}
	if cluster != "" {
		params.ClusterID = &cluster
	}
	var env wire.InfraEnv
	if err := w.user.do(ctx, userToken, http.MethodPost, "/infra-envs", params, &env); err != nil {
		return group{}, err
	}
	token, err := w.hub.AgentToken(env.ID)
	g := group{InfraEnv: env.ID, Token: token, Cluster: cluster, First: first, Size: size, Network: w.networks}
	w.networks += 1 + size/1000 // the pool's machines need more than one subnet
	return g, err
}

// allJudged makes sure that no host waits to be judged.
func (w *world) allJudged(ctx context.Context) error {
	waiting, why := map[string]int{}, map[string]string{}
	for _, g := range w.groups {
		var hosts []struct {
			Status string `json:"status"`
			Info   string `json:"status_info"`
		}
		if err := w.user.do(ctx, userToken, http.MethodGet, "/infra-envs/"+g.InfraEnv+"/hosts", nil, &hosts); err != nil {
			return err
		}
		if len(hosts) != g.Size {
			return fmt.Errorf("infra-env %s has %d of %d hosts", g.InfraEnv, len(hosts), g.Size)
		}
		for _, h := range hosts {
			waiting[h.Status]++
			why[h.Status] = h.Info
		}
	}
	for status, n := range waiting {
		fmt.Printf("%5d hosts are %s, such as: %s\n", n, status, why[status])
	}
	if n := waiting[wire.HostStatusDiscovering] + waiting[wire.HostStatusDiscoveringUnbound]; n > 0 {
		return fmt.Errorf("%d hosts are not judged", n)
	}
	return nil
}

// pids are those of the hub's program.
func (w *world) pids() []int { return guard.Descendants(w.hub.PID()) }

func (w *world) used() (usage.Process, error) { return usage.Sum(w.pids()) }
