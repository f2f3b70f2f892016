package bootstrap

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/install"
	"github.com/ironflow/ironflow/agent/install/effect"
	"github.com/ironflow/ironflow/hub/wire"
)

const (
	// lookEvery is how often a file that services write is looked for: they tell nobody.
	lookEvery = 2 * time.Second
	// askEvery is how often the temporary control plane is asked.
	askEvery = 10 * time.Second
	// readEvery is how often the machine config server's log is read.
	readEvery = 30 * time.Second
	// enough control-plane nodes besides this one make a quorum.
	enough = 2
)

// progressUnit runs while etcd still has a member on this host.
const progressUnit = "progress.service"

// waitBootkube waits until bootkube has done its work and etcd has left this host.
func (r *Role) waitBootkube(ctx context.Context, report install.Report) error {
	for !exists(r.Dir, bootkubeDone) {
		unit, err := r.Units.Unit(ctx, services[0])
		if err == nil && unit.ActiveState == "failed" {
			return fmt.Errorf("%s failed (%s); its journal is in the logs", services[0], unit.Result)
		}
		report(-1, "bootkube is at work")
		if err := pause(ctx, lookEvery); err != nil {
			return err
		}
	}
	for {
		unit, err := r.Units.Unit(ctx, progressUnit)
		if err == nil && (!unit.Loaded() || unit.ActiveState == "inactive" || unit.ActiveState == "failed") {
			return nil
		}
		report(-1, "etcd is leaving this host")
		if err := pause(ctx, lookEvery); err != nil {
			return err
		}
	}
}

// waitNodes waits until enough other nodes of the control plane are ready, and
// tells the hub of those that are, and of those that have fetched their Ignition.
func (r *Role) waitNodes(ctx context.Context, request wire.InstallCmdRequest, report install.Report) error {
	want := enough
	if n := int(request.ControlPlaneCount); n > 0 {
		want = min(want, n-1)
	}
	seen := &sightings{role: r, cluster: request.ClusterID, self: request.HostID, told: map[string]wire.HostStage{}}
	read := time.Time{}
	for {
		nodes, err := r.nodes(ctx)
		if err != nil {
			report(-1, "the temporary control plane does not answer yet")
			r.Log.Debug("nodes cannot be listed", "error", err)
		}
		ready := 0
		for _, n := range nodes {
			if n.controlPlane && n.ready {
				ready++
			}
		}
		if err == nil {
			report(-1, fmt.Sprintf("%d of %d control-plane nodes are ready", ready, want))
		}
		if time.Since(read) >= readEvery {
			read = time.Now()
			seen.fetched(ctx, r.requesters(ctx))
		}
		seen.joined(ctx, nodes)
		if err == nil && ready >= want {
			return nil
		}
		if err := pause(ctx, askEvery); err != nil {
			return err
		}
	}
}

// waitController waits until the in-cluster controller says that it is ready.
func (r *Role) waitController(ctx context.Context, report install.Report) error {
	for {
		ready, err := r.controllerReady(ctx)
		if ready {
			return nil
		}
		if err != nil {
			r.Log.Debug("events cannot be listed", "error", err)
		}
		report(-1, "the controller in the cluster is not ready yet")
		if err := pause(ctx, askEvery); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// sightings turn what is seen of other hosts into the hub's stages.
type sightings struct {
	role          *Role
	cluster, self string
	hosts         []wire.Host
	told          map[string]wire.HostStage
}

// order of the stages that are told of other hosts.
var order = []wire.HostStage{wire.HostStageWaitingForIgnition, wire.HostStageConfiguring, wire.HostStageJoined, wire.HostStageDone}

// fetched tells of the hosts whose address has asked the machine config server.
func (s *sightings) fetched(ctx context.Context, addresses []string) {
	if len(addresses) == 0 {
		return
	}
	for _, h := range s.list(ctx) {
		if slices.ContainsFunc(addresses, func(a string) bool { return strings.Contains(h.Inventory, `"`+a+`/`) }) {
			s.tell(ctx, h, wire.HostStageConfiguring)
		}
	}
}

// joined tells of the hosts whose nodes are ready.
func (s *sightings) joined(ctx context.Context, nodes []node) {
	if !slices.ContainsFunc(nodes, func(n node) bool { return n.ready }) {
		return
	}
	for _, h := range s.list(ctx) {
		name := nodeName(h)
		for _, n := range nodes {
			if n.ready && n.name != "" && n.name == name {
				s.tell(ctx, h, wire.HostStageJoined)
				s.tell(ctx, h, wire.HostStageDone)
			}
		}
	}
}

// nodeName is the one name that the host's node has: the one that the installed system is given,
// else that of the live system, in small letters as kubelets write it. Another host may be called
// now as this one was in its live system.
func nodeName(h wire.Host) string {
	name := h.RequestedHostname
	if name == "" {
		var seen struct {
			Hostname string `json:"hostname"`
		}
		_ = json.Unmarshal([]byte(h.Inventory), &seen) // one that cannot be read has no name
		name = seen.Hostname
	}
	return strings.ToLower(name)
}

// list are the other hosts of the cluster.
func (s *sightings) list(ctx context.Context) []wire.Host {
	if s.hosts == nil {
		hosts, err := s.role.Hub.ClusterInventories(ctx, s.cluster)
		if err != nil {
			s.role.Log.Warn("the cluster's hosts cannot be listed", "error", err)
			return nil
		}
		s.hosts = slices.DeleteFunc(hosts, func(h wire.Host) bool { return h.ID == s.self })
	}
	return s.hosts
}

func (s *sightings) tell(ctx context.Context, h wire.Host, stage wire.HostStage) {
	if slices.Index(order, s.told[h.ID]) >= slices.Index(order, stage) {
		return
	}
	err := s.role.Effects.Do(ctx, effect.ReportOtherHost, h.ID, func() error {
		return s.role.Hub.Progress(ctx, hubclient.Host{InfraEnvID: h.InfraEnvID, HostID: h.ID}, wire.HostProgress{CurrentStage: stage})
	})
	if err != nil {
		s.role.Log.Warn("the hub did not take the stage of another host", "host", h.ID, "stage", stage, "error", err)
		if hubclient.Code(err) == 0 {
			return // it is told again
		}
	}
	s.told[h.ID] = stage
}

// requester finds the address in a line of the machine config server's log:
//
//	I1011 09:26:03 api.go:65] Pool master requested by address:"192.0.2.5:40112" User-Agent:"Ignition/2.14.0"
var requester = regexp.MustCompile(`[Pp]ool \S+ requested by (?:address:)?"?\[?(?:::ffff:)?([0-9A-Fa-f.:]+?)\]?:\d+`)

// requesters are the addresses that have asked the machine config server.
func (r *Role) requesters(ctx context.Context) []string {
	out, err := command.Output(ctx, r.Commands, "podman", "ps", "--all", "--quiet", "--filter", "name=machine-config-server")
	if err != nil {
		r.Log.Debug("containers cannot be listed", "error", err)
		return nil
	}
	var found []string
	for id := range strings.FieldsSeq(string(out)) {
		if !isID(id) {
			continue
		}
		_ = command.Lines(r.Commands)(ctx, []string{"podman", "logs", id}, func(line string) { // its end does not matter
			if m := requester.FindStringSubmatch(line); m != nil && !slices.Contains(found, m[1]) {
				found = append(found, m[1])
			}
		})
	}
	return found
}

func isID(text string) bool {
	return text != "" && strings.Trim(text, "0123456789abcdef") == ""
}
