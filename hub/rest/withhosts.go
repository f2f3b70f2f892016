package rest

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/ironflow/ironflow/hub/protocol"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// withHosts is an answer of a cluster whose hosts are sent while they are read: with their reports, which
// name all others of the cluster, 500 of them are more than what the hub needs for all else.
type withHosts struct {
	cluster wire.Cluster
	hosts   list
}

// withHosts adds the hosts to the answer of a call about their cluster. The rest is as the call has
// found or left it, whatever has come since.
func (r *request) withHosts(c wire.Cluster, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return &withHosts{c, r.hosts(store.HostFilter{ClusterID: c.ID}, func(h wire.Host) any { return h })}, nil
}

// streamCluster sends a cluster with its hosts as an answer of its own.
func (s *Server) streamCluster(w http.ResponseWriter, r *http.Request, op protocol.Operation, a *withHosts) {
	f, err := a.framed()
	if err != nil {
		s.fail(w, r, op, err)
		return
	}
	s.stream(w, r, op, f)
}

// framed is the cluster, then its hosts, and last the networks that they have turned out to be in.
func (a *withHosts) framed() (framed, error) {
	rest, err := json.Marshal(struct {
		wire.Cluster

		Hosts        []wire.Host        `json:"hosts,omitempty"`
		HostNetworks []wire.HostNetwork `json:"host_networks,omitempty"`
	}{Cluster: shownCluster(a.cluster)})
	networks := hostNetworks{}
	return framed{
		before: strings.TrimSuffix(string(rest), "}") + `,"hosts":[`,
		items:  a.hosts,
		show: func(item any) any {
			h, ok := item.(wire.Host)
			if !ok {
				return item
			}
			inventory := machineOf(h)
			networks.add(h.ID, inventory)
			return shownHost(h, inventory)
		},
		behind: func() string {
			list, _ := json.Marshal(networks.list()) // texts alone
			return `],"host_networks":` + string(list) + "}\n"
		},
	}, err
}
