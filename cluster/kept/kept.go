// Package kept is what is known of a cluster's hosts when its hub is gone: one that runs on
// a host that it installs ends with that host's live system, and nobody else knows whose
// signing requests may be approved. The hub puts it into the cluster with the program inside,
// as a config map; the program adds what it hears while the hub answers. The main type is
// [Record].
package kept

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ironflow/ironflow/cluster/facts"
	"github.com/ironflow/ironflow/hub/wire"
)

// Name is the config map's, in the namespace of the program inside.
const Name = "ironflow-cluster-hosts"

// Keys of the config map. Manifests may be applied again, so what the program writes has a
// key of its own.
const (
	// Given is what the hub knew when it made the cluster's manifests.
	Given = "given.json"
	// Heard is what the program inside has heard since, and found out without the hub.
	Heard = "heard.json"
)

// Record is a cluster with its hosts. There are no secrets in it.
type Record struct {
	// Name is the cluster's.
	Name string `json:"name"`
	// SchedulableMasters tells that control-plane nodes take any work.
	SchedulableMasters bool         `json:"schedulable_masters"`
	Hosts              []facts.Host `json:"hosts"`
	// API is where the cluster's API is.
	API facts.API `json:"api"`
}

// Of is the record of what the hub says.
func Of(c facts.Cluster, hosts []facts.Host) Record {
	return Record{Name: c.Name, SchedulableMasters: c.SchedulableMasters, Hosts: hosts, API: c.API}
}

// Cluster is the part that is no host.
func (r Record) Cluster() facts.Cluster {
	return facts.Cluster{Name: r.Name, Status: wire.ClusterStatusInstalling, SchedulableMasters: r.SchedulableMasters, API: r.API}
}

// Text is the value of a key.
func (r Record) Text() (string, error) {
	raw, err := json.Marshal(r)
	return string(raw), err
}

// Parse reads a config map's data: what was heard, else what was given.
func Parse(data map[string]string) (Record, error) {
	for _, key := range []string{Heard, Given} {
		if data[key] == "" {
			continue
		}
		var r Record
		if err := json.Unmarshal([]byte(data[key]), &r); err != nil {
			return r, fmt.Errorf("%s of config map %s: %w", key, Name, err)
		}
		return r, nil
	}
	return Record{}, fmt.Errorf("config map %s has neither %s nor %s: nobody has said which hosts the cluster has", Name, Heard, Given)
}

// behind are the stages of an installed system.
var behind = []wire.HostStage{
	wire.HostStageRebooting, wire.HostStageWaitingForIgnition, wire.HostStageConfiguring, wire.HostStageJoined, wire.HostStageDone,
}

// failed are the statuses of hosts that are not waited for.
var failed = []string{wire.HostStatusError, wire.HostStatusCancelled}

// Left are the hosts as they are without the hub. Its own host is installed last, and it ends
// when that one reboots: by then all others have left their live systems, or have failed.
func (r Record) Left() []facts.Host {
	out := slices.Clone(r.Hosts)
	for i := range out {
		h := &out[i]
		if !slices.Contains(failed, h.Status) && !slices.Contains(behind, h.Stage) {
			h.Status, h.Stage = wire.HostStatusInstallingInProgress, wire.HostStageRebooting
		}
	}
	return out
}

// Missing are the names of hosts that have not become nodes that are Ready.
func Missing(hosts []facts.Host) (names []string) {
	for _, h := range hosts {
		if h.Stage != wire.HostStageDone && !slices.Contains(failed, h.Status) {
			names = append(names, h.Name)
		}
	}
	return names
}

// Reached is a host that has come to a stage without a hub that would note it.
func Reached(h facts.Host, stage wire.HostStage) facts.Host {
	h.Stage = stage
	if stage == wire.HostStageDone {
		h.Status = wire.HostStatusInstalled
	}
	return h
}
