package kubernetes_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	v3 "github.com/coreos/ignition/v2/config/v3_2"
	"github.com/coreos/ignition/v2/config/v3_2/types"
	. "github.com/onsi/gomega"
	"github.com/vincent-petithory/dataurl"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/sources/kubernetes"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/admission"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/token"
	"github.com/ironflow/ironflow/hub/wire"
)

var now = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// order is a cluster with an API VIP, so many masters and workers.
func order(masters, workers int) *sources.Order {
	o := &sources.Order{
		Now: now,
		Cluster: wire.Cluster{
			Name: "edge", BaseDNSDomain: "example.com",
			APIVIPs:         []wire.APIVIP{{IP: "192.0.2.250"}},
			MachineNetworks: []wire.MachineNetwork{{CIDR: "192.0.2.0/24"}},
			ClusterNetworks: []wire.ClusterNetwork{{CIDR: "10.128.0.0/14", HostPrefix: 23}},
			ServiceNetworks: []wire.ServiceNetwork{{CIDR: "172.30.0.0/16"}},
		},
		Kubernetes: &sources.KubernetesSettings{Version: "v1.37.1"},
	}
	for i := range masters {
		o.Hosts = append(o.Hosts, host(wire.HostRoleMaster, i, 10+i))
	}
	for i := range workers {
		o.Hosts = append(o.Hosts, host(wire.HostRoleWorker, i, 100+i))
	}
	if masters > 0 {
		o.Hosts[0].Bootstrap = true
	}
	return o
}

func host(role wire.HostRole, i, address int) sources.Host {
	name := fmt.Sprintf("%s-%d", role, i)
	return sources.Host{
		ID: "id-" + name, Name: name, Role: role, Addresses: []string{fmt.Sprintf("192.0.%d.%d", 2+address/250, address%250)}, MAC: "52:54:00:00:00:01", Disk: "/dev/disk/by-id/x",
	}
}

// dual makes an order dual stack.
func dual(o *sources.Order) {
	c := &o.Cluster
	c.MachineNetworks = append(c.MachineNetworks, wire.MachineNetwork{CIDR: "2001:db8::/64"})
	c.ClusterNetworks = append(c.ClusterNetworks, wire.ClusterNetwork{CIDR: "fd01::/48", HostPrefix: 64})
	c.ServiceNetworks = append(c.ServiceNetworks, wire.ServiceNetwork{CIDR: "fd02::/112"})
	c.APIVIPs = append(c.APIVIPs, wire.APIVIP{IP: "2001:db8::fa"})
	for i := range o.Hosts {
		o.Hosts[i].Addresses = append(o.Hosts[i].Addresses, fmt.Sprintf("2001:db8::%d", 10+i))
	}
}

// full sets everything that the source acts upon.
func full(o *sources.Order) {
	c, k := &o.Cluster, o.Kubernetes
	c.SSHPublicKey = "ssh-ed25519 AAAA one\nssh-ed25519 BBBB two\n"
	c.HTTPProxy, c.HTTPSProxy, c.NoProxy = "http://proxy.example:3128", "http://proxy.example:3128", ".example.com"
	c.AdditionalNTPSource = "ntp1.example,192.0.2.1"
	o.PullSecret = `{"auths":{"registry.example":{"auth":"dTpw"}}}`
	k.ImageRepository, k.VIPImage = "registry.example/kubernetes", "registry.example/kube-vip/kube-vip:v1.0.0"
	k.Programs = []sources.Program{
		{URL: "https://mirror.example/kubernetes-v1.37.1-x86-64.raw", Checksum: "sha256:" + strings.Repeat("a", 64), Kind: "sysext", Name: "kubernetes"},
		{URL: "https://mirror.example/cni.tgz", Checksum: "sha512:" + strings.Repeat("b", 128), Kind: "archive"},
	}
	k.Mirrors = []sources.Mirror{{Registry: "docker.io", URLs: []string{"https://mirror.example:5000/"}}}
	k.IgnorePreflight = []string{"Mem"}
	o.Manifests = []sources.Manifest{
		{Folder: "manifests", Name: "cni.yaml", Content: []byte("kind: Namespace\napiVersion: v1\nmetadata: {name: cni}\n")},
		{Folder: "openshift", Name: "more.json", Content: []byte(`{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"more"}}`)},
	}
	for i := range o.Hosts {
		o.Hosts[i].Labels = map[string]string{"rack": "r1", "node-role.kubernetes.io/infra": "", "example.com/zone": "a"}
	}
}

// joining is an order for one host of a cluster that was made before.
func joining(role wire.HostRole, earlier *sources.Made) *sources.Order {
	o := order(0, 0)
	h := host(role, 7, 60)
	h.Joins = true
	o.Hosts, o.Earlier, o.Now = []sources.Host{h}, earlier, now.Add(30*24*time.Hour)
	return o
}

func mustMake(t testing.TB, o *sources.Order) *sources.Made {
	t.Helper()
	made, _ := admitted(t, o)
	return made
}

// asked is what a cluster that runs was asked for.
type asked struct {
	door  admission.Door
	token token.Token
}

// admitted makes the order, with clusters that take all tokens.
func admitted(t testing.TB, o *sources.Order) (*sources.Made, []asked) {
	t.Helper()
	var all []asked
	source := kubernetes.Source{Admit: func(_ context.Context, d admission.Door, one token.Token, _ time.Time) error {
		all = append(all, asked{d, one})
		return nil
	}}
	made, err := source.Make(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return made, all
}

// parsed is a host's configuration as Ignition reads it.
func parsed(t testing.TB, made *sources.Made, id string) types.Config {
	t.Helper()
	config, report, err := v3.Parse(made.Hosts[id])
	if err != nil {
		t.Fatalf("host %q: %v %s", id, err, report.String())
	}
	return config
}

// files are the contents of a host's files by path.
func files(t testing.TB, made *sources.Made, id string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, f := range parsed(t, made, id).Storage.Files {
		u, err := dataurl.DecodeString(*f.Contents.Source)
		if err != nil {
			t.Fatal(err)
		}
		all[f.Path] = string(u.Data)
	}
	return all
}

// tokenOf is the bootstrap token that was made.
func tokenOf(t testing.TB, made *sources.Made) string {
	t.Helper()
	var kept struct{ Token string }
	if err := json.Unmarshal(made.Secrets["bootstrap-token"], &kept); err != nil {
		t.Fatal(err)
	}
	return kept.Token
}

// TestTheFirstCallWaitsForImages: kubeadm calls the API as soon as it has started the
// kubelet, which has the images of the control plane to pull. Who gives that call up gives
// up the attempt.
func TestTheFirstCallWaitsForImages(t *testing.T) {
	g := NewWithT(t)
	text := files(t, mustMake(t, alone()), "id-master-0")[configuration]
	limit := func(name string) time.Duration {
		_, rest, found := strings.Cut(text, name+": ")
		g.Expect(found).To(BeTrue(), name)
		took, err := time.ParseDuration(strings.Fields(rest)[0])
		g.Expect(err).NotTo(HaveOccurred())
		return took
	}
	g.Expect(limit("kubernetesAPICall")).To(BeNumerically(">=", limit("controlPlaneComponentHealthCheck")))
}

// TestALeaderWithoutRivalsIsPatient: with one host of the control plane nobody takes a lease
// over, and a program that gives its own up ends.
func TestALeaderWithoutRivalsIsPatient(t *testing.T) {
	g := NewWithT(t)
	const deadline = "name: leader-elect-renew-deadline"
	g.Expect(strings.Count(files(t, mustMake(t, alone()), "id-master-0")[configuration], deadline)).To(Equal(2), "controller manager and scheduler")
	g.Expect(files(t, mustMake(t, order(3, 1)), "id-master-0")[configuration]).NotTo(ContainSubstring(deadline), "others take over soon")
}
