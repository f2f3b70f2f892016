// Package sources says where the Ignition of a cluster's hosts comes from.
//
// A [Source] makes the files of one cluster: a configuration per host, files that
// clients download, and credentials. It is asked twice. [Source.Lacks] is cheap and is
// asked before anything is touched; [Source.Make] may be slow and runs in the job of the
// preparation. What was made is kept, sealed, and handed out as it is: it is never made
// again at a fetch. A source neither reads nor writes records, so that each can be
// tested with an [Order] alone.
package sources

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ironflow/ironflow/hub/wire"
)

// Name is how a cluster and the hub's flag name a source.
type Name string

// The sources.
const (
	// Files fills in role files that the site wrote.
	Files Name = "files"
	// OpenShiftInstall runs the openshift-install program.
	OpenShiftInstall Name = "openshift-install"
	// Kubernetes makes a plain Kubernetes by kubeadm.
	Kubernetes Name = "kubernetes"
	// Pointer has hosts fetch their configuration from a running cluster.
	Pointer Name = "pointer"
)

// Ending tells who says that an installation is complete.
type Ending string

// The endings.
const (
	// EndsWithHosts: the installation is complete when the last host has booted its disk.
	// That hosts are installed is all that is promised.
	EndsWithHosts Ending = "hosts"
	// EndsInside: a program inside the cluster reports nodes, operators and the end.
	EndsInside Ending = "inside"
)

// Source makes the files of clusters. All methods are safe for concurrent use.
type Source interface {
	// Ending tells who says that the installation of this order is complete.
	Ending(o *Order) Ending
	// Lacks returns what is missing or cannot be done; empty when the order can be made.
	// It asks nobody outside, and does not take longer than a look at a folder.
	Lacks(ctx context.Context, o *Order) []Lack
	// Make makes all files of the order. It ends with ctx. It may be called again for the
	// same order, with what was made before in [Order.Earlier].
	Make(ctx context.Context, o *Order) (*Made, error)
}

// Renewer is a source whose credentials end before the cluster does.
type Renewer interface {
	// Renew returns those of the cluster's credentials that have ended or soon will, made anew
	// of what the source made before; nothing when all are good for long.
	Renew(cluster string, made *Made, now time.Time) (map[string][]byte, error)
}

// Order is a cluster and its hosts as the records were when the preparation began.
type Order struct {
	// Cluster is as clients see it, without hosts.
	Cluster wire.Cluster
	// TokenGeneration is that of the cluster's token.
	TokenGeneration int64
	// Resets is how often the installation was to be done anew: what is made after one shares no secret with what was
	// made before.
	Resets int
	// PullSecret is the cluster's, a JSON document; empty for none.
	PullSecret string
	// Hosts are those to make files for: all of a new cluster, or one that joins.
	Hosts []Host
	// Manifests are those that users added, in order.
	Manifests []Manifest
	// Kubernetes are the settings of a plain Kubernetes; nil for another source.
	Kubernetes *KubernetesSettings
	// Files are those that the cluster's objects give to the source files; empty for another.
	Files []File
	// Earlier is what this source made for this cluster before; nil for nothing.
	Earlier *Made
	// Now is the time of the preparation.
	Now time.Time
	// Stays tells that the program that the hub has put among Manifests goes on after the
	// installation.
	Stays bool
}

// Host is what a host's files depend on.
type Host struct {
	// ID is the host's, within its infra-env.
	ID string
	// Name is the host name that the installed system will have.
	Name string
	// Role is master, worker or arbiter, never auto-assign.
	Role wire.HostRole
	// Bootstrap tells that this host brings up the others (source openshift-install) or
	// is the first of the control plane (source kubernetes).
	Bootstrap bool
	// Last tells that this host is installed after all others, since the hub runs on it:
	// others bring up the cluster, if there are any that can.
	Last bool
	// Joins tells that the host joins a cluster that runs (day 2).
	Joins bool
	// Addresses are the host's in the machine networks, without prefix length, in the
	// order of those networks. May be empty.
	Addresses []string
	// MAC is the hardware address of the card that has the first of Addresses.
	MAC string
	// Disk is the installation disk's path (by-id where it has one).
	Disk string
	// Labels are those that its node is to have.
	Labels map[string]string
	// Endpoint says who has the configuration of a host that joins; nil for nobody.
	Endpoint *Endpoint
}

// Endpoint is a server of a running cluster that hands out configurations.
type Endpoint struct {
	URL string
	// CA is the server's certificate authority, PEM in base64; empty for those that the
	// system trusts anyway.
	CA string
	// Token opens it, as a bearer token; empty for none.
	Token string
	// Headers are further ones of the request.
	Headers []Header
}

// Header is one of a request.
type Header struct{ Name, Value string }

// Manifest is a Kubernetes manifest that a user added.
type Manifest struct {
	// Folder is manifests or openshift.
	Folder string
	// Name is a file name without folders.
	Name    string
	Content []byte
}

// File is one that a person hands to the source files by an object. It may be secret.
type File struct {
	// Name is a file name without folders: worker.ign, kubeconfig-noingress and so on.
	Name string
	// From is the object that it is of, for people: Secret site/roles.
	From    string
	Content []byte
}

// KubernetesSettings are those of a plain Kubernetes.
type KubernetesSettings struct {
	// Version is the Kubernetes version with its v: v1.37.1.
	Version string `json:"version,omitempty"`
	// Endpoint is the name of the API where a load balancer or DNS leads there; empty
	// where the cluster has an API VIP.
	Endpoint string `json:"endpoint,omitempty"`
	// Programs are fetched by the installed system at its first start: systemd-sysext
	// images or archives with kubelet, kubeadm, container runtime, CNI plugins. Empty
	// when the installed image has them.
	Programs []Program `json:"programs,omitempty"`
	// ImageRepository is where the images of the static pods are; empty for kubeadm's own.
	ImageRepository string `json:"image_repository,omitempty"`
	// VIPImage is the full reference of kube-vip's image, which carries an API VIP; empty for keepalived
	// of the installed image.
	VIPImage string `json:"vip_image,omitempty"`
	// CRISocket is where the container runtime listens, with unix://; empty for containerd's.
	CRISocket string `json:"cri_socket,omitempty"`
	// IgnorePreflight names checks of kubeadm whose errors do not keep a host from the cluster:
	// Mem, NumCPU, SystemVerification. Those that a repeated attempt needs are added.
	IgnorePreflight []string `json:"ignore_preflight,omitempty"`
	// Mirrors say where the images of a registry are found first.
	Mirrors []Mirror `json:"mirrors,omitempty"`
}

// Mirror is a registry that has the images of another one.
type Mirror struct {
	// Registry is the other one, HOST or HOST:PORT, as images name it.
	Registry string `json:"registry"`
	// URLs are the mirrors, tried in order before the registry itself.
	URLs []string `json:"urls"`
	// CA is the mirrors' certificate authority in PEM; empty for those that the system trusts.
	CA string `json:"ca,omitempty"`
}

// Program is something that the installed system fetches.
type Program struct {
	// URL is https or http.
	URL string `json:"url"`
	// Checksum is sha256:HEX or sha512:HEX; never empty.
	Checksum string `json:"checksum"`
	// Kind is sysext or archive (tar, gzip; unpacked below /).
	Kind string `json:"kind"`
	// Name is the extension's, which its release file ends with; empty for the file name of
	// the URL without .raw.
	Name string `json:"name,omitempty"`
}

// Made is what a source made. All of it is secret.
type Made struct {
	// Hosts has each host's Ignition JSON by [Host.ID], without its host name and without
	// overrides: the hub merges those last.
	Hosts map[string][]byte `json:"hosts,omitempty"`
	// Files are downloads of the cluster: bootstrap.ign, metadata.json and so on.
	Files map[string][]byte `json:"files,omitempty"`
	// Credentials are kubeconfig-noingress, kubeadmin-password.
	Credentials map[string][]byte `json:"credentials,omitempty"`
	// Secrets are the source's own, given back in [Order.Earlier]; never handed out.
	Secrets map[string][]byte `json:"secrets,omitempty"`
}

// Lack is what an order needs and has not.
type Lack struct {
	// What is missing or wrong: a file, a field with its value.
	What string
	// Next is what a person can do about it.
	Next string
}

// String says both.
func (l Lack) String() string { return l.What + ": " + l.Next }

// Lacking is the error of an order that lacks something.
type Lacking []Lack //nolint:errname // what it says, as in refusal

// Error says all of it.
func (l Lacking) Error() string {
	all := make([]string, len(l))
	for i, one := range l {
		all[i] = one.String()
	}
	return strings.Join(all, "; ")
}

// Unknown is the error of a name that is no source.
func Unknown(name Name) error {
	return fmt.Errorf("Ignition source %q: want %s, %s, %s or %s", name, Files, OpenShiftInstall, Kubernetes, Pointer) //nolint:staticcheck // a name
}
