package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/imagecustomization/cpio"
	"github.com/ironflow/ironflow/imagecustomization/embedarea"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
	coreosiso "github.com/ironflow/ironflow/test/fixtures/coreos-iso"
	"github.com/ironflow/ironflow/test/ignitioncheck"
	"github.com/ironflow/ironflow/test/liveimage"
)

// files writes files into a folder and returns the path of a name in it.
func files(t *testing.T, contents map[string]string) func(name string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range contents {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return func(name string) string { return filepath.Join(dir, name) }
}

var inputs = map[string]string{
	"live.ign":           `{"ignition":{"version":"3.4.0"},"storage":{"files":[{"path":"/etc/live","contents":{"source":"data:,live"}}]}}`,
	"dest.ign":           `{"ignition":{"version":"3.3.0"},"storage":{"files":[{"path":"/etc/dest","contents":{"source":"data:,dest"}}]}}`,
	"eth0.nmconnection":  "[connection]\nid=eth0\n",
	"net.yaml":           "interfaces: [{name: eth1, type: ethernet, ipv4: {enabled: true, dhcp: true}}]\n",
	"before.sh":          "#!/bin/sh\n",
	"after":              "#!/bin/sh\nreboot\n",
	"more.yaml":          "fetch-retries: 3\n",
	"later.yaml":         "of-the-future: true\n",
	"beyond.yaml":        "interfaces: [{name: m0, type: mac-vlan}]\n",
	"broken.yaml":        "a: [\n",
	"consoles.yaml":      "console: [tty0, ttyS0x]\n",
	"console.yaml":       "console: ttyS0\n",
	"broken.ign":         `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"a"}]}}`,
	"a name with spaces": "#!/bin/sh\n",
}

// whole is a customization that uses every flag.
func whole(in func(string) string) []string {
	return []string{
		"--live-ignition", in("live.ign"), "--dest-ignition", in("dest.ign"), "--dest-device", "/dev/sda",
		"--dest-karg-append", "a=1", "--dest-karg-delete", "quiet", "--dest-console", "ttyS0,115200n8",
		"--network-keyfile", in("eth0.nmconnection"), "--network-nmstate", in("net.yaml"),
		"--pre-install", in("before.sh"), "--post-install", in("after"), "--installer-config", in("more.yaml"),
	}
}

// checkWhole looks at what whole embeds.
func checkWhole(t *testing.T, c embedarea.Content) {
	t.Helper()
	g := NewWithT(t)
	g.Expect(c.Keyfiles).To(And(HaveLen(2), HaveKey("eth0.nmconnection"), HaveKey("eth1.nmconnection")))
	ignitioncheck.Valid(t, c.Ignition)
	d, err := liveimage.Decode(c.Ignition)
	g.Expect(err).NotTo(HaveOccurred())
	byPath := map[string]liveimage.File{}
	for _, f := range d.Files {
		byPath[f.Path] = f
	}
	g.Expect(byPath).To(And(HaveKey("/usr/local/bin/pre-install-before.sh"), HaveKey("/usr/local/bin/post-install-after")))
	g.Expect(byPath["/usr/local/bin/post-install-after"].Mode).To(Equal(0o700))
	g.Expect(string(byPath["/etc/coreos/dest.ign"].Data)).To(Equal(inputs["dest.ign"]), "the user's bytes")
	g.Expect(byPath["/etc/coreos/dest.ign"].Mode).To(Equal(0o600))
	g.Expect(string(byPath["/etc/coreos/installer.d/0000-more.yaml"].Data)).To(Equal(inputs["more.yaml"]))
	var own map[string]any
	g.Expect(yaml.Unmarshal(byPath["/etc/coreos/installer.d/0001-customize.yaml"].Data, &own)).To(Succeed())
	g.Expect(own).To(Equal(map[string]any{
		"dest-device": "/dev/sda", "ignition-file": "/etc/coreos/dest.ign", "append-karg": []any{"a=1"}, "delete-karg": []any{"quiet"},
		"console": []any{"ttyS0,115200n8"}, "copy-network": true,
	}))
	units := map[string]liveimage.Unit{}
	for _, u := range d.Units {
		units[u.Name] = u
	}
	g.Expect(units["pre-install-before.sh.service"].Contents).To(And(ContainSubstring("Before=coreos-installer.service\n"), ContainSubstring("RequiredBy=coreos-installer.service\n")))
	g.Expect(units["post-install-after.service"].Contents).To(ContainSubstring("After=coreos-installer.service\n"))
	g.Expect(units["post-install-after.service"].Enabled).To(BeTrue())
}

func TestCustomize(t *testing.T) {
	for _, fixture := range []string{"2022-09", "2023-07.x86_64", "2023-07.s390x"} {
		t.Run(fixture, func(t *testing.T) {
			g, in := NewWithT(t), files(t, inputs)
			dir, medium, _ := bench(t, fixture)
			out := filepath.Join(dir, "out.iso")
			args := append([]string{"customize", "--live-karg-append", "b=2", "-o", out}, whole(in)...)
			_, err := run(t.Context(), append(args, medium)...)
			g.Expect(err).NotTo(HaveOccurred())
			raw, err := os.ReadFile(out)
			g.Expect(err).NotTo(HaveOccurred())
			content, err := liveimage.Content(bytes.NewReader(raw), int64(len(raw)))
			g.Expect(err).NotTo(HaveOccurred())
			checkWhole(t, content)
			g.Expect(run(t.Context(), "kargs", "show", out)).To(HaveSuffix(" b=2\n"))

			// Once more over what is there: only when it was said, and from the start.
			again := filepath.Join(dir, "again.iso")
			_, err = run(t.Context(), "customize", "--live-karg-append", "c=3", "-o", again, out)
			g.Expect(err).To(MatchError(ContainSubstring("--force")))
			_, err = run(t.Context(), "customize", "--force", "--live-karg-append", "c=3", "-o", again, out)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(run(t.Context(), "show", again)).To(BeEmpty())
			g.Expect(run(t.Context(), "kargs", "show", again)).To(And(HaveSuffix(" c=3\n"), Not(ContainSubstring("b=2"))))
			_, err = run(t.Context(), "reset", "-o", again, out)
			g.Expect(err).NotTo(HaveOccurred())
			got, err := os.ReadFile(again)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(bytes.Equal(got, coreosiso.Read(t, fixture))).To(BeTrue())
		})
	}
}

// A config alone stays what it is, byte for byte.
func TestCustomizeLeavesASingleConfigAlone(t *testing.T) {
	g, in := NewWithT(t), files(t, inputs)
	dir, medium, _ := bench(t, "2023-07.x86_64")
	out := filepath.Join(dir, "out.iso")
	_, err := run(t.Context(), "customize", "--live-ignition", in("live.ign"), "-o", out, medium)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(run(t.Context(), "show", "--ignition", out)).To(Equal(inputs["live.ign"]))
}

func TestWhatCannotBeCustomizedIsNamed(t *testing.T) {
	in := files(t, inputs)
	for name, tc := range map[string]struct {
		fixture string
		args    []string
		want    string
	}{
		"a broken config":          {"2022-09", []string{"--live-ignition", in("broken.ign")}, "broken.ign: $.storage.files.0.path"},
		"another broken config":    {"2022-09", []string{"--dest-ignition", in("broken.ign")}, "broken.ign: $.storage.files.0.path"},
		"no CA":                    {"2022-09", []string{"--ignition-ca", in("net.yaml")}, "net.yaml: holds no PEM"},
		"a name with spaces":       {"2022-09", []string{"--pre-install", in("a name with spaces")}, `"a name with spaces"`},
		"a program twice":          {"2022-09", []string{"--pre-install", in("after"), "--pre-install", in("after")}, `"after"`},
		"a keyfile twice":          {"2022-09", []string{"--network-keyfile", in("eth0.nmconnection"), "--network-keyfile", in("eth0.nmconnection")}, "eth0.nmconnection"},
		"an unknown directive":     {"2022-09", []string{"--installer-config", in("later.yaml")}, `"of-the-future"`},
		"a config that is no YAML": {"2022-09", []string{"--installer-config", in("broken.yaml")}, "broken.yaml"},
		"a medium without configs": {"2021-01", []string{"--dest-device", "/dev/sda"}, "installer-config"},
		"a medium without network": {"2021-01", []string{"--network-nmstate", in("net.yaml")}, "keyfiles"},
		"a console of an old one":  {"2021-12", []string{"--dest-console", "ttyS0"}, `does not know the directive "console"`},
		"no console":               {"2022-09", []string{"--dest-console", "ttyS0,115200x8"}, `console "ttyS0,115200x8"`},
		"no console in a config":   {"2022-09", []string{"--installer-config", in("consoles.yaml")}, `installer config consoles.yaml: invalid live image configuration: console "ttyS0x": `},
		"no list in a config":      {"2022-09", []string{"--installer-config", in("console.yaml")}, "installer config console.yaml: invalid live image configuration: console: want a list"},
		"a console as an argument": {"2022-09", []string{"--dest-console", "console=ttyS0"}, "without console="},
		"beyond a keyfile":         {"2022-09", []string{"--network-nmstate", in("beyond.yaml")}, "--network-keyfile"},
		"a missing file":           {"2022-09", []string{"--network-nmstate", in("none")}, "no such file"},
		"kernel arguments":         {"2020-09", []string{"--live-karg-append", "a=1"}, overlay.ErrNoKargs.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir, medium, _ := bench(t, tc.fixture)
			out := filepath.Join(dir, "out.iso")
			_, err := run(t.Context(), append(append([]string{"customize", "-o", out}, tc.args...), medium)...)
			g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
			g.Expect(out).NotTo(BeAnExistingFile())
		})
	}
}

// consoles are those that coreos-installer takes, and some that it refuses.
var consoles = map[string]bool{
	"tty0": true, "hvc0": true, "ttysclp0": true, "ttyS1": true, "ttyAMA1": true, "ttyS1,1234567e5": true, "ttyS2,5o": true, "ttyS3,17": true, "ttyS0,115200n8": true,
	"foo": false, "/dev/tty0": false, "/dev/ttyS0": false, "console=tty0": false, "ztty0": false, "tty0z": false, "ttyS0z": false, "tty1": false, "hvc1": false,
	"ttysclp1": false, "ttyS0,": false, "ttyS0,z": false, "ttyS0,115200p8": false, "ttyS0,115200n4": false, "ttyS0,115200n8r": false, "ttyB0": false,
	"ttyS9999999999999999999": false, "ttyS256": false, "ttyS0,999999999999999999999": false, "": false,
}

// TestConsolesOfTheInstalledSystem: what coreos-installer would refuse on the machine is
// refused when the medium is made.
func TestConsolesOfTheInstalledSystem(t *testing.T) {
	for console, want := range consoles {
		t.Run(console, func(t *testing.T) {
			_, err := ignition.BuildUnattended(ignition.Unattended{Consoles: []string{console}})
			if want {
				NewWithT(t).Expect(err).NotTo(HaveOccurred())
			} else {
				NewWithT(t).Expect(err).To(And(MatchError(ignition.ErrInvalid), MatchError(ContainSubstring("%q", console))))
			}
		})
	}
}

// TestAConsoleIsMoreThanAnArgument: the boot loader's console is not the kernel's argument,
// which is said where all of the arguments are consoles that the installer knows.
func TestAConsoleIsMoreThanAnArgument(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"a console":          {[]string{"--dest-karg-append", "a=1", "--dest-karg-append", "console=ttyS0,115200n8"}, "--dest-console ttyS0,115200n8"},
		"no console":         {[]string{"--dest-karg-append", "a=1"}, ""},
		"one that it is not": {[]string{"--dest-karg-append", "console=tty1", "--dest-karg-append", "console=ttyS0"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir, medium, _ := bench(t, "2023-07.x86_64")
			_, said, err := runBoth(t.Context(), append(append([]string{"customize", "-o", filepath.Join(dir, "out.iso")}, tc.args...), medium)...)
			g.Expect(err).NotTo(HaveOccurred())
			if tc.want == "" {
				g.Expect(said).NotTo(ContainSubstring("--dest-console"))
			} else {
				g.Expect(said).To(And(ContainSubstring(tc.want), ContainSubstring("boot loader")))
			}
		})
	}
}

func TestCertificatesReachBothSystems(t *testing.T) {
	g := NewWithT(t)
	pem, err := os.ReadFile("../ignition/testdata/ca.pem")
	g.Expect(err).NotTo(HaveOccurred())
	raw, err := ignition.BuildUnattended(ignition.Unattended{
		Live: []ignition.File{{Name: "live.ign", Data: []byte(inputs["live.ign"])}},
		Dest: []ignition.File{{Name: "dest.ign", Data: []byte(inputs["dest.ign"])}, {Name: "live.ign", Data: []byte(inputs["live.ign"])}},
		CAs:  []ignition.File{{Name: "ca.pem", Data: pem}},
	})
	g.Expect(err).NotTo(HaveOccurred())
	ignitioncheck.Valid(t, raw)
	g.Expect(string(raw)).To(ContainSubstring("certificateAuthorities"))
	d, err := liveimage.Decode(raw)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(d.Files[1].Path).To(Equal("/etc/coreos/dest.ign"))
	ignitioncheck.Valid(t, d.Files[1].Data)
	g.Expect(string(d.Files[1].Data)).To(And(ContainSubstring("certificateAuthorities"), ContainSubstring(`"merge":[{`)))
}

// baseInitrd is an initrd as media have it: an archive as it is, and a packed one,
// of a length that is no multiple of 4.
func baseInitrd(t *testing.T) string {
	t.Helper()
	g := NewWithT(t)
	var early bytes.Buffer
	w := cpio.NewWriter(&early)
	g.Expect(w.File("kernel/x86/microcode/GenuineIntel.bin", 0o644, []byte("code"))).To(Succeed())
	g.Expect(w.Close()).To(Succeed())
	medium, err := embedarea.Content{Files: []cpio.Entry{
		{Name: "init", Mode: cpio.TypeSymlink | 0o777, Data: []byte("usr/bin/init")},
		{Name: "etc/coreos/features.json", Mode: cpio.TypeRegular | 0o644, Data: []byte(`{"installer-config":true,"live-initrd-network":true,"installer-config-directives":{` +
			`"append-karg":true,"console":true,"copy-network":true,"delete-karg":true,"dest-device":true,"fetch-retries":true,"ignition-file":true}}`)},
	}}.Archive()
	g.Expect(err).NotTo(HaveOccurred())
	initrd := filepath.Join(t.TempDir(), "initrd.img")
	g.Expect(os.WriteFile(initrd, append(append(early.Bytes(), medium...), 0), 0o600)).To(Succeed())
	g.Expect(run(t.Context(), "pxe", "show", initrd)).To(ContainSubstring("etc/coreos/features.json"))
	return initrd
}

func TestPXECustomize(t *testing.T) {
	g, in, base := NewWithT(t), files(t, inputs), baseInitrd(t)
	out := filepath.Join(t.TempDir(), "out.img")
	_, err := run(t.Context(), append(append([]string{"pxe", "customize", "-o", out}, whole(in)...), base)...)
	g.Expect(err).NotTo(HaveOccurred())
	was, err := os.ReadFile(base)
	g.Expect(err).NotTo(HaveOccurred())
	now, err := os.ReadFile(out)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(bytes.HasPrefix(now, was)).To(BeTrue(), "the base stays as it is")
	g.Expect((len(now)-len(was))%4).To(Equal((4-len(was)%4)%4), "the archive begins where the kernel looks for it")
	content, err := embedarea.Decode(bytes.NewReader(now))
	g.Expect(err).NotTo(HaveOccurred())
	checkWhole(t, content)
	_, err = run(t.Context(), append(append([]string{"pxe", "customize", "-o", out}, whole(in)...), out)...)
	g.Expect(err).To(MatchError(ContainSubstring("--force")))
	_, err = run(t.Context(), "pxe", "customize", "--force", "--live-ignition", in("live.ign"), "-o", out, out)
	g.Expect(err).To(MatchError(ContainSubstring("has eth0.nmconnection, eth1.nmconnection of an earlier customization")), "the network of another host would stay")
	_, err = run(t.Context(), "pxe", "customize", "--force", "--network-keyfile", in("eth0.nmconnection"), "--network-nmstate", in("net.yaml"), "-o", out, out)
	g.Expect(err).To(MatchError(ContainSubstring("has config.ign of an earlier customization")))
	_, err = run(t.Context(), "pxe", "customize", "--force", "--live-ignition", in("live.ign"), "--network-keyfile", in("eth0.nmconnection"), "--network-nmstate", in("net.yaml"), "-o", out, out)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(run(t.Context(), "pxe", "ignition", "unwrap", out)).To(Equal(inputs["live.ign"]), "what comes later wins")
}

func TestPXEWrapAndUnwrap(t *testing.T) {
	g, in, dir := NewWithT(t), files(t, inputs), t.TempDir()
	config, network, both := filepath.Join(dir, "a.img"), filepath.Join(dir, "b.img"), filepath.Join(dir, "c.img")
	for _, args := range [][]string{
		{"pxe", "ignition", "wrap", "-i", in("live.ign"), "-o", config},
		{"pxe", "network", "wrap", "-k", in("eth0.nmconnection"), "-o", network},
	} {
		_, err := run(t.Context(), args...)
		g.Expect(err).NotTo(HaveOccurred())
	}
	// A boot loader puts one behind the other.
	var all []byte
	for _, part := range []string{config, network} {
		raw, err := os.ReadFile(part)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(len(raw) % 4).To(BeZero())
		info, err := os.Stat(part)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(info.Mode().Perm()).To(BeEquivalentTo(0o600), "secrets")
		all = append(all, raw...)
	}
	g.Expect(os.WriteFile(both, all, 0o600)).To(Succeed())
	g.Expect(run(t.Context(), "pxe", "ignition", "unwrap", both)).To(Equal(inputs["live.ign"]))
	_, err := run(t.Context(), "pxe", "network", "unwrap", "-C", dir, both)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.ReadFile(filepath.Join(dir, "eth0.nmconnection"))).To(BeEquivalentTo(inputs["eth0.nmconnection"]))
	g.Expect(run(t.Context(), "pxe", "show", both)).To(And(ContainSubstring("config.ign\t"), ContainSubstring("etc/coreos-firstboot-network/eth0.nmconnection\t")))
	_, err = run(t.Context(), "pxe", "ignition", "unwrap", network)
	g.Expect(err).To(MatchError(embedarea.ErrNoIgnition))
	_, err = run(t.Context(), "pxe", "show", in("live.ign"))
	g.Expect(err).To(MatchError(embedarea.ErrForeign))
}

func TestIgnitionRemoveAndKargsReset(t *testing.T) {
	g, in := NewWithT(t), files(t, inputs)
	dir, medium, config := bench(t, "2023-07.x86_64")
	out := filepath.Join(dir, "out.iso")
	for _, args := range [][]string{
		{"embed", "--ignition", config, "-o", out, medium},
		{"network", "embed", "-k", in("eth0.nmconnection"), "-o", out, out},
		{"kargs", "set", "-a", "a=1", "-o", out, out},
		{"ignition", "remove", "-o", out, out},
	} {
		_, err := run(t.Context(), args...)
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(run(t.Context(), "show", out)).To(And(ContainSubstring("eth0"), Not(ContainSubstring("config.ign"))))
	g.Expect(run(t.Context(), "kargs", "show", out)).To(HaveSuffix(" a=1\n"))
	for _, args := range [][]string{{"kargs", "reset", "-o", out, out}, {"network", "remove", "-o", out, out}} {
		_, err := run(t.Context(), args...)
		g.Expect(err).NotTo(HaveOccurred())
	}
	got, err := os.ReadFile(out)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(bytes.Equal(got, coreosiso.Read(t, "2023-07.x86_64"))).To(BeTrue())
}

// Whether a base can be made minimal is tried, also where it says nothing of it, and
// of the untouched medium.
func TestInspectSaysWhetherAMediumCanBeMinimal(t *testing.T) {
	for _, fixture := range coreosiso.Names {
		t.Run(fixture, func(t *testing.T) {
			g := NewWithT(t)
			dir, medium, config := bench(t, fixture)
			out := filepath.Join(dir, "out.iso")
			_, err := run(t.Context(), "embed", "--ignition", config, "-o", out, medium)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(run(t.Context(), "inspect", out)).To(ContainSubstring(`"can_be_minimal": true`))
			_, err = run(t.Context(), "minimal", "-o", out, medium)
			g.Expect(err).NotTo(HaveOccurred())
			text, err := run(t.Context(), "inspect", out)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(text).To(And(ContainSubstring(`"can_be_minimal": false`), ContainSubstring("rootfs.img")))
		})
	}
}
