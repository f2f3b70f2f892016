package image_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/image"
	"github.com/ironflow/ironflow/agent/agentbased/manifests"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/agentbased/units"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/imagecustomization/network"
	"github.com/ironflow/ironflow/test/ignitioncheck"
	"github.com/ironflow/ironflow/test/liveimage"
)

// addNodes are options of hosts that join a running cluster.
func addNodes(input string) image.Options {
	return image.Options{
		Dir: filepath.Join("testdata", input), Workflow: units.AddNodes, ReleaseImage: release, Arch: "x86_64", Live: network.Live{Nmstatectl: true},
	}
}

// TestHostsThatJoin: the settings of hosts that join a running cluster, and what is said of them.
func TestHostsThatJoin(t *testing.T) {
	g := NewWithT(t)
	p := plan(t, addNodes("nodes"))
	config, err := p.Ignition(identity(t))
	g.Expect(err).NotTo(HaveOccurred())
	ignitioncheck.Valid(t, config)
	golden(t, "nodes.ignition", shown(t, config))
	var text strings.Builder
	g.Expect(p.Summary().Text(&text)).To(Succeed())
	golden(t, "nodes.summary", text.String())

	d, err := liveimage.Decode(config)
	g.Expect(err).NotTo(HaveOccurred())
	there := map[string]bool{}
	for _, u := range d.Units {
		there[u.Name] = u.Enabled
	}
	want, err := units.Render(units.Options{Workflow: units.AddNodes})
	g.Expect(err).NotTo(HaveOccurred())
	for _, u := range want {
		if u.Name != "" {
			g.Expect(there).To(HaveKeyWithValue(u.Name, u.Enabled))
		}
	}
	g.Expect(there).NotTo(HaveKey("agent-register-cluster.service"), "the cluster runs already")
}

// TestWhatAHostThatJoinsReads: the client's own reader takes the manifests of the image, strictly.
func TestWhatAHostThatJoinsReads(t *testing.T) {
	g := NewWithT(t)
	config, err := plan(t, addNodes("nodes")).Ignition(identity(t))
	g.Expect(err).NotTo(HaveOccurred())
	d, err := liveimage.Decode(config)
	g.Expect(err).NotTo(HaveOccurred())
	dir := hostfile.Dir{Root: t.TempDir()}
	for _, f := range d.Files {
		g.Expect(places.Write(dir, f.Path, f.Data, 0o600)).To(Succeed())
	}
	in := func(name string) string { return places.Manifests + "/" + name }
	set, warnings, err := manifests.Read(manifests.Files{
		Root: dir.Root, ClusterImageSet: in("cluster-image-set.yaml"), InfraEnv: in("infraenv.yaml"), PullSecret: in("pull-secret.yaml"),
		NMStateConfig: in("nmstateconfig.yaml"), HostConfig: places.Assisted + "/hostconfig",
	}, manifests.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(warnings).To(BeEmpty())
	g.Expect(set.InfraEnv.Metadata.Name).To(Equal("edge"))
	g.Expect(set.Hosts).To(HaveLen(2))
	settings, err := places.Settings(dir)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(settings).To(And(
		HaveKeyWithValue("WORKFLOW_TYPE", "addnodes"), HaveKeyWithValue("CLUSTER_NAME", "edge"), HaveKeyWithValue("AUTH_TYPE", "agent-installer-local"),
		Not(HaveKey(places.NodeZeroIP)), Not(HaveKey(places.ServiceBaseURL))), "each host finds its own address")
}

// TestHostsThatJoinBehindAProxy: the console, the agent and the hub of each host use it; that hub itself is on the
// host, whose address is not known yet.
func TestHostsThatJoinBehindAProxy(t *testing.T) {
	g := NewWithT(t)
	o := addNodes("nodes")
	dir := t.TempDir()
	g.Expect(os.CopyFS(dir, os.DirFS(o.Dir))).To(Succeed())
	o.Dir = dir
	path := filepath.Join(dir, "nodes-config.yaml")
	raw, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	proxy := "proxy: {httpProxy: \"http://p.example:3128\", httpsProxy: \"http://s.example:3128\", noProxy: .lab.example}\n"
	g.Expect(os.WriteFile(path, append([]byte(proxy), raw...), 0o600)).To(Succeed())
	config, err := plan(t, o).Ignition(identity(t))
	g.Expect(err).NotTo(HaveOccurred())
	d, err := liveimage.Decode(config)
	g.Expect(err).NotTo(HaveOccurred())
	root := hostfile.Dir{Root: t.TempDir()}
	for _, f := range d.Files {
		g.Expect(places.Write(root, f.Path, f.Data, 0o600)).To(Succeed())
	}
	for _, file := range []string{hostfile.AgentEnv, places.ServiceSettings + "/assisted-service.env"} {
		values, err := places.ReadEnv(root, file)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(values).To(And(HaveKeyWithValue("HTTP_PROXY", "http://p.example:3128"), HaveKeyWithValue("https_proxy", "http://s.example:3128"), HaveKeyWithValue("NO_PROXY", ".lab.example")), file)
	}
	set, _, err := manifests.Read(manifests.Files{Root: root.Root, InfraEnv: places.Manifests + "/infraenv.yaml"}, manifests.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(set.InfraEnv.Spec.Proxy).To(HaveField("NoProxy", ".lab.example"), "the hub has it, too")
}

// TestTokensOfHostsThatJoinEnd by the claim that the hub acts upon.
func TestTokensOfHostsThatJoinEnd(t *testing.T) {
	for name, tc := range map[string]struct {
		given, lifetime time.Duration
	}{"as long as usual": {0, 48 * time.Hour}, "an hour": {time.Hour, time.Hour}} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := addNodes("nodes")
			o.TokenLifetime = tc.given
			now, out := time.Now(), t.TempDir()
			p := plan(t, o)
			id, err := image.LoadIdentity(p, image.Authorities{}, out, now)
			g.Expect(err).NotTo(HaveOccurred())
			made, err := image.Build(t.Context(), p, id, base(t), out)
			g.Expect(err).NotTo(HaveOccurred())
			var names []string
			for _, a := range made {
				names = append(names, a.Name)
			}
			g.Expect(names).To(Equal([]string{"auth/agent-image.cluster", "auth/agent-image.key", "auth/user-token", "auth/watcher-token", "agent.x86_64.iso"}), "nobody knows the hosts' addresses")
			raw, err := os.ReadFile(filepath.Join(out, image.WatcherToken))
			g.Expect(err).NotTo(HaveOccurred())
			parts := strings.Split(strings.TrimSpace(string(raw)), ".")
			g.Expect(parts).To(HaveLen(3))
			claims, err := base64.RawURLEncoding.DecodeString(parts[1])
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(claims).To(MatchJSON(fmt.Sprintf(`{"auth_scheme": "watcherAuth", "exp": %d}`, now.Add(tc.lifetime).Unix())))
		})
	}
}

// TestEverythingWrongWithHostsThatJoinIsToldAtOnce, and no secret is quoted.
func TestEverythingWrongWithHostsThatJoinIsToldAtOnce(t *testing.T) {
	for name, lenient := range map[string]bool{"strict": false, "lenient": true} {
		t.Run(name, func(t *testing.T) {
			o := addNodes("wrong-nodes")
			o.Dir, o.Lenient, o.Format, o.RendezvousIP, o.TokenLifetime = absolute(t, o.Dir), lenient, image.ConfigImage, "192.0.2.10", -time.Hour
			_, warnings, err := image.Read(o)
			text := told(warnings, err)
			golden(t, "wrong-nodes."+name, text)
			NewWithT(t).Expect(text).NotTo(ContainSubstring("TOP-SECRET"))
		})
	}
}

func TestSingleMistakesWithHostsThatJoin(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(o *image.Options) error
		want string
	}{
		"nothing there": {func(o *image.Options) error { o.Dir = t.TempDir(); return nil }, "add-nodes.env: is missing: write CLUSTER_ID, CLUSTER_NAME and CLUSTER_API_VIP_DNS_NAME of the running cluster"},
		"no hosts":      {func(o *image.Options) error { return os.Remove(filepath.Join(o.Dir, "nodes-config.yaml")) }, "nodes-config.yaml: is missing: put the manifest there"},
		"an empty list": {func(o *image.Options) error {
			return os.WriteFile(filepath.Join(o.Dir, "nodes-config.yaml"), []byte("hosts: []\n"), 0o600)
		}, "hosts is missing: write a list with interfaces (name, macAddress) of each host that joins"},
		"no settings": {func(o *image.Options) error {
			return os.Remove(filepath.Join(o.Dir, "clusterconfig/import-cluster-config.json"))
		}, `clusterconfig/import-cluster-config.json: is missing: write {"networking": {"userManagedNetworking": true}}`},
		"other settings": {func(o *image.Options) error {
			return os.WriteFile(filepath.Join(o.Dir, "clusterconfig/import-cluster-config.json"), []byte(`{"network": {}}`), 0o600)
		}, `unknown field "network"`},
		"a program that nobody needs": {
			func(o *image.Options) error { o.Installer = true; return nil },
			"--openshift-install: is given, and hosts that join get their Ignition from the running cluster: leave it out",
		},
		"a proxy that is none": {func(o *image.Options) error {
			return os.WriteFile(filepath.Join(o.Dir, "nodes-config.yaml"), []byte("proxy: {httpProxy: proxy}\n"), 0o600)
		}, "nodes-config.yaml, document 1, line 1: proxy.httpProxy is no URL: write one such as http://proxy.example:3128"},
		"no credentials": {func(o *image.Options) error { return os.Remove(filepath.Join(o.Dir, "pull-secret.json")) }, "pull-secret.json: is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := addNodes("nodes")
			dir := t.TempDir()
			g.Expect(os.CopyFS(dir, os.DirFS(o.Dir))).To(Succeed())
			o.Dir = dir
			g.Expect(tc.edit(&o)).To(Succeed())
			_, _, err := image.Read(o)
			g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}

// TestALateCard is waited for by the live system where its initrd has no networks.
func TestALateCard(t *testing.T) {
	for format, want := range map[image.Format]bool{image.ISO: true, image.MinimalISO: false} {
		t.Run(string(format), func(t *testing.T) {
			g := NewWithT(t)
			o := options("ztp")
			o.Format = format
			config, err := plan(t, o).Ignition(identity(t))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(strings.Contains(shown(t, config), "==== /etc/assisted/network/discovery.env 0600\nDISCOVERY_DELAY_SECONDS=\"20\"\n")).To(Equal(want))
		})
	}
}
