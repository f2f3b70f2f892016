package image_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/image"
	"github.com/ironflow/ironflow/agent/agentbased/manifests"
	"github.com/ironflow/ironflow/agent/agentbased/units"
	"github.com/ironflow/ironflow/imagecustomization/network"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares a text with a file.
func golden(t *testing.T, file, text string) {
	t.Helper()
	g := NewWithT(t)
	file = filepath.Join("testdata", file)
	if *update {
		g.Expect(os.WriteFile(file, []byte(text), 0o644)).To(Succeed())
	}
	want, err := os.ReadFile(file)
	g.Expect(err).NotTo(HaveOccurred(), "run go test ./agent/agentbased/image -update")
	g.Expect(text).To(Equal(string(want)))
}

// told is what is printed.
func told(warnings []manifests.Problem, err error) string {
	var b strings.Builder
	for _, w := range warnings {
		b.WriteString("warning: " + w.String() + "\n")
	}
	if err != nil {
		b.WriteString(err.Error() + "\n")
	}
	return b.String()
}

const release = "quay.example/release/ocp:4.19.3-x86_64"

// options are those of a good input.
func options(input string) image.Options {
	o := image.Options{Dir: filepath.Join("testdata", input), Workflow: units.Automated, Arch: "x86_64", Live: network.Live{Nmstatectl: true}}
	if strings.HasSuffix(input, "configs") {
		o.ReleaseImage = release
	} else if input == "ztp" {
		o.BootArtifactsURL = "http://192.0.2.1:8080/boot"
	}
	return o
}

func plan(t *testing.T, o image.Options) *image.Plan {
	t.Helper()
	o.Dir = absolute(t, o.Dir)
	p, warnings, err := image.Read(o)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(warnings).To(BeEmpty())
	return p
}

func absolute(t *testing.T, dir string) string {
	t.Helper()
	dir, err := filepath.Abs(dir)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return dir
}

func TestWhatEachHostWillBe(t *testing.T) {
	for _, input := range []string{"configs", "ztp"} {
		t.Run(input, func(t *testing.T) {
			var text strings.Builder
			NewWithT(t).Expect(plan(t, options(input)).Summary().Text(&text)).To(Succeed())
			golden(t, input+".summary", text.String())
		})
	}
	t.Run("an appliance", func(t *testing.T) {
		var text strings.Builder
		p := plan(t, image.Options{Dir: t.TempDir(), Workflow: units.Appliance, ReleaseImage: release})
		NewWithT(t).Expect(p.Summary().Text(&text)).To(Succeed())
		NewWithT(t).Expect(text.String()).To(Equal("image       iso, workflow appliance\nrelease     " + release + "\nsettings    none: they come with a config image\n"))
	})
}

// TestEverythingWrongIsToldAtOnce: files, flags, base image and what lies beside the manifests.
func TestEverythingWrongIsToldAtOnce(t *testing.T) {
	for _, input := range []string{"wrong-configs", "wrong-ztp"} {
		for name, lenient := range map[string]bool{"strict": false, "lenient": true} {
			t.Run(input+", "+name, func(t *testing.T) {
				_, warnings, err := image.Read(image.Options{
					Dir: absolute(t, "testdata/"+input), Workflow: units.Automated, Arch: "x86_64", Lenient: lenient, Format: map[string]image.Format{"wrong-ztp": image.PXE}[input],
					Live:     network.Live{Why: "base image old is older than the first release that has it"},
					Problems: []manifests.Problem{{File: "--base-image", Text: "cannot be used: no such file"}},
				})
				golden(t, input+"."+name, told(warnings, err))
			})
		}
	}
}

func TestSingleMistakes(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(o *image.Options)
		want string
	}{
		"no folder":  {func(o *image.Options) { o.Dir = "/nonexistent/cluster" }, "--dir: cannot be read: stat /nonexistent/cluster: no such file or directory"},
		"no input":   {func(o *image.Options) { o.Dir = t.TempDir() }, "has neither install-config.yaml and agent-config.yaml, nor the folder cluster-manifests with manifests: write either"},
		"no release": {func(o *image.Options) { o.ReleaseImage = "" }, "--release-image: is not given: neither install-config.yaml nor agent-config.yaml names the release"},
		"another address": {
			func(o *image.Options) { o.RendezvousIP = "192.0.2.99" },
			"agent-config.yaml, document 1, line 5: rendezvousIP is 192.0.2.10, and --rendezvous-ip is 192.0.2.99: leave the flag away",
		},
		"no address":            {func(o *image.Options) { o.RendezvousIP = "one" }, `--rendezvous-ip: is "one": write an address`},
		"a format":              {func(o *image.Options) { o.Format = "qcow2" }, `--format: is "qcow2": write one of iso, minimal-iso, pxe-files, config-image`},
		"a workflow":            {func(o *image.Options) { o.Workflow = "interactive" }, `--workflow: is "interactive": write automated, appliance for a factory image without settings, or addnodes`},
		"a lifetime":            {func(o *image.Options) { o.TokenLifetime = time.Hour }, "--token-lifetime: is given, and tokens of workflow automated do not end: leave it out"},
		"an appliance's flags":  {func(o *image.Options) { o.Workflow, o.ReleaseImage = units.Appliance, "" }, "--release-image: is not given: an appliance has one release"},
		"appliance of settings": {func(o *image.Options) { o.Workflow, o.Format = units.Appliance, image.ConfigImage }, "--format: is config-image, which is made of settings"},
		"config image, mirrors": {func(o *image.Options) { o.Format = image.ConfigImage }, "mirror/registries.conf: is of the live system, which a config image does not change"},
		"config image, nmstatectl": {
			func(o *image.Options) { o.Format = image.ConfigImage },
			"agent-config.yaml, document 1, line 34: hosts[1].networkConfig needs nmstatectl, which appliances do not run for config images: ",
		},
		"no nmstatectl": {func(o *image.Options) { o.Live = network.Live{Why: "it is old"} }, "hosts[1].networkConfig cannot be set up by this base image: "},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := options("configs")
			o.Dir = absolute(t, o.Dir)
			tc.edit(&o)
			_, _, err := image.Read(o)
			g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}

// TestHostsThatContradictEachOther, the cluster, or what is asked for.
func TestHostsThatContradictEachOther(t *testing.T) {
	const networks, install = "cluster-manifests/nmstateconfig.yaml", "cluster-manifests/agent-cluster-install.yaml"
	for name, tc := range map[string]struct{ input, file, old, write, want string }{
		"an address of two": {
			"configs", "agent-config.yaml", "ip: 192.0.2.11", "ip: 192.0.2.10",
			"hosts[1].networkConfig has the address 192.0.2.10, which is of host master-0: write another one",
		},
		"an address of the cluster": {
			"configs", "agent-config.yaml", "ip: 192.0.2.11", "ip: 192.0.2.6",
			"hosts[1].networkConfig has the address 192.0.2.6, which the cluster has as a virtual one: write another one",
		},
		"an address of manifests of the cluster": {
			"ztp", networks, "ip: 192.0.2.10", "ip: 192.0.2.5",
			"cluster-manifests/nmstateconfig.yaml, document 1, line 11: spec.config has the address 192.0.2.5, which the cluster has as a virtual one",
		},
		"a rendezvous host elsewhere": {
			"ztp", networks, "ip: 192.0.2.10", "ip: 198.51.100.10",
			"--rendezvous-ip: is 198.51.100.10, which is in no machine network (192.0.2.0/24): write the address of a host that is",
		},
		"nobody inside a plain Kubernetes": {
			"kubernetes", "hub.env", "IRONFLOW_HUB_CLUSTER_IMAGE=registry.example/ironflow/ironflow-cluster:v1", "",
			"hub.env: does not set IRONFLOW_HUB_CLUSTER_IMAGE, so nobody inside the cluster would approve its kubelets' requests and say that it runs",
		},
		"somebody inside whom nobody can pull": {
			"kubernetes", "hub.env", "registry.example/ironflow/ironflow-cluster:v1", "ironflow-cluster",
			`hub.env: has a IRONFLOW_HUB_CLUSTER_IMAGE that cannot be used: image "ironflow-cluster": want a full reference`,
		},
		"a release that nobody has Ignition for": {
			"ztp", "hub.env", "IRONFLOW_HUB_IGNITION_DIR=/etc/ironflow/ignition", "",
			"hub.env: does not set IRONFLOW_HUB_IGNITION_DIR, so the hub has no Ignition for hosts of a release: name the folder of the live system that has it",
		},
		"a release whose program is nowhere": {
			"configs", "hub.env", "IRONFLOW_HUB_OPENSHIFT_INSTALL=/usr/local/bin/openshift-install", "",
			"hub.env: does not set IRONFLOW_HUB_OPENSHIFT_INSTALL: pack the program openshift-install into the image by --openshift-install, or write the path that it has in the live system",
		},
		"nobody inside a release": {
			"configs", "hub.env", "IRONFLOW_HUB_CLUSTER_IMAGE=registry.example/ironflow/ironflow-cluster:v1", "",
			"hub.env: does not set IRONFLOW_HUB_CLUSTER_IMAGE, so nobody inside the cluster",
		},
		"too many of a role": {
			"ztp", "hostconfig/worker-0/role", "worker", "arbiter",
			"spec.provisionRequirements.arbiterAgents asks for 0, and hostconfig has 1 of role arbiter: change one of them",
		},
		"too many": {
			"ztp", install, "controlPlaneAgents: 3\n    workerAgents: 2", "controlPlaneAgents: 1",
			"spec.provisionRequirements asks for 1 hosts, and 2 are described in hostconfig and by NMStateConfigs: change one of them",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := options(tc.input)
			o.Dir = t.TempDir()
			g.Expect(os.CopyFS(o.Dir, os.DirFS("testdata/"+tc.input))).To(Succeed())
			path := filepath.Join(o.Dir, tc.file)
			raw, err := os.ReadFile(path)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(raw)).To(ContainSubstring(tc.old))
			g.Expect(os.WriteFile(path, []byte(strings.Replace(string(raw), tc.old, tc.write, 1)), 0o600)).To(Succeed())
			_, _, err = image.Read(o)
			g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}

// TestARendezvousHostThatNobodyIs is refused once all hosts are known with their addresses.
func TestARendezvousHostThatNobodyIs(t *testing.T) {
	g := NewWithT(t)
	o := options("configs")
	o.Dir = t.TempDir()
	g.Expect(os.CopyFS(o.Dir, os.DirFS("testdata/configs"))).To(Succeed())
	edit := func(file string, pairs ...string) {
		path := filepath.Join(o.Dir, file)
		raw, err := os.ReadFile(path)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(os.WriteFile(path, []byte(strings.NewReplacer(pairs...).Replace(string(raw))), 0o600)).To(Succeed())
	}
	edit("agent-config.yaml", "rendezvousIP: 192.0.2.10", "rendezvousIP: 192.0.2.99")
	_, _, err := image.Read(o)
	g.Expect(err).NotTo(HaveOccurred(), "a host with DHCP, or one that is not described, may get it")
	edit("agent-config.yaml", "- interfaces:\n  - {name: eno1, macAddress: \"02:00:00:00:00:c1\"}\n  rootDeviceHints: {minSizeGigabytes: 100}\n", "")
	edit("install-config.yaml", "replicas: 3", "replicas: 2", "replicas: 1", "replicas: 0")
	_, _, err = image.Read(o)
	g.Expect(err).To(MatchError(ContainSubstring(
		"agent-config.yaml, document 1, line 5: rendezvousIP is 192.0.2.99, which no host has: write one of 192.0.2.10, 192.0.2.11",
	)), "beside what is said of two masters")
}

// TestTheRendezvousHostOfManifests, which name none.
func TestTheRendezvousHostOfManifests(t *testing.T) {
	for name, tc := range map[string]struct{ given, want, host string }{
		"the first that may be": {"", "192.0.2.10", "master-0"},
		"one by DHCP":           {"192.0.2.77", "192.0.2.77", ""},
		"IPv6":                  {"2001:db8::7", "2001:db8::7", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := options("ztp")
			o.RendezvousIP = tc.given
			p := plan(t, o)
			g.Expect(p.Rendezvous.String()).To(Equal(tc.want))
			leader := ""
			for _, h := range p.Hosts {
				if h.Rendezvous {
					leader = h.Name
				}
			}
			g.Expect(leader).To(Equal(tc.host))
		})
	}
	NewWithT(t).Expect(func() string { o := options("ztp"); o.RendezvousIP = "2001:db8::7"; return plan(t, o).HubURL() }()).To(Equal("http://[2001:db8::7]:8090/"))
}

// TestTheRendezvousHostOfTheTwoFiles, where agent-config.yaml names none.
func TestTheRendezvousHostOfTheTwoFiles(t *testing.T) {
	for name, tc := range map[string]struct {
		given, file       string
		noHosts           bool
		want, host, wrong string
	}{
		"the first that may be":  {want: "192.0.2.10", host: "master-0"},
		"the one of the flag":    {given: "192.0.2.11", want: "192.0.2.11", host: "master-1"},
		"one by DHCP":            {given: "192.0.2.77", want: "192.0.2.77"},
		"none":                   {noHosts: true, wrong: "write the address that one of the hosts will have, here or as rendezvousIP in agent-config.yaml"},
		"one of no network":      {given: "198.51.100.10", wrong: "--rendezvous-ip: is 198.51.100.10, which is in no machine network (192.0.2.0/24): write the address of a host that is"},
		"a virtual address":      {given: "192.0.2.5", wrong: "--rendezvous-ip: is 192.0.2.5, a virtual address of the cluster: write the host's own"},
		"no address in the flag": {given: "one", wrong: `--rendezvous-ip: is "one": write an address`},
		"no address in the file": {given: "192.0.2.10", file: "rendezvousIP: [1]\n", wrong: "agent-config.yaml, document 1, line 5: rendezvousIP"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := options("configs")
			o.Dir = t.TempDir()
			g.Expect(os.CopyFS(o.Dir, os.DirFS("testdata/configs"))).To(Succeed())
			path := filepath.Join(o.Dir, "agent-config.yaml")
			raw, err := os.ReadFile(path)
			g.Expect(err).NotTo(HaveOccurred())
			text := strings.Replace(string(raw), "rendezvousIP: 192.0.2.10\n", tc.file, 1)
			if tc.noHosts {
				text, _, _ = strings.Cut(text, "hosts:")
			}
			g.Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
			o.RendezvousIP = tc.given
			p, _, err := image.Read(o)
			if tc.wrong != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.wrong)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(p.Rendezvous.String()).To(Equal(tc.want))
			leader := ""
			for _, h := range p.Hosts {
				if h.Rendezvous {
					leader = h.Name
				}
			}
			g.Expect(leader).To(Equal(tc.host))
		})
	}
}

// TestMirrorsOfTheCluster are those of the live system, too, unless there is a registries.conf.
func TestMirrorsOfTheCluster(t *testing.T) {
	const sources = "imageDigestSources:\n- source: quay.example/release\n  mirrors: [registry.example/release, other.example/release]\n"
	for name, tc := range map[string]struct {
		add  string
		file bool
		want []string
		not  string
	}{
		"of the install-config": {sources, false, []string{
			"[[registry]]\nlocation = \"quay.example/release\"\nmirror-by-digest-only = true\n" +
				"[[registry.mirror]]\nlocation = \"registry.example/release\"\n" +
				"[[registry.mirror]]\nlocation = \"other.example/release\"\n",
			`OPENSHIFT_INSTALL_RELEASE_IMAGE_MIRROR="registry.example/release/ocp:4.19.3-x86_64"`,
		}, "registry.example:5000"},
		"of a file": {sources, true, []string{`location = "registry.example:5000/release"`, `OPENSHIFT_INSTALL_RELEASE_IMAGE_MIRROR="registry.example:5000/release/ocp:4.19.3-x86_64"`}, "other.example"},
		"none":      {"", false, nil, "OPENSHIFT_INSTALL_RELEASE_IMAGE_MIRROR"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := options("configs")
			o.Dir = changed(t, "install-config.yaml", tc.add)
			if !tc.file {
				g.Expect(os.RemoveAll(filepath.Join(o.Dir, "mirror"))).To(Succeed())
			}
			config, err := plan(t, o).Ignition(identity(t))
			g.Expect(err).NotTo(HaveOccurred())
			text := shown(t, config)
			for _, want := range tc.want {
				g.Expect(text).To(ContainSubstring(want))
			}
			host, _, _ := strings.Cut(text, "==== /etc/assisted/manifests/agent-cluster-install.yaml")
			_, settings, _ := strings.Cut(text, "==== /usr/local/share/assisted-service/")
			g.Expect(host + settings).NotTo(ContainSubstring(tc.not))
		})
	}
	for add, want := range map[string]string{
		"imageDigestSources: [{source: https://quay.example, mirrors: [a.example]}]\n": `imageDigestSources[0] has "https://quay.example": write a registry`,
		"imageContentSources: {source: a}\n":                                           "imageContentSources is no list of mirrors",
	} {
		o := options("configs")
		o.Dir = changed(t, "install-config.yaml", add)
		_, _, err := image.Read(o)
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring(want)))
	}
}

// changed is a copy of the good input with more in one of its files.
func changed(t *testing.T, file, more string) string {
	t.Helper()
	g := NewWithT(t)
	dir := t.TempDir()
	g.Expect(os.CopyFS(dir, os.DirFS("testdata/configs"))).To(Succeed())
	path := filepath.Join(dir, file)
	raw, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.WriteFile(path, append(raw, more...), 0o600)).To(Succeed())
	return dir
}
