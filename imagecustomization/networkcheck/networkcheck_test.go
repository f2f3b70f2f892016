package networkcheck_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/network"
	"github.com/ironflow/ironflow/imagecustomization/networkcheck"
)

const (
	able   = "interfaces: [{name: eth0, ipv4: {enabled: true, dhcp: true}}]\n"
	beyond = "interfaces: [{name: eth0}, {name: vx, type: vxlan}]\n"
	wrong  = "interfaces: [{name: eth0, mtu: big}]\n"
)

// files of a fleet, with the ways that they take.
var fleet = map[string]struct {
	content string
	want    []networkcheck.Result
}{
	"a/able.yaml": {able, []networkcheck.Result{{Name: "a/able.yaml", Way: network.WayTranslated}}},
	"beyond.yml":  {beyond, []networkcheck.Result{{Name: "beyond.yml", Way: network.WayNmstatectl, Fields: `interfaces[1].type: "vxlan" is not translated`}}},
	"wrong.yaml":  {wrong, []networkcheck.Result{{Name: "wrong.yaml", Way: network.WayRefused, Fields: "interfaces[0].mtu: want a number from 68 to 65535"}}},
	"two.yaml": {
		"---\n" + able + "---\n" + wrong,
		[]networkcheck.Result{
			{Name: "two.yaml, document 1", Way: network.WayTranslated},
			{Name: "two.yaml, document 2", Way: network.WayRefused, Fields: "interfaces[0].mtu: want a number from 68 to 65535"},
		},
	},
	"openstack.json": {
		`{"links":[{"id":"port-1","type":"phy","ethernet_mac_address":"52:54:00:00:00:01"}],"networks":[{"link":"port-1","type":"ipv4_dhcp"}]}`,
		[]networkcheck.Result{{Name: "openstack.json", Way: network.WayTranslated}},
	},
	"secrets.yaml": {
		"apiVersion: v1\nkind: List\nitems:\n" +
			"- {apiVersion: v1, kind: Secret, metadata: {name: encoded}, data: {nmstate: " + base64.StdEncoding.EncodeToString([]byte(able)) + "}}\n" +
			"- {apiVersion: v1, kind: Secret, metadata: {name: plain}, stringData: {nmstate: '" + "interfaces: [{name: eth0, state: ignore}]" + "'}}\n" +
			"- {apiVersion: v1, kind: Secret, metadata: {name: spoilt}, data: {nmstate: '%'}}\n" +
			"- {apiVersion: v1, kind: Secret, metadata: {name: bmc}, stringData: {username: me}}\n",
		[]networkcheck.Result{
			{Name: "secrets.yaml, Secret encoded", Way: network.WayTranslated},
			{Name: "secrets.yaml, Secret plain", Way: network.WayNmstatectl, Fields: `interfaces[0].state: "ignore" is not translated, there are up, down, absent`},
			{Name: "secrets.yaml, Secret spoilt", Way: network.WayRefused, Fields: "data.nmstate: not base64"},
		},
	},
	"nmstateconfig.yaml": {
		"apiVersion: agent-install.openshift.io/v1beta1\nkind: NMStateConfig\nmetadata: {name: node-0}\nspec:\n" +
			"  interfaces: [{name: nic1, macAddress: '52:54:00:00:00:01'}]\n" +
			"  config: {interfaces: [{name: nic2}]}\n",
		[]networkcheck.Result{
			{
				Name:   "nmstateconfig.yaml, NMStateConfig node-0",
				Way:    network.WayRefused,
				Fields: "interfaces[0].name: nic2 has no address in the map of addresses, and is no name that a kernel gives; add it to the map",
			},
		},
	},
	"halfway.yaml": {
		"apiVersion: agent-install.openshift.io/v1beta1\nkind: NMStateConfigList\nitems:\n" +
			"- {apiVersion: agent-install.openshift.io/v1beta1, kind: NMStateConfig, metadata: {name: nobody}, spec: {config: {interfaces: [{name: eth0}]}}}\n" +
			"- {apiVersion: agent-install.openshift.io/v1beta1, kind: NMStateConfig, metadata: {name: nothing}, spec: {interfaces: [{name: nic1, macAddress: '52:54:00:00:00:01'}]}}\n",
		[]networkcheck.Result{
			{Name: "halfway.yaml, NMStateConfig nobody", Way: network.WayRefused, Fields: "interfaces of the map of addresses: is empty"},
			{Name: "halfway.yaml, NMStateConfig nothing", Way: network.WayRefused, Fields: "document: is empty"},
		},
	},
	"agent-config.yaml": {
		"apiVersion: v1beta1\nkind: AgentConfig\nmetadata: {name: site}\nhosts:\n" +
			"- {hostname: a, interfaces: [{name: nic1, macAddress: '52:54:00:00:00:01'}], networkConfig: {interfaces: [{name: nic1}]}}\n" +
			"- {hostname: b}\n",
		[]networkcheck.Result{{Name: "agent-config.yaml, AgentConfig site, hosts[0]", Way: network.WayTranslated}},
	},
	"siteconfig.yaml": {
		"apiVersion: ran.openshift.io/v1\nkind: SiteConfig\nmetadata: {name: site}\n" +
			"spec: {clusters: [{nodes: [{hostName: a}, {nodeNetwork: {interfaces: [{name: nic1, macAddress: '52:54:00:00:00:01'}], config: {interfaces: [{name: nic1}]}}}]}]}\n",
		[]networkcheck.Result{{Name: "siteconfig.yaml, SiteConfig site, spec.clusters[0].nodes[1]", Way: network.WayTranslated}},
	},
	"clusterinstance.yaml": {
		"apiVersion: siteconfig.open-cluster-management.io/v1alpha1\nkind: ClusterInstance\nmetadata: {name: sno}\n" +
			"spec: {nodes: [{nodeNetwork: {interfaces: [{name: nic1, macAddress: '52:54:00:00:00:01'}, {name: nic1, macAddress: '52:54:00:00:00:02'}], config: {interfaces: [{name: nic1}]}}}]}\n",
		[]networkcheck.Result{{Name: "clusterinstance.yaml, ClusterInstance sno, spec.nodes[0]", Way: network.WayRefused, Fields: "interfaces[1].name of the map of addresses: nic1 appears twice"}},
	},
	"infraenv.yaml": {"apiVersion: agent-install.openshift.io/v1beta1\nkind: InfraEnv\nmetadata: {name: site}\n", nil},
	"values.yaml":   {"replicas: 3\n", nil},
	"notes.txt":     {wrong, nil},
	"broken.yaml":   {"a: [\n", []networkcheck.Result{{Name: "broken.yaml", Way: network.WayRefused, Fields: "not a mapping in YAML or JSON"}}},
}

func TestWaysOfAFleet(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	var want []any
	for name, file := range fleet {
		path := filepath.Join(dir, name)
		g.Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
		g.Expect(os.WriteFile(path, []byte(file.content), 0o600)).To(Succeed())
		for _, r := range file.want {
			want = append(want, And(HaveField("Name", r.Name), HaveField("Way", r.Way), HaveField("Fields", HavePrefix(r.Fields))))
		}
	}
	results, err := networkcheck.Folder(dir, network.Live{Nmstatectl: true})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(results).To(ConsistOf(want...))

	results, err = networkcheck.Folder(dir, network.Live{Why: "the base image is too old"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(results).
		To(ContainElement(And(HaveField("Name", "beyond.yml"), HaveField("Way", network.WayRefused), HaveField("Fields", And(ContainSubstring("interfaces[1].type"), ContainSubstring("too old"))))))
	g.Expect(results).NotTo(ContainElement(HaveField("Way", network.WayNmstatectl)))
}

// One file that cannot be read says nothing of the others, and nothing is waited for.
// TestOneCardOfTwoNetworksIsRefused, as the image builder leaves one of them out.
func TestOneCardOfTwoNetworksIsRefused(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	config := func(file, namespace, name, mac string) {
		g.Expect(os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755)).To(Succeed())
		g.Expect(os.WriteFile(filepath.Join(dir, file), []byte("apiVersion: agent-install.openshift.io/v1beta1\nkind: NMStateConfig\nmetadata: {name: "+name+", namespace: "+namespace+"}\n"+
			"spec: {interfaces: [{name: nic1, macAddress: '"+mac+"'}], config: {interfaces: [{name: nic1}]}}\n"), 0o600)).To(Succeed())
	}
	config("1.yaml", "a", "node-0", "52:54:00:00:00:0a")
	config("2.yaml", "a", "node-1", "52:54:00:00:00:0A")
	config("3.yaml", "b", "node-2", "52:54:00:00:00:0a")
	config("overlay/1.yaml", "a", "node-0", "52:54:00:00:00:0a")
	g.Expect(os.WriteFile(filepath.Join(dir, "agent-config.yaml"), []byte("hosts:\n- {interfaces: [{name: nic1, macAddress: '52:54:00:00:00:0a'}], networkConfig: {interfaces: [{name: nic1}]}}\n"+
		"- {interfaces: [{name: nic1, macAddress: '52:54:00:00:00:0a'}], networkConfig: {interfaces: [{name: nic1}]}}\n"), 0o600)).To(Succeed())
	results, err := networkcheck.Folder(dir, network.Live{})
	g.Expect(err).NotTo(HaveOccurred())
	refused := func(name, owner string) any {
		return And(HaveField("Name", name), HaveField("Way", network.WayRefused), HaveField("Fields", HavePrefix("its card 52:54:00:00:00:0a is that of "+owner)))
	}
	translated := func(name string) any { return And(HaveField("Name", name), HaveField("Way", network.WayTranslated)) }
	g.Expect(results).To(ConsistOf(
		translated("1.yaml, NMStateConfig node-0"), refused("2.yaml, NMStateConfig node-1", "NMStateConfig node-0"), translated("3.yaml, NMStateConfig node-2"),
		translated("overlay/1.yaml, NMStateConfig node-0"), translated("agent-config.yaml, hosts[0]"), refused("agent-config.yaml, hosts[1]", "hosts[0]"),
	))
}

func TestFilesThatCannotBeRead(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(dir, "able.yaml"), []byte(able), 0o600)).To(Succeed())
	g.Expect(os.Symlink("nowhere", filepath.Join(dir, "a-link.yaml"))).To(Succeed())
	g.Expect(os.Symlink("/etc/hostname", filepath.Join(dir, "away.yaml"))).To(Succeed())
	g.Expect(syscall.Mkfifo(filepath.Join(dir, "pipe.yaml"), 0o600)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(dir, "huge.yaml"), nil, 0o600)).To(Succeed())
	g.Expect(os.Truncate(filepath.Join(dir, "huge.yaml"), 1<<40)).To(Succeed())
	results, err := networkcheck.Folder(dir, network.Live{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(results).To(ConsistOf(
		And(HaveField("Name", "able.yaml"), HaveField("Way", network.WayTranslated)),
		And(HaveField("Name", "a-link.yaml"), HaveField("Way", network.WayRefused), HaveField("Fields", ContainSubstring("no such file"))),
		And(HaveField("Name", "away.yaml"), HaveField("Way", network.WayRefused), HaveField("Fields", ContainSubstring("escapes"))),
		And(HaveField("Name", "huge.yaml"), HaveField("Way", network.WayRefused), HaveField("Fields", ContainSubstring("bytes"))),
	))
}

// What is shown is no order to the terminal.
func TestNothingOfAFileReachesTheTerminalAsItIs(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(`{"apiVersion": "v1", "kind": "AgentConfig", "metadata": {"name": "a\u001b[2J"}, "hosts": [
		{"interfaces": [{"name": "nic1", "macAddress": "52:54:00:00:00:01"}], "networkConfig": {"interfaces": [{"name": "nic1", "\u001b[2J": 1}]}}]}`), 0o600)).To(Succeed())
	results, err := networkcheck.Folder(dir, network.Live{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(results).To(ConsistOf(And(HaveField("Name", Not(ContainSubstring("\x1b"))), HaveField("Fields", And(ContainSubstring("not supported"), Not(ContainSubstring("\x1b")))))))
}

func TestAFolderWithoutNetworks(t *testing.T) {
	_, err := networkcheck.Folder(t.TempDir(), network.Live{})
	NewWithT(t).Expect(err).To(MatchError(networkcheck.ErrNothing))
	_, err = networkcheck.Folder(filepath.Join(t.TempDir(), "none"), network.Live{})
	NewWithT(t).Expect(err).To(MatchError(os.ErrNotExist))
}

func FuzzFiles(f *testing.F) {
	for _, file := range fleet {
		f.Add([]byte(file.content))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "a.yaml"), content, 0o600); err != nil {
			t.Fatal(err)
		}
		results, _ := networkcheck.Folder(dir, network.Live{Nmstatectl: true}) // that there is nothing is no failure
		for _, r := range results {
			if r.Name == "" || r.Way == "" || r.Way != network.WayTranslated && r.Fields == "" {
				t.Fatalf("%+v", r)
			}
		}
	})
}
