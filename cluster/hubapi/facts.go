package hubapi

import (
	"encoding/json"
	"net/netip"
	"strings"
	"time"

	"github.com/ironflow/ironflow/cluster/facts"
	"github.com/ironflow/ironflow/hub/wire"
)

// host is the part of a host that is read; the record has forty times as much.
type host struct {
	ID                string                 `json:"id"`
	InfraEnvID        string                 `json:"infra_env_id"`
	RequestedHostname string                 `json:"requested_hostname"`
	Role              wire.HostRole          `json:"role"`
	Status            string                 `json:"status"`
	Progress          *wire.HostProgressInfo `json:"progress"`
	NodeLabels        string                 `json:"node_labels"`
	Inventory         string                 `json:"inventory"`
}

// inventory is the part of a host's inventory that is read.
type inventory struct {
	Hostname   string `json:"hostname"`
	Interfaces []struct {
		IPv4 []string `json:"ipv4_addresses"`
		IPv6 []string `json:"ipv6_addresses"`
	} `json:"interfaces"`
}

// facts are what is known of a host. An inventory that cannot be read has no
// addresses, so that no certificate is approved by it.
func (h host) facts() facts.Host {
	out := facts.Host{ID: h.ID, InfraEnvID: h.InfraEnvID, Role: h.Role, Status: h.Status, Name: h.RequestedHostname}
	if h.Progress != nil {
		out.Stage = h.Progress.CurrentStage
	}
	var seen inventory
	_ = json.Unmarshal([]byte(h.Inventory), &seen)        // see above
	_ = json.Unmarshal([]byte(h.NodeLabels), &out.Labels) // the hub checks them when they are set
	if out.Name == "" {
		out.Name = seen.Hostname
	}
	out.Name = strings.ToLower(out.Name)
	for _, card := range seen.Interfaces {
		for _, text := range append(card.IPv4, card.IPv6...) {
			text, _, _ = strings.Cut(text, "/")
			a, err := netip.ParseAddr(text)
			if a = a.Unmap(); err == nil && a.Zone() == "" && !a.IsLoopback() && !a.IsUnspecified() && !a.IsMulticast() {
				out.Addresses = append(out.Addresses, a)
			}
		}
	}
	return out
}

func clusterOf(w wire.Cluster) facts.Cluster {
	yes := func(b *bool) bool { return b != nil && *b }
	c := facts.Cluster{
		Name: w.Name, Status: w.Status, LogsCollectedAt: w.ControllerLogsCollectedAt.Time,
		SchedulableMasters: yes(w.SchedulableMasters) || yes(w.SchedulableMastersForcedTrue),
	}
	if w.Progress != nil {
		c.Stage, c.Since = w.Progress.FinalizingStage, w.Progress.FinalizingStageStartedAt.Time
	}
	c.API = facts.APIOf(&w)
	for _, o := range w.MonitoredOperators {
		c.Operators = append(c.Operators, facts.Monitored{
			Name: o.Name, Version: o.Version, Type: o.OperatorType, Namespace: o.Namespace, Subscription: o.SubscriptionName,
			Status: o.Status, Info: o.StatusInfo, Timeout: time.Duration(o.TimeoutSeconds) * time.Second, StatusUpdatedAt: o.StatusUpdatedAt.Time,
		})
	}
	return c
}
