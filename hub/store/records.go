package store

import (
	"cmp"
	"strings"
	"time"

	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/seal"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/wire"
)

// InfraEnv is the record of an infra-env.
type InfraEnv struct {
	// Version is what the store has; zero for a record that was never stored.
	Version int64 `json:"-"`
	// API is what clients see.
	API wire.InfraEnv
	// AutoApprove makes new hosts start approved.
	AutoApprove bool
	// SingleHost gives every host that registers a cluster of its own, which is
	// installed as soon as the host is approved and ready.
	SingleHost bool
	// TokenGeneration is part of every agent token; raising it revokes them all.
	TokenGeneration int64
	// Revoked is the last word by which a controller had them revoked.
	Revoked string `json:",omitempty"`
	// ImageGeneration is part of tokens of images, together with TokenGeneration;
	// raising it revokes these alone.
	ImageGeneration int64
	// PullSecret is never part of API, and sealed: see hub/vault.
	PullSecret seal.Text
	// Registries is registries.conf of its live images; empty leaves it to the hub's site.
	Registries string `json:",omitempty"`
	// Birth tells this record from another of the same id: one that was made after the store
	// was lost, or put back from a backup. It is random, and empty in records of older programs.
	Birth string `json:",omitempty"`
	// Kept are the members that are sealed; the store's own.
	Kept Kept `json:",omitzero"`
}

// HostKey is the key of a host: its id comes from the machine and is unique
// only within its infra-env.
type HostKey struct {
	InfraEnvID, HostID string
}

// Compare orders keys by infra-env, then by host.
func (k HostKey) Compare(o HostKey) int {
	return cmp.Or(strings.Compare(k.InfraEnvID, o.InfraEnvID), strings.Compare(k.HostID, o.HostID))
}

// Host is the record of a host.
type Host struct {
	// Version is what the store has; zero for a record that was never stored.
	Version int64 `json:"-"`
	// API is what clients see. Its reports (inventory and the like) are stored
	// apart, since most accesses do not need them.
	API wire.Host
	// Approved lets the host be installed.
	Approved bool
	// MACs are the interfaces' addresses from the inventory, lower case, sorted.
	MACs []string
	// InventoryAt is when the inventory was last stored.
	InventoryAt time.Time
	// Attempt tells the runs of a host's deploy step apart; empty for agents that do not say.
	Attempt string
	// Bearer is who speaks for the host.
	Bearer auth.Bearer
	// Twin is another machine that says that it is this host; nil for none.
	Twin *Twin `json:",omitempty"`
	// Pooled tells that somebody took the host out of its cluster: it waits in
	// the pool and gets no cluster of its own again.
	Pooled bool
	// DiskChosen tells that a person or a controller chose the installation disk.
	DiskChosen bool
	// EndpointToken and EndpointHeaders open the Ignition of the installed cluster that
	// the host joins. They are never part of API, and sealed in the tables: see [Sealed].
	EndpointToken   string
	EndpointHeaders []wire.IgnitionEndpointHTTPHeadersParams
	// Asked is what the host's object has asked for last: what goes from the object is
	// taken back, and what others have set stays.
	Asked HostSettings
	// AgentFailed is the agent's image that the host could not get since its agent
	// started; empty for none.
	AgentFailed string
	// Last tells that the host is not asked to begin its installation yet: the hub runs on
	// it, and the other hosts of its cluster still need the hub.
	Last bool
	// Restarted tells that the hub knows by itself that the host has started anew, and that its
	// agent has not registered since: the hub runs on it.
	Restarted bool `json:",omitempty"`
	// Attempts counts the installations that were started.
	Attempts int
	// CutOff is when the installation began that a restart of the machine has cut
	// off: its agent registered anew in the middle of it. Zero for none.
	CutOff time.Time
	// Unprepared is why the host could not be installed into a cluster that runs: its
	// Ignition could not be made; empty when it could. Preparations is how often in a row.
	Unprepared   string
	Preparations int
	// Reason is why the last installation failed or was called off; it survives
	// the reset and is cleared by the next start.
	Reason string

	// Restored tells that the record is that of a backup, and that the host's object has not been heard since:
	// it may have seen more. A host of such a record that boots its live image waits for it.
	Restored bool `json:",omitempty"`

	// Due is when a limit of the host is over; zero for none. Patience is how long it
	// may be silent; zero where nobody waits for its polls.
	Due      time.Time     `json:"-"`
	Patience time.Duration `json:"-"`

	// Signing are the signing requests of its kubelet since its installation began.
	Signing Signing `json:",omitzero"`

	// Kept are the members that are sealed; the store's own.
	Kept Kept `json:",omitzero"`

	// loaded, loadedMACs and loadedCluster are what the store holds, to write only what changed.
	loaded        map[string]string
	loadedMACs    []string
	loadedCluster string
}

// HostSettings are those of a host that an object in Kubernetes may ask for; an empty one
// is not asked for.
type HostSettings struct {
	// Name is the wanted host name; Role is master, arbiter or worker.
	Name, Role string `json:",omitempty"`
	// Disk is a name of the disk to install to, Pool the node's machine config pool.
	Disk, Pool string `json:",omitempty"`
	// Labels are put on the node, and are the object's alone.
	Labels map[string]string `json:",omitempty"`
	// TokenFrom names the Secret, NAMESPACE/NAME, whose token opens the Ignition of the
	// installed cluster that the host joins. Headers are sent with it.
	TokenFrom string            `json:",omitempty"`
	Headers   map[string]string `json:",omitempty"`
}

// Twin tells of two machines that say that they are one host.
type Twin struct {
	// SeenAt is when they were last seen to be two.
	SeenAt time.Time
	// Why is what gave them away, for people.
	Why string
}

// WasIn returns the id of the cluster that the store has for the host; "" for none.
func (h *Host) WasIn() string { return h.loadedCluster }

// Key returns the host's key.
func (h *Host) Key() HostKey { return HostKey{h.API.InfraEnvID, h.API.ID} }

// ClusterID returns the id of the host's cluster, or "" for an unbound host.
func (h *Host) ClusterID() string {
	if h.API.ClusterID == nil {
		return ""
	}
	return *h.API.ClusterID
}

// Stage returns the installation stage, or "" before an installation.
func (h *Host) Stage() wire.HostStage {
	if h.API.Progress == nil {
		return ""
	}
	return h.API.Progress.CurrentStage
}

// Cluster is the record of a cluster.
type Cluster struct {
	// Version is what the store has; zero for a record that was never stored.
	Version int64 `json:"-"`
	// API is what clients see, without its hosts.
	API wire.Cluster
	// Own tells that the hub made the cluster for a single host and removes it with the host.
	Own bool
	// AutoInstall starts the installation as soon as the cluster is ready and
	// all of its hosts are approved; Hold keeps it from starting.
	AutoInstall, Hold bool
	// Restored tells that the record is that of a backup, and that its object has not been heard since.
	Restored bool `json:",omitempty"`
	// HostsAwaited tells that the record was made anew, and none of the cluster's hosts has come back since.
	HostsAwaited bool `json:",omitempty"`
	// CalledOff tells that a person called an installation off that had not begun: it does not
	// begin by itself, but when a person starts it, or when a hold on it is released.
	CalledOff bool `json:",omitempty"`
	// Masters, Arbiters and Workers say how many hosts the installation waits for.
	Masters, Arbiters, Workers int
	// PreparedAt is when the last preparation began, and Preparations how many there were
	// since a person acted, which bounds repetitions.
	PreparedAt   time.Time
	Preparations int
	// Resets counts how often the installation was to be done anew: each has secrets of its own.
	Resets int `json:",omitempty"`
	// Source says where the Ignition of the cluster's hosts comes from; empty for the hub's own default.
	Source sources.Name
	// Kubernetes are the settings of a plain Kubernetes; nil for none.
	Kubernetes *sources.KubernetesSettings
	// Given counts the versions of the files that the cluster's objects hand to the source files; the files
	// themselves are sealed. Zero: there are none.
	Given int `json:",omitempty"`
	// Operators are those beside the release that were asked for by name; bundles of them are part of API.
	Operators []wire.OperatorCreateParams `json:",omitempty"`
	// PullSecret is never part of API, and sealed: see hub/vault.
	PullSecret seal.Text
	// Release is what its release image says of itself; nil where nobody had to read it.
	Release *Release `json:",omitempty"`
	// TokenGeneration is part of its token; raising it revokes those before. Zero is the first one.
	TokenGeneration int64 `json:",omitempty"`
	// Revoked is the last word by which a controller had the token revoked.
	Revoked string `json:",omitempty"`
	// Manifests are those that users added, sorted; their contents are files.
	Manifests []wire.Manifest
	// SpecManifests are those of them that a controller's object asks for: SHA-256 of the
	// content by file.
	SpecManifests map[string]string `json:",omitempty"`
	// UISettings is whatever a console keeps here.
	UISettings string
	// Supervised tells who says that the installation is complete. True: a program inside
	// the cluster reports nodes and end, which are waited for. False: it ends with its
	// hosts, and that hosts are installed is all that is said of it.
	Supervised bool
	// Stays tells that this program goes on after the installation, also in a cluster with a
	// release: it reports the hosts that join later.
	Stays bool `json:",omitempty"`
	// Completed tells that this program has said that the cluster is complete. It counts
	// where the cluster has no release, and so no operators to report on.
	Completed bool
	// Served is where the installation's files have the hosts of the cluster get their configurations from, with the
	// authority of that server. It is for hosts that join later, as far as people say nothing else. Nil for none.
	Served *wire.IgnitionEndpoint `json:",omitempty"`
	// Leases are those of its virtual addresses, where a DHCP server gives them.
	Leases Leases
	// Routed tells that the certificate of the cluster's routes has come.
	Routed bool
	// Due is when a limit of the cluster is over; zero for none.
	Due time.Time `json:"-"`
	// Kept are the members that are sealed; the store's own.
	Kept Kept `json:",omitzero"`
}

// Release is what a release image says of itself.
type Release struct {
	// Digest is that of the image; all else belongs to it.
	Digest string
	// Architectures that it is for, in the protocol's words.
	Architectures []string
	// MachineConfig and MustGather are the images of it that hosts are told; empty where it names none.
	MachineConfig, MustGather string
}

// Leases are what a DHCP server gave for the virtual addresses of a cluster, in the
// agent's own form.
type Leases struct {
	API, Ingress string
	// At is when they were stored.
	At time.Time
}

// Event is one line of the timeline, with its place in it.
type Event struct {
	wire.Event
	// Seq grows with each event of the store.
	Seq int64
}
