// Package inside puts ironflow-cluster among the manifests of the clusters whose end is told
// from inside: with the hub's URL and authority, and with a token of the cluster's own.
// Where nobody would tell that end, it says so before anything is touched.
//
// Its type is [Program].
package inside

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/cluster/facts"
	"github.com/ironflow/ironflow/cluster/kept"
	"github.com/ironflow/ironflow/cluster/manifests"
	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/wire"
)

// Manifest is the file of the manifests. A user's own of that name takes its place.
const Manifest = "ironflow-cluster.yaml"

// folder is the one of additional manifests.
const folder = "openshift"

// Program is ironflow-cluster as the hub puts it into clusters. The zero value puts it nowhere.
type Program struct {
	// Image is the full reference of its image.
	Image string
	// URL is how clusters reach the hub, and CA what they trust it for besides the system's, PEM.
	URL string
	CA  func() (string, error)
	// Key makes the clusters' tokens; the zero key makes none, for hubs without authentication.
	Key auth.Key
	// Leaves tells that the hub runs on one of the hosts that it installs, and ends with it.
	Leaves bool
	// ByBootstrap tells that the bootstrap host of a cluster with a release brings a program.
	ByBootstrap bool
}

// Check refuses what cannot be put into a cluster.
func (p Program) Check() error {
	if p.Image == "" {
		return nil
	}
	if err := (manifests.Settings{Image: p.Image, HubURL: "https://hub", ClusterID: "cluster"}).Check(); err != nil {
		return fmt.Errorf("cluster image: %w", err)
	}
	return nil
}

// Into adds the program to the manifests of a cluster that one of these sources makes, or
// says that the cluster would have nobody inside: its installation would never end.
func (p Program) Into(o *sources.Order, from sources.Name) ([]sources.Lack, error) {
	switch {
	case from != sources.Kubernetes && from != sources.OpenShiftInstall, brought(o):
		return nil, nil
	case from == sources.OpenShiftInstall && p.ByBootstrap:
		return nil, nil
	case p.Image == "":
		return []sources.Lack{{
			What: "nobody inside the cluster would tell the hub that it runs",
			Next: "set --hub-cluster-image to the image of ironflow-cluster, or add what `ironflow-cluster manifests --cluster-id " + o.Cluster.ID + "` prints to the cluster's manifests",
		}}, nil
	}
	raw, err := p.render(o, from)
	if err != nil {
		return nil, fmt.Errorf("the manifests of ironflow-cluster: %w", err)
	}
	o.Manifests = append(o.Manifests, sources.Manifest{Folder: folder, Name: Manifest, Content: raw})
	o.Stays = p.stays(from)
	return nil, nil
}

// stays tells whether the program goes on after the installation: nobody else approves what
// hosts ask for that join later. In a cluster with a release whose hub has ended, no host
// joins by the hub.
func (p Program) stays(from sources.Name) bool { return from == sources.Kubernetes || !p.Leaves }

// given is how programs inside clusters are told of which cluster they are: by the variable
// that `ironflow-cluster manifests` writes, or on the command line.
var given = [][]byte{[]byte("CLUSTER_ID"), []byte("--cluster-id")}

// brought tells that a user's own manifests bring the program: they tell it of which cluster
// it is, or have taken the file's place. That others name the cluster, in a label say, does
// not put anybody inside.
func brought(o *sources.Order) bool {
	for _, m := range o.Manifests {
		if m.Name == Manifest {
			return true
		}
		told := slices.ContainsFunc(given, func(by []byte) bool { return bytes.Contains(m.Content, by) })
		if told && o.Cluster.ID != "" && bytes.Contains(m.Content, []byte(o.Cluster.ID)) {
			return true
		}
	}
	return false
}

// render is the program for the cluster.
func (p Program) render(o *sources.Order, from sources.Name) ([]byte, error) {
	c := &o.Cluster
	s := manifests.Settings{
		Image: p.Image, HubURL: p.URL, ClusterID: c.ID, Proxy: proxy(c),
		Stay: p.stays(from), OpenShift: from == sources.OpenShiftInstall, HubLeaves: p.Leaves,
	}
	if p.Leaves {
		s.Hosts = known(o)
	}
	var err error
	if p.CA != nil {
		if s.CA, err = p.CA(); err != nil {
			return nil, fmt.Errorf("the hub's authority: %w", err)
		}
	}
	if !p.Key.IsZero() {
		if s.Token, err = p.Key.ClusterToken(auth.ClusterClaims{ClusterID: c.ID, Generation: o.TokenGeneration}); err != nil {
			return nil, err
		}
	}
	return manifests.Render(s)
}

// known is what the program has to know of the hosts when the hub is gone, also before it has
// ever asked: a cluster of one host has no hub any more when it begins.
func known(o *sources.Order) kept.Record {
	yes := func(b *bool) bool { return b != nil && *b }
	c := facts.Cluster{Name: o.Cluster.Name, SchedulableMasters: yes(o.Cluster.SchedulableMasters) || yes(o.Cluster.SchedulableMastersForcedTrue), API: facts.APIOf(&o.Cluster)}
	workers := false
	var hosts []facts.Host
	for _, h := range o.Hosts {
		one := facts.Host{ID: h.ID, Name: strings.ToLower(h.Name), Role: h.Role, Labels: h.Labels}
		for _, text := range h.Addresses {
			if a, err := netip.ParseAddr(text); err == nil {
				one.Addresses = append(one.Addresses, a.Unmap())
			}
		}
		workers = workers || h.Role == wire.HostRoleWorker
		hosts = append(hosts, one)
	}
	c.SchedulableMasters = c.SchedulableMasters || !workers
	return kept.Of(c, hosts)
}

// proxy is the cluster's, past which its own networks are reached.
func proxy(c *wire.Cluster) map[string]string {
	if c.HTTPProxy == "" && c.HTTPSProxy == "" {
		return nil
	}
	direct := []string{"localhost", "127.0.0.1", "::1", ".svc", ".cluster.local"}
	for _, n := range c.MachineNetworks {
		direct = append(direct, string(n.CIDR))
	}
	for _, n := range c.ClusterNetworks {
		direct = append(direct, string(n.CIDR))
	}
	for _, n := range c.ServiceNetworks {
		direct = append(direct, string(n.CIDR))
	}
	if c.NoProxy != "" {
		direct = append(direct, c.NoProxy)
	}
	return map[string]string{"HTTP_PROXY": c.HTTPProxy, "HTTPS_PROXY": c.HTTPSProxy, "NO_PROXY": strings.Join(direct, ",")}
}
