// Package facts holds what is known of a cluster from its inside, as plain values:
// hosts as the hub has them, nodes, operators and pods as the cluster has them. Who
// reads them and who judges by them are other packages; nothing here asks anybody.
package facts

import (
	"net/netip"
	"time"

	"github.com/ironflow/ironflow/hub/wire"
)

// Host is one of the cluster's hosts, as the hub knows it.
type Host struct {
	ID, InfraEnvID string
	// Name is the node's name: the host name in lower case, as the kubelet has it.
	Name string
	Role wire.HostRole
	// Status and Stage are where the hub believes the host to be.
	Status string
	Stage  wire.HostStage
	// Addresses are those of the host's cards.
	Addresses []netip.Addr
	// Labels are those that its node is to have.
	Labels map[string]string
}

// Cluster is the hub's record of the cluster.
type Cluster struct {
	Name, Status string
	// Stage is the finalizing stage that was reported last, Since when.
	Stage wire.FinalizingStage
	Since time.Time
	// SchedulableMasters tells that control-plane nodes take any work.
	SchedulableMasters bool
	// LogsCollectedAt is when the hub last got logs of the inside; zero for never.
	LogsCollectedAt time.Time
	// Operators are those that the hub wants to hear of.
	Operators []Monitored
	// API is where its API is.
	API API
}

// Monitored is an operator that the hub wants to hear of, and what it heard last.
type Monitored struct {
	Name, Version   string
	Type            wire.OperatorType
	Namespace       string
	Subscription    string
	Status          wire.OperatorStatus
	Info            string
	Timeout         time.Duration
	StatusUpdatedAt time.Time
}

// Node is a node of the cluster.
type Node struct {
	Name, UID string
	Ready     bool
	// Silent tells that the cluster has not heard of the node's kubelet for long.
	Silent    bool
	Addresses []netip.Addr
	Labels    map[string]string
	Taints    []Taint
}

// Taint is a taint of a node.
type Taint struct {
	Key       string     `json:"key"`
	Value     string     `json:"value,omitempty"`
	Effect    string     `json:"effect"`
	TimeAdded *time.Time `json:"timeAdded,omitempty"`
}

// Operator is a ClusterOperator, or the ClusterVersion under the name cvo.
type Operator struct {
	Name, Version                    string
	Available, Degraded, Progressing bool
	// Message is its own word on the condition that counts.
	Message string
}

// Subscription is an OLM subscription with the ClusterServiceVersion that it installed.
type Subscription struct {
	Namespace, Name, Installed string
}

// Service is a ClusterServiceVersion.
type Service struct {
	Namespace, Name, Version, Phase, Message string
}

// Pod is a pod of the system's namespace.
type Pod struct {
	Name, Node string
	// Ready also tells of a pod that has done its work.
	Ready bool
	// Waiting says why it is not ready.
	Waiting string
}
