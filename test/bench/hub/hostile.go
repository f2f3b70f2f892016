package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/hub/rest"
	"github.com/ironflow/ironflow/hub/wire"
)

// besideHostile are the numbers of the last line where one host is hostile.
type besideHostile struct {
	Agents   int    `json:"agents"`
	Database string `json:"database"`
	// Instruction is what 99 % of the other hosts' polls are answered within while it does its worst.
	Instruction float64 `json:"instruction_p99_ms"`
	Polls       float64 `json:"polls"`
	RSS         float64 `json:"rss_mib"`
	// Calls are the hostile host's that were answered, Refused those of them that were refused.
	Calls   float64 `json:"hostile_calls"`
	Refused float64 `json:"hostile_refused"`
	// Events are those that the hub keeps of its cluster.
	Events float64 `json:"events"`
}

// hostileLimits are those of 1,000 hosts beside the hostile one.
var hostileLimits = map[string]float64{"instruction_p99_ms": 100, "rss_mib": 500, "polls": -500, "hostile_calls": -1000, "events": 5000}

// unfinished is how many bodies the hostile host begins at once and does not end.
const unfinished = 48

// hostileNumber is the number of the hostile host: no fleet has as many.
const hostileNumber = 900_000

// measureHostile lets a fleet come to rest, and then one more host of its largest cluster do its worst for as
// long as the others are watched.
func measureHostile(ctx context.Context, o options) (err error) {
	w, err := newWorld(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.stop(context.WithoutCancel(ctx))) }()
	f, begun, ended := besideHostile{Agents: o.agents, Database: o.database}, make(chan struct{}), make(chan error, 1)
	go func() {
		select {
		case <-ctx.Done():
			ended <- ctx.Err()
		case <-begun:
			ended <- w.run(ctx, order{Phase: "hostile", Groups: []group{w.largestCluster()}, Window: o.window}, func(e event) error {
				f.Calls, f.Refused = e.Figures["calls"], e.Figures["refused"]
				return nil
			})
		}
	}()
	err = w.run(ctx, order{Phase: "live", Groups: w.groups, Boot: o.boot, Settle: o.settle, Window: o.window}, func(e event) error {
		switch e.Name {
		case windowBegin:
			w.profile(ctx, "hostile", profileTime)
			close(begun)
		case windowEnd:
			f.Instruction, f.Polls = round(e.Figures["p99_ms"]), e.Figures["count"]
			return <-ended
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("%w\n%s", err, w.hub.Tail())
	}
	used, err := w.used()
	if err != nil {
		return err
	}
	f.RSS = mib(used.Peak)
	var events []wire.Event
	if err := w.user.do(ctx, userToken, http.MethodGet, "/events?cluster_id="+w.largestCluster().Cluster+"&categories=user", nil, &events); err != nil {
		return err
	}
	f.Events = float64(len(events))
	raw, err := json.Marshal(f)
	if err != nil {
		return err
	}
	fmt.Println(string(raw))
	return verdict(raw, hostileLimits)
}

// largestCluster is the group of the cluster with most hosts.
func (w *world) largestCluster() (largest group) {
	for _, g := range w.groups {
		if g.Cluster != "" && g.Size > largest.Size {
			largest = g
		}
	}
	return largest
}

// attacker is a host that is in a cluster, with a token of its own, and has gone over to somebody else.
type attacker struct {
	agent

	calls, refused atomic.Int64
}

// hostile registers one more host of the group, and has it do its worst until the window is over.
func (l *load) hostile(ctx context.Context) error {
	g := l.Groups[0]
	a := &attacker{agent: agent{machine: machine{g, hostileNumber, g.Size}, load: l, calls: l.newClient()}}
	if !a.register(ctx) {
		return errors.New("the hostile host could not register")
	}
	steps, err := a.poll(ctx)
	if err != nil {
		return err
	}
	if err := a.obey(ctx, steps.Instructions); err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, l.Window)
	defer stop()
	var running sync.WaitGroup
	for _, attack := range []func(context.Context, *client){
		a.repliesNobodyAskedFor, a.changedInventories, a.longInventories, a.manyEvents, a.registersAgain, a.registersOthers, a.pollsWithoutRest, a.longLists, a.longLogs,
	} {
		running.Go(func() {
			calls := newClient(l.URL, l.roots, agentPatience)
			defer calls.close()
			for ctx.Err() == nil {
				attack(ctx, calls)
			}
		})
	}
	for range unfinished {
		running.Go(func() {
			for ctx.Err() == nil {
				a.bodyWithoutEnd(ctx)
			}
		})
	}
	running.Wait()
	return l.tell(hostileEnded, map[string]float64{"calls": float64(a.calls.Load()), "refused": float64(a.refused.Load())})
}

// call makes a call whose answer does not matter.
func (a *attacker) call(ctx context.Context, c *client, token, method, path string, in any) {
	err := c.try(ctx, token, method, path, in, nil)
	if ctx.Err() != nil {
		return
	}
	a.calls.Add(1)
	if err != nil {
		a.refused.Add(1)
	}
}

// sends sends a reply to a step that nobody asked for.
func (a *attacker) sends(ctx context.Context, c *client, kind wire.StepType, output string) {
	a.call(ctx, c, a.load.token(a.machine), http.MethodPost, a.path()+"/instructions", wire.StepReply{StepType: kind, StepID: string(kind) + "-" + uuid.NewString(), Output: output})
}

// repliesNobodyAskedFor are 7,000 images, a disk's speed, and connections to 5,000 hosts.
func (a *attacker) repliesNobodyAskedFor(ctx context.Context, c *client) {
	images := wire.ContainerImageAvailabilityResponse{}
	for n := range 7_000 {
		images.Images = append(images.Images, wire.ContainerImageAvailability{Name: fmt.Sprintf("registry.example/image-%d:%s", n, uuid.NewString()), Result: wire.ContainerImageAvailabilityResultFailure})
	}
	a.sends(ctx, c, wire.StepTypeContainerImageAvailability, text(images))
	a.sends(ctx, c, wire.StepTypeInstallationDiskSpeedCheck, text(wire.DiskSpeedCheckResponse{IoSyncDuration: 1, Path: "/dev/" + uuid.NewString()}))
	a.sends(ctx, c, wire.StepTypeConnectivityCheck, a.connectivityWith(5_000))
}

// connectivityWith reports on hosts that are not there.
func (a *attacker) connectivityWith(hosts int) string {
	out := wire.ConnectivityReport{}
	for range hosts {
		out.RemoteHosts = append(out.RemoteHosts, wire.ConnectivityRemoteHost{HostID: uuid.NewString(), L3Connectivity: []wire.L3Connectivity{{OutgoingNIC: "eno1", RemoteIPAddress: "192.0.2.1", Successful: true}}})
	}
	return text(out)
}

// changedInventories have the whole cluster evaluated again each time.
func (a *attacker) changedInventories(ctx context.Context, c *client) {
	for n := 0; ctx.Err() == nil; n++ {
		a.sends(ctx, c, wire.StepTypeInventory, strings.ReplaceAll(a.inventory(n%2 == 0), fmt.Sprintf(`"node-%d"`, a.number), fmt.Sprintf(`"n-%d"`, n)))
	}
}

// longInventories have a host name of 4 MiB.
func (a *attacker) longInventories(ctx context.Context, c *client) {
	a.sends(ctx, c, wire.StepTypeInventory, strings.ReplaceAll(a.inventory(true), fmt.Sprintf("node-%d", a.number), strings.Repeat("n", 4<<20)))
}

// manyEvents are of itself and of others, with long texts.
func (a *attacker) manyEvents(ctx context.Context, c *client) {
	for _, host := range []string{hostID(a.number), hostID(a.group.First)} {
		a.call(ctx, c, a.load.token(a.machine), http.MethodPost, "/events", map[string]any{
			"name": "x", "severity": "critical", "category": "user", "host_id": host, "infra_env_id": a.group.InfraEnv, "cluster_id": a.group.Cluster,
			"message": strings.Repeat("this is not true ", 10_000), "event_time": "2999-01-01T00:00:00.000Z",
		})
	}
}

// registersAgain with a long version each time.
func (a *attacker) registersAgain(ctx context.Context, c *client) {
	a.call(ctx, c, a.load.token(a.machine), http.MethodPost, "/infra-envs/"+a.group.InfraEnv+"/hosts",
		wire.HostCreateParams{HostID: hostID(a.number), DiscoveryAgentVersion: strings.Repeat("v", 4<<20)})
}

// registersOthers claims to be its neighbour, with its own token. With that of the shared image it would be taken for the neighbour
// that has started again, which is told and keeps both from being installed (`hub/rest.TestTwoAgentsWithOneID`): no matter
// of load.
func (a *attacker) registersOthers(ctx context.Context, c *client) {
	a.call(ctx, c, a.load.token(a.machine), http.MethodPost, "/infra-envs/"+a.group.InfraEnv+"/hosts",
		wire.HostCreateParams{HostID: hostID(a.group.First), DiscoveryAgentVersion: "bench"})
}

func (a *attacker) pollsWithoutRest(ctx context.Context, c *client) {
	a.call(ctx, c, a.load.token(a.machine), http.MethodGet, a.path()+"/instructions", nil)
}

func (a *attacker) longLists(ctx context.Context, c *client) {
	a.call(ctx, c, a.load.token(a.machine), http.MethodGet, "/infra-envs/"+a.group.InfraEnv+"/hosts", nil)
	a.call(ctx, c, a.load.token(a.machine), http.MethodGet, "/clusters/"+a.group.Cluster, nil)
	a.call(ctx, c, a.load.token(a.machine), http.MethodGet, "/clusters/"+a.group.Cluster+"/hosts", nil)
}

// longLogs are no archives.
func (a *attacker) longLogs(ctx context.Context, c *client) {
	a.call(ctx, c, a.load.token(a.machine), http.MethodPost,
		"/clusters/"+a.group.Cluster+"/logs?logs_type=host&infra_env_id="+a.group.InfraEnv+"&host_id="+hostID(a.number), strings.Repeat("log ", 1<<20))
}

// bodyWithoutEnd begins to send a reply of 4 MiB, and stops after a part of it.
func (a *attacker) bodyWithoutEnd(ctx context.Context) {
	p, err := a.load.dial(ctx)
	if err != nil {
		wait(ctx, 100*time.Millisecond)
		return
	}
	defer p.close()
	path := rest.Base + "/v2" + a.path() + "/instructions"
	if _, err := fmt.Fprintf(p.conn, "POST %s HTTP/1.1\r\nHost: %s\r\n%s: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		path, p.host, wire.HeaderAgentToken, a.load.token(a.machine), 4<<20, strings.Repeat(" ", 3<<20)); err != nil {
		return
	}
	over := context.AfterFunc(ctx, p.close)
	defer over()
	answer, err := http.ReadResponse(p.in, nil)
	if err == nil {
		a.calls.Add(1)
		a.refused.Add(1)
		_ = answer.Body.Close()
	}
}
