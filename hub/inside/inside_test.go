package inside_test

import (
	"errors"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/inside"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/wire"
)

const id = "aaaaaaaa-0000-4000-8000-000000000001"

func order(own ...sources.Manifest) *sources.Order {
	return &sources.Order{Cluster: wire.Cluster{ID: id, Name: "edge"}, Manifests: own}
}

// TestWhoTellsTheEnd: the hub's own program, a user's, that of a bootstrap host; or nobody, which is said.
func TestWhoTellsTheEnd(t *testing.T) {
	set := inside.Program{Image: "registry.example/ironflow-cluster:v1", URL: "https://hub.example:8090"}
	cni := sources.Manifest{Folder: "openshift", Name: "cni.yaml", Content: []byte("kind: DaemonSet")}
	for name, tc := range map[string]struct {
		program inside.Program
		from    sources.Name
		own     []sources.Manifest
		added   bool
		lacks   bool
	}{
		"the hub's":                        {set, sources.Kubernetes, nil, true, false},
		"beside other manifests":           {set, sources.Kubernetes, []sources.Manifest{cni}, true, false},
		"of a release":                     {set, sources.OpenShiftInstall, nil, true, false},
		"a user's, by the cluster's id":    {set, sources.Kubernetes, []sources.Manifest{{Name: "mine.yaml", Content: []byte("- {name: CLUSTER_ID, value: " + id + "}")}}, false, false},
		"others that name the cluster":     {set, sources.Kubernetes, []sources.Manifest{{Name: "site.yaml", Content: []byte("labels: {site.example/cluster: " + id + "}")}}, true, false},
		"others that name it, and nobody":  {inside.Program{}, sources.Kubernetes, []sources.Manifest{{Name: "site.yaml", Content: []byte("labels: {site.example/cluster: " + id + "}")}}, false, true},
		"a user's, by its name":            {set, sources.Kubernetes, []sources.Manifest{{Name: inside.Manifest}}, false, false},
		"a user's alone":                   {inside.Program{}, sources.Kubernetes, []sources.Manifest{{Name: "mine.yaml", Content: []byte("- {name: CLUSTER_ID, value: " + id + "}")}}, false, false},
		"that of a bootstrap host":         {inside.Program{ByBootstrap: true}, sources.OpenShiftInstall, nil, false, false},
		"there is no bootstrap host":       {inside.Program{ByBootstrap: true}, sources.Kubernetes, nil, false, true},
		"nobody":                           {inside.Program{}, sources.Kubernetes, []sources.Manifest{cni}, false, true},
		"nobody in one of a release":       {inside.Program{}, sources.OpenShiftInstall, nil, false, true},
		"role files bring what they bring": {set, sources.Files, nil, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := order(tc.own...)
			lacks, err := tc.program.Into(o, tc.from)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(len(lacks) > 0).To(Equal(tc.lacks))
			if tc.lacks {
				g.Expect(lacks[0].String()).To(And(ContainSubstring("--hub-cluster-image"), ContainSubstring(id)))
			}
			want := len(tc.own)
			if tc.added {
				want++
			}
			g.Expect(o.Manifests).To(HaveLen(want))
		})
	}
}

// TestWhatItIsGiven: the hub and the cluster.
func TestWhatItIsGiven(t *testing.T) {
	p := inside.Program{
		Image: "registry.example/ironflow-cluster:v1", URL: "https://hub.example:8090",
		CA: func() (string, error) { return "-----BEGIN CERTIFICATE-----", nil },
	}
	for _, from := range []sources.Name{sources.Kubernetes, sources.OpenShiftInstall} {
		t.Run(string(from), func(t *testing.T) {
			g := NewWithT(t)
			o := order()
			o.Cluster.HTTPSProxy, o.Cluster.NoProxy = "http://user:hunter2@proxy.example:3128", ".site.example"
			o.Cluster.ServiceNetworks = []wire.ServiceNetwork{{CIDR: "172.30.0.0/16"}}
			_, err := p.Into(o, from)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(o.Manifests[0].Content)).To(And(
				ContainSubstring("image: registry.example/ironflow-cluster:v1"), ContainSubstring("value: https://hub.example:8090"),
				ContainSubstring("value: "+id), ContainSubstring("BEGIN CERTIFICATE"), ContainSubstring("@proxy.example:3128"),
				ContainSubstring("172.30.0.0/16,.site.example")))
			for one := range strings.SplitSeq(string(o.Manifests[0].Content), "---\n") {
				if strings.Contains(one, "hunter2") {
					g.Expect(one).To(ContainSubstring("kind: Secret"), "who sees workloads sees no password")
				}
			}
		})
	}
}

// TestWhetherItStays: where hosts may join later, since nobody else approves what they ask for.
func TestWhetherItStays(t *testing.T) {
	for name, tc := range map[string]struct {
		from   sources.Name
		leaves bool
		stays  string
	}{
		"plain Kubernetes":                 {sources.Kubernetes, false, "kind: Deployment"},
		"plain Kubernetes, the hub leaves": {sources.Kubernetes, true, "kind: Deployment"},
		"a release":                        {sources.OpenShiftInstall, false, "kind: Deployment"},
		"a release, the hub leaves":        {sources.OpenShiftInstall, true, "kind: Job"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := order()
			_, err := inside.Program{Image: "registry.example/ironflow-cluster:v1", URL: "https://hub.example:8090", Leaves: tc.leaves}.Into(o, tc.from)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(o.Manifests[0].Content)).To(ContainSubstring(tc.stays))
			g.Expect(o.Stays).To(Equal(tc.stays == "kind: Deployment"))
		})
	}
}

// TestAHubThatEnds: the program is given what it has to know of the hosts by then.
func TestAHubThatEnds(t *testing.T) {
	g := NewWithT(t)
	p := inside.Program{Image: "registry.example/ironflow-cluster:v1", URL: "http://192.0.2.10:8090", Leaves: true}
	o := order()
	o.Hosts = []sources.Host{
		{ID: "a", Name: "Zero.edge.example", Role: wire.HostRoleMaster, Addresses: []string{"192.0.2.10", "2001:db8::10"}, Labels: map[string]string{"rack": "r1"}},
		{ID: "b", Name: "one", Role: wire.HostRoleWorker, Addresses: []string{"192.0.2.11"}},
	}
	_, err := p.Into(o, sources.Kubernetes)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(o.Manifests[0].Content)).To(And(
		ContainSubstring("name: ironflow-cluster-hosts"), ContainSubstring("IRONFLOW_CLUSTER_HUB_LEAVES"),
		ContainSubstring(`"name":"edge","schedulable_masters":false`), ContainSubstring(`"Name":"zero.edge.example"`), ContainSubstring(`"Addresses":["192.0.2.10","2001:db8::10"]`),
		ContainSubstring(`"Labels":{"rack":"r1"}`), ContainSubstring(`"Name":"one"`)))
}

func TestWhatCannotBePutIntoACluster(t *testing.T) {
	g := NewWithT(t)
	g.Expect(inside.Program{}.Check()).To(Succeed())
	g.Expect(inside.Program{Image: "ironflow-cluster"}.Check()).To(MatchError(ContainSubstring("want a full reference")))
	broken := inside.Program{Image: "registry.example/x:1", URL: "https://hub.example", CA: func() (string, error) { return "", errors.New("disk") }}
	_, err := broken.Into(order(), sources.Kubernetes)
	g.Expect(err).To(MatchError(ContainSubstring("the hub's authority: disk")))
	_, err = inside.Program{Image: "registry.example/x:1"}.Into(order(), sources.Kubernetes)
	g.Expect(err).To(MatchError(ContainSubstring("the hub's URL is missing")))
}
