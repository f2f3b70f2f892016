//go:build e2e

package image_test

import (
	_ "embed"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
)

const (
	version   = "v0.0.9-rc.1"
	reference = "localhost/ironic-python-agent:" + version
)

var (
	//go:embed container.sh
	container string
	//go:embed probe.py
	probe string
)

// imageConfig is what the image says of how it is run.
type imageConfig struct {
	Env, Cmd []string
	Labels   map[string]string
}

// image is the built one.
type image struct {
	*WithT
	// root is the folder of its files, bill its bill of materials.
	root, bill string
	config     imageConfig
}

// build makes the image in a storage that ends with the test.
func build(t *testing.T) *image {
	t.Helper()
	needs.Root(t)
	needs.Program(t, "buildah", "buildah")
	needs.Program(t, "mmdebstrap", "mmdebstrap")
	i := &image{WithT: NewWithT(t)}
	dir := t.TempDir()
	storage := filepath.Join(dir, "storage.conf")
	i.Expect(os.WriteFile(storage, []byte("[storage]\ndriver = \"vfs\"\nrunroot = \""+dir+"/run\"\ngraphroot = \""+dir+"/graph\"\n"), 0o600)).To(Succeed())
	t.Setenv("CONTAINERS_STORAGE_CONF", storage)
	t.Setenv("VERSION", version)
	t.Setenv("OUT", filepath.Join(dir, "out"))
	i.command("bash", "../../scripts/images.sh", "ironic-python-agent")
	i.bill = filepath.Join(dir, "out", "ironic-python-agent-"+version+"-image-linux-"+runtime.GOARCH+".cdx.json")
	mounted := i.command("buildah", "from", "--pull-never", reference)
	t.Cleanup(func() { i.command("buildah", "rm", mounted) })
	i.root = i.command("buildah", "mount", mounted)
	var told struct{ OCIv1 struct{ Config imageConfig } }
	i.Expect(json.Unmarshal([]byte(i.command("buildah", "inspect", "--type", "image", reference)), &told)).To(Succeed())
	i.config = told.OCIv1.Config
	return i
}

// command runs a program of this computer.
func (i *image) command(name string, args ...string) string {
	out, err := exec.Command(name, args...).CombinedOutput()
	i.Expect(err).NotTo(HaveOccurred(), "%s %v\n%s", name, args, out)
	return strings.TrimSpace(string(out))
}

// run runs a program of the image on a host that is a folder. What enters says where: nothing is this computer.
func (i *image) run(enter []string, host, stdin string, args ...string) (string, error) {
	apart := []string{"unshare", "--mount", "--pid", "--fork", "--kill-child", "--net", "--ipc", "--uts", "bash", "-c", container, "container", i.root, host}
	line := slices.Concat(enter, apart, args)
	c := exec.Command(line[0], line[1:]...)
	c.Env, c.Stdin = i.config.Env, strings.NewReader(stdin)
	out, err := c.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// TestTheImage builds it once for all that is asked of it.
func TestTheImage(t *testing.T) {
	i := build(t)
	for name, test := range map[string]func(*testing.T, *image){
		"starts":                    starts,
		"finds the plugin":          findsThePlugin,
		"has what IPA runs":         hasWhatIPARuns,
		"compiles nothing at start": compilesNothing,
		"ends the host":             endsTheHost,
		"says what it is":           saysWhatItIs,
	} {
		t.Run(name, func(t *testing.T) {
			here := *i
			here.WithT = NewWithT(t)
			test(t, &here)
		})
	}
}

// starts: what the image says to start comes up as far as it can without a machine, and its version is that of the list of requirements.
func starts(t *testing.T, i *image) {
	out, err := i.run(nil, t.TempDir(), "", append(slices.Clone(i.config.Cmd), "--help")...)
	i.Expect(err).NotTo(HaveOccurred(), out)
	i.Expect(out).To(And(ContainSubstring("usage: ironic-python-agent"), Not(ContainSubstring("Traceback"))))
	out, err = i.run(nil, t.TempDir(), "", "ironflow-ipa", "--version")
	i.Expect(err).NotTo(HaveOccurred(), out)
	i.Expect(out).To(Equal("ironflow-ipa 1.0.0, ironic-python-agent " + required(t)))
}

// required is the version of ironic-python-agent that tests and image have.
func required(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("../../lab/ipa/requirements.txt")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return string(regexp.MustCompile(`(?m)^ironic-python-agent==(\S+)`).FindSubmatch(raw)[1])
}

// findsThePlugin: IPA loads its hardware managers by their entry points, ours lists the steps of the program in the image, and the image's own settings
// hold, but for those that the live image has as well.
func findsThePlugin(t *testing.T, i *image) {
	i.Expect(i.config.Cmd).To(HaveExactElements("ironflow-ipa", "--config-dir", "/etc/ironic-python-agent"))
	of := func() (found struct {
		Managers   map[string]string
		Steps      []string
		Collectors string
		LLDP       bool
		URL        string
	},
	) {
		out, err := i.run(nil, t.TempDir(), probe, append([]string{"python3", "-"}, i.config.Cmd[1:]...)...)
		i.Expect(err).NotTo(HaveOccurred(), out)
		// Warnings of IPA are above it.
		i.Expect(json.Unmarshal([]byte(out[strings.LastIndex(out, "\n")+1:]), &found)).To(Succeed(), out)
		return found
	}
	found := of()
	i.Expect(found.Managers).To(And(HaveKeyWithValue("ironflow", "IronflowHardwareManager"), HaveKeyWithValue("generic", "GenericHardwareManager")))
	i.Expect(found.Steps).To(ContainElements("start_assisted_install", "confirm_install", "install_coreos"))
	i.Expect(found.Collectors).To(Equal("default,logs"))
	i.Expect(found.LLDP).To(BeTrue())

	live := filepath.Join(i.root, "etc/ironic-python-agent/ignition.conf")
	i.Expect(os.WriteFile(live, []byte("[DEFAULT]\napi_url = https://192.0.2.1:6385\ncollect_lldp = False\n"), 0o644)).To(Succeed())
	t.Cleanup(func() { i.Expect(os.Remove(live)).To(Succeed()) })
	found = of()
	i.Expect(found.URL).To(Equal("https://192.0.2.1:6385"))
	i.Expect(found.LLDP).To(BeFalse(), "the live image's file wins")
	i.Expect(found.Collectors).To(Equal("default,logs"))
}

// compilesNothing: all byte code is there, and by the content of its source, since the times of an image's files are all one.
func compilesNothing(_ *testing.T, i *image) {
	sources, codes := 0, 0
	visit := func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		switch filepath.Ext(path) {
		case ".py":
			sources++
		case ".pyc":
			codes++
			raw, err := os.ReadFile(path)
			i.Expect(err).NotTo(HaveOccurred())
			// The second word has the flags of PEP 552: by content, and without another look at the source.
			i.Expect(raw[4:8]).To(Equal([]byte{1, 0, 0, 0}), path)
		}
		return nil
	}
	for _, folder := range []string{"opt/ipa/lib", "usr/lib/python3", "usr/lib/python3.11"} {
		i.Expect(filepath.WalkDir(filepath.Join(i.root, folder), visit)).To(Succeed())
	}
	i.Expect(codes).To(And(BeNumerically(">", 1000), Equal(sources)))
}

// endsTheHost: by the names that IPA runs, found in the image's PATH, a real systemd on the bus that the live image's unit hands in is ended. Without a bus it
// is an error, upon which IPA takes another way.
func endsTheHost(t *testing.T, i *image) {
	for _, name := range []string{"poweroff", "reboot"} {
		out, err := i.run(nil, t.TempDir(), "", name)
		i.Expect(err).To(HaveOccurred(), out)
		i.Expect(out).To(ContainSubstring("have systemd start " + name + ".target"))

		host := systemdtest.Boot(t)
		enter, root := host.Beside()
		out, err = i.run(enter, root, "", name)
		i.Expect(err).NotTo(HaveOccurred(), out)
		i.Eventually(func() error { _, err := os.Stat(host.Host.Root); return err }, "1m").Should(MatchError(os.ErrNotExist), name)
	}
}

// saysWhatItIs: labels, and a bill of materials of everything that is in it.
func saysWhatItIs(t *testing.T, i *image) {
	i.Expect(i.config.Labels).To(And(
		HaveKeyWithValue("org.opencontainers.image.title", "ironic-python-agent"), HaveKeyWithValue("org.opencontainers.image.version", version),
		HaveKeyWithValue("org.opencontainers.image.source", "https://github.com/ironflow/ironflow"),
		Not(HaveKey("org.opencontainers.image.licenses"))), "Debian's packages have licences of their own")

	raw, err := os.ReadFile(i.bill)
	i.Expect(err).NotTo(HaveOccurred())
	var bill struct {
		Components []struct{ Name, Version, PURL string }
	}
	i.Expect(json.Unmarshal(raw, &bill)).To(Succeed())
	urls, kinds := map[string]bool{}, map[string]int{}
	for _, c := range bill.Components {
		urls[c.PURL] = true
		kind, _, _ := strings.Cut(c.PURL, "/")
		kinds[kind]++
	}
	i.Expect(urls).To(And(HaveKey("pkg:pypi/ironic-python-agent@"+required(t)), HaveKey("pkg:pypi/ironflow-ipa@1.0.0"), HaveKey("pkg:golang/stdlib@"+strings.TrimPrefix(runtime.Version(), "go"))))
	out, err := i.run(nil, t.TempDir(), "", "dpkg-query", "--show", "--showformat", "${Package} ${db:Status-Status}\n")
	i.Expect(err).NotTo(HaveOccurred(), out)
	i.Expect(kinds["pkg:deb"]).To(And(BeNumerically(">", 100), Equal(strings.Count(out, " installed"))))
	packages, err := filepath.Glob(filepath.Join(i.root, "opt/ipa/lib/python3*/site-packages/*.dist-info"))
	i.Expect(err).NotTo(HaveOccurred())
	i.Expect(kinds["pkg:pypi"]).To(Equal(len(packages)))
	t.Log(i.command("du", "-sh", "--apparent-size", i.root))
}
