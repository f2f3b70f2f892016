package command_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/image"
	"github.com/ironflow/ironflow/agent/agentbased/image/command"
	"github.com/ironflow/ironflow/imagecustomization/embedarea"
	"github.com/ironflow/ironflow/imagecustomization/iso"
	"github.com/ironflow/ironflow/test/liveimage"
	testmedia "github.com/ironflow/ironflow/test/media"
)

// create runs the command.
func create(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, told bytes.Buffer
	cmd := command.New(image.Authorities{}, command.Hub{})
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cmd.SetOut(&out)
	cmd.SetErr(&told)
	cmd.SetArgs(args)
	err = cmd.ExecuteContext(t.Context())
	return out.String(), told.String(), err
}

// input is a folder with a good input, a base image and programs.
func input(t *testing.T) (dir string, flags []string) {
	t.Helper()
	g := NewWithT(t)
	dir, parts := t.TempDir(), t.TempDir()
	g.Expect(os.CopyFS(dir, os.DirFS("../testdata/configs"))).To(Succeed())
	live := filepath.Join(parts, "live.iso")
	g.Expect(testmedia.WriteFile(live, testmedia.Options{RootfsBytes: 1 << 20})).To(Succeed())
	g.Expect(os.Mkdir(filepath.Join(parts, "x86_64"), 0o755)).To(Succeed())
	for _, name := range []string{"ironflow", "ironflow-agent", "ironflow-agent-based", "ironflow-step"} {
		g.Expect(os.WriteFile(filepath.Join(parts, "x86_64", name), []byte(name), 0o755)).To(Succeed())
	}
	return dir, []string{"--dir", dir, "--base-image", live, "--host-programs", parts, "--release-image", "registry.example/ocp:4.19.3-x86_64"}
}

func TestAnImageIsMade(t *testing.T) {
	g := NewWithT(t)
	dir, flags := input(t)
	out, told, err := create(t, flags...)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(told).To(BeEmpty())
	made := filepath.Join(dir, "agent.x86_64.iso")
	g.Expect(out).To(And(
		ContainSubstring("master-0  master "), ContainSubstring(made+" ("), ContainSubstring(", holds secrets)\n"),
		HaveSuffix("wait-for install-complete --url http://192.0.2.10:8090 --token-file "+filepath.Join(dir, "auth/watcher-token")+" --kubeconfig "+filepath.Join(dir, "auth/kubeconfig")+"\n")))
	f, err := os.Open(made)
	g.Expect(err).NotTo(HaveOccurred())
	defer f.Close()
	info, err := f.Stat()
	g.Expect(err).NotTo(HaveOccurred())
	config, err := liveimage.Ignition(f, info.Size())
	g.Expect(err).NotTo(HaveOccurred())
	d, err := liveimage.Decode(config)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(d.Files).To(ContainElement(HaveField("Path", "/etc/assisted/rendezvous-host.env")))
	first, err := os.ReadFile(made)
	g.Expect(err).NotTo(HaveOccurred())

	_, _, err = create(t, append(flags, "--base-image", made)...)
	g.Expect(err).To(MatchError(ContainSubstring("--base-image: is customized already")), "an image is no base image")
	_, _, err = create(t, flags...)
	g.Expect(err).NotTo(HaveOccurred())
	second, err := os.ReadFile(made)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(bytes.Equal(second, first)).To(BeTrue(), "the same input gives the same bytes")
}

// TestTheProgramOfARelease is packed into the image, and the hub uses it.
func TestTheProgramOfARelease(t *testing.T) {
	g := NewWithT(t)
	dir, flags := input(t)
	g.Expect(os.WriteFile(filepath.Join(dir, "hub.env"), []byte("IRONFLOW_HUB_CLUSTER_IMAGE=registry.example/ironflow-cluster:v1\n"), 0o600)).To(Succeed())
	_, _, err := create(t, flags...)
	g.Expect(err).To(MatchError(ContainSubstring("or pack the program openshift-install into the image by --openshift-install")))
	program := filepath.Join(t.TempDir(), "openshift-install-4.19")
	_, _, err = create(t, append(flags, "--openshift-install", program)...)
	g.Expect(err).To(MatchError(ContainSubstring("--openshift-install: cannot be used: stat " + program)))
	g.Expect(os.WriteFile(program, bytes.Repeat([]byte("program of the release "), 1000), 0o755)).To(Succeed())
	_, _, err = create(t, append(flags, "--openshift-install", program)...)
	g.Expect(err).NotTo(HaveOccurred())

	f, err := os.Open(filepath.Join(dir, "agent.x86_64.iso"))
	g.Expect(err).NotTo(HaveOccurred())
	defer f.Close()
	info, err := f.Stat()
	g.Expect(err).NotTo(HaveOccurred())
	config, err := liveimage.Ignition(f, info.Size())
	g.Expect(err).NotTo(HaveOccurred())
	d, err := liveimage.Decode(config)
	g.Expect(err).NotTo(HaveOccurred())
	settings := map[string]string{}
	for _, file := range d.Files {
		settings[file.Path] = string(file.Data)
	}
	g.Expect(settings["/usr/local/share/assisted-service/hub.env"]).To(And(
		ContainSubstring("IRONFLOW_HUB_IGNITION_SOURCE=\"openshift-install\"\n"), ContainSubstring("IRONFLOW_HUB_OPENSHIFT_INSTALL=\"/usr/local/bin/openshift-install\"\n")))
	layout, err := iso.Parse(f, info.Size())
	g.Expect(err).NotTo(HaveOccurred())
	packed := ""
	for member, err := range embedarea.Members(io.NewSectionReader(f, layout.Ignition.Offset, layout.Ignition.Length)) {
		g.Expect(err).NotTo(HaveOccurred())
		if member.Name == "usr/lib/ironflow/openshift-install" {
			packed = string(member.Data)
		}
	}
	g.Expect(packed).To(HavePrefix("program of the release "))

	for _, tc := range []struct {
		flags     []string
		env, want string
	}{
		{[]string{"--format", "config-image", "--base-image", ""}, "", "--openshift-install: is given, and a config image has no programs: pack it into the appliance's image (--workflow appliance)"},
		{
			nil, "IRONFLOW_HUB_OPENSHIFT_INSTALL=/usr/bin/openshift-install\n",
			"hub.env: sets IRONFLOW_HUB_OPENSHIFT_INSTALL, and --openshift-install packs that program into the image: leave one of them away",
		},
		{nil, "IRONFLOW_HUB_IGNITION_SOURCE=files\n", "hub.env: sets IRONFLOW_HUB_IGNITION_SOURCE=files, which has no use for the program of --openshift-install"},
	} {
		g.Expect(os.WriteFile(filepath.Join(dir, "hub.env"), []byte(tc.env), 0o600)).To(Succeed())
		_, _, err = create(t, append(append(flags, "--openshift-install", program), tc.flags...)...)
		g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
	}
}

func TestADryRunWritesNothing(t *testing.T) {
	g := NewWithT(t)
	dir, flags := input(t)
	out := filepath.Join(t.TempDir(), "out")
	text, _, err := create(t, append(flags, "--dry-run", "--json", "--output-dir", out)...)
	g.Expect(err).NotTo(HaveOccurred())
	var s image.Summary
	g.Expect(json.Unmarshal([]byte(text), &s)).To(Succeed())
	g.Expect(s.Hosts).To(HaveLen(3))
	g.Expect(s.Hosts[0]).To(Equal(image.HostSummary{
		Name: "master-0", Role: "master", MACs: []string{"02:00:00:00:00:a1", "02:00:00:00:00:a2"}, Addresses: []string{"192.0.2.10/24"},
		RootDevice: "deviceName=/dev/sda rotational=false", Network: "translated", Rendezvous: true,
	}))
	g.Expect(s.Others).To(Equal(1))
	g.Expect(out).NotTo(BeADirectory())
	g.Expect(filepath.Join(dir, "auth")).NotTo(BeADirectory())
}

// TestAllThatIsWrongWithTheFlags comes with what is wrong in the files, and nothing is written.
func TestAllThatIsWrongWithTheFlags(t *testing.T) {
	g := NewWithT(t)
	dir, flags := input(t)
	g.Expect(os.WriteFile(filepath.Join(dir, "more.yaml"), []byte("a: b\n"), 0o600)).To(Succeed())
	empty := t.TempDir()
	out, told, err := create(t, append(flags, "--base-image", filepath.Join(empty, "none.iso"), "--workflow", "both")...)
	g.Expect(err).To(MatchError(And(
		ContainSubstring(
			"3 things are wrong",
		),
		ContainSubstring("--base-image: cannot be used: base images: stat "),
		ContainSubstring("--workflow: is \"both\""),
		ContainSubstring("more.yaml: is not read"),
	)))
	g.Expect(out + told).To(BeEmpty())

	_, _, err = create(t, append(flags, "--host-programs", empty, "--arch", "x86_64")...)
	g.Expect(err).To(MatchError(ContainSubstring("has none of [ironflow-agent ironflow-step ironflow ironflow-agent-based] for x86_64: put them there")))
	_, _, err = create(t, append(flags, "--arch", "s390x")...)
	g.Expect(err).To(MatchError(ContainSubstring("--base-image: has none that fits: no base image fits: want architecture \"s390x\"")))
	_, _, err = create(t, append(flags, "--format", "config-image")...)
	g.Expect(err).To(MatchError(ContainSubstring("--base-image: is given, and a config image has no system: leave it out")))
	_, _, err = create(t, "--dir", dir)
	g.Expect(err).To(MatchError(ContainSubstring("--base-image: is not given: write the path of a live ISO of CoreOS")))

	out, told, err = create(t, append(flags, "--lenient", "--dry-run")...)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(told).To(HavePrefix("warning: more.yaml: is not read: "))
	g.Expect(out).To(ContainSubstring("master-0"))
	g.Expect(filepath.Join(dir, "auth")).NotTo(BeADirectory())
}

// TestAnImageForHostsThatJoin a running cluster: its person is told how long it is good.
func TestAnImageForHostsThatJoin(t *testing.T) {
	g := NewWithT(t)
	_, flags := input(t)
	dir := t.TempDir()
	g.Expect(os.CopyFS(dir, os.DirFS("../testdata/nodes"))).To(Succeed())
	out, told, err := create(t, append(flags, "--dir", dir, "--workflow", "addnodes", "--token-lifetime", "12h")...)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(told).To(BeEmpty())
	g.Expect(out).To(And(
		ContainSubstring("cluster     edge: 2 workers that join\n"), ContainSubstring("extra-1  worker "), ContainSubstring("hub for itself"),
		HaveSuffix("Boot all hosts from the ISO within 12h0m0s; each joins cluster edge by itself. Its certificate signing requests there wait for a person:\n  kubectl get csr\n")))
	g.Expect(filepath.Join(dir, "agent.x86_64.iso")).To(BeARegularFile())
	g.Expect(filepath.Join(dir, "rendezvousIP")).NotTo(BeAnExistingFile())

	_, _, err = create(t, append(flags, "--token-lifetime", "12h")...)
	g.Expect(err).To(MatchError(ContainSubstring("--token-lifetime: is given, and tokens of workflow automated do not end")))
}

func TestAFactoryImage(t *testing.T) {
	g := NewWithT(t)
	dir, flags := input(t)
	out, _, err := create(t, append(flags, "--workflow", "appliance")...)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(out).To(And(ContainSubstring("settings    none: they come with a config image\n"), HaveSuffix("\nBoot all hosts from the ISO; they wait for a config image of the same release.\n")))
	g.Expect(filepath.Join(dir, "agent.x86_64.iso")).To(BeARegularFile())
	g.Expect(filepath.Join(dir, "auth")).NotTo(BeADirectory(), "there is nothing to sign")
}

func TestProgramsOfThisMachineLieInTheFolderItself(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the base image of this test is for x86_64")
	}
	g := NewWithT(t)
	_, flags := input(t)
	parts := t.TempDir()
	for _, name := range []string{"ironflow", "ironflow-agent", "ironflow-agent-based"} {
		g.Expect(os.WriteFile(filepath.Join(parts, name), []byte(name), 0o755)).To(Succeed())
	}
	_, _, err := create(t, append(flags, "--host-programs", parts, "--dry-run")...)
	g.Expect(err).To(MatchError(ContainSubstring(parts + " lacks ironflow-step: put all of [ironflow-agent ironflow-step ironflow ironflow-agent-based] there")))
	g.Expect(os.WriteFile(filepath.Join(parts, "ironflow-step"), []byte("s"), 0o755)).To(Succeed())
	_, _, err = create(t, append(flags, "--host-programs", parts, "--dry-run")...)
	g.Expect(err).NotTo(HaveOccurred())
}
