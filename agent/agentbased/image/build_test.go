package image_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/configimage"
	"github.com/ironflow/ironflow/agent/agentbased/image"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/agentbased/units"
	"github.com/ironflow/ironflow/api/localtoken"
	"github.com/ironflow/ironflow/imagecustomization/embedarea"
	"github.com/ironflow/ironflow/imagecustomization/hostprograms"
	"github.com/ironflow/ironflow/imagecustomization/media"
	"github.com/ironflow/ironflow/test/ignitioncheck"
	"github.com/ironflow/ironflow/test/liveimage"
	testmedia "github.com/ironflow/ironflow/test/media"
)

// identity is always the same one.
func identity(t *testing.T) image.Identity {
	t.Helper()
	g := NewWithT(t)
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), bytes.Repeat([]byte{7}, 32))
	g.Expect(err).NotTo(HaveOccurred())
	raw, err := x509.MarshalECPrivateKey(key)
	g.Expect(err).NotTo(HaveOccurred())
	id, err := image.ParseIdentity(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw}))
	g.Expect(err).NotTo(HaveOccurred())
	return id
}

// shown is a config for people: every file and unit, contents of units by their sums.
func shown(t *testing.T, config []byte) string {
	t.Helper()
	d, err := liveimage.Decode(config)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	var b strings.Builder
	for _, f := range d.Files {
		data := string(bytes.Join(append([][]byte{f.Data}, f.Append...), nil))
		fmt.Fprintf(&b, "==== %s %04o\n%s", f.Path, f.Mode, data)
		if !strings.HasSuffix(data, "\n") {
			b.WriteString("(no end of line)\n")
		}
	}
	for _, u := range d.Units {
		fmt.Fprintf(&b, "==== unit %s, enabled %t, %d bytes\n", u.Name, u.Enabled, len(u.Contents))
	}
	return b.String()
}

func TestGoldenIgnition(t *testing.T) {
	appliance := image.Options{Dir: "testdata/configs", Workflow: units.Appliance, ReleaseImage: release}
	single := options("kubernetes")
	single.RendezvousIP = "2001:db8::10"
	for name, o := range map[string]image.Options{"configs": options("configs"), "ztp": options("ztp"), "kubernetes": single, "appliance": appliance} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			p := plan(t, o)
			config, err := p.Ignition(identity(t))
			g.Expect(err).NotTo(HaveOccurred())
			ignitioncheck.Valid(t, config)
			golden(t, name+".ignition", shown(t, config))
			again, err := plan(t, o).Ignition(identity(t))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(again).To(Equal(config), "the same input gives the same bytes")
		})
	}
}

// TestUnitsOfTheImage are those of its workflow, as they are rendered for all.
func TestUnitsOfTheImage(t *testing.T) {
	g := NewWithT(t)
	config, err := plan(t, options("configs")).Ignition(identity(t))
	g.Expect(err).NotTo(HaveOccurred())
	d, err := liveimage.Decode(config)
	g.Expect(err).NotTo(HaveOccurred())
	there := map[string]liveimage.Unit{}
	for _, u := range d.Units {
		there[u.Name] = u
	}
	want, err := units.Render(units.Options{Workflow: units.Automated})
	g.Expect(err).NotTo(HaveOccurred())
	for _, u := range want {
		if u.Name != "" {
			g.Expect(there[u.Name]).To(Equal(liveimage.Unit{Name: u.Name, Enabled: u.Enabled, Contents: u.Content}))
		}
	}
}

// base is a live medium with programs that say who they are.
func base(t *testing.T) image.Base {
	t.Helper()
	g := NewWithT(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "live.iso")
	g.Expect(testmedia.WriteFile(file, testmedia.Options{RootfsBytes: 1 << 20})).To(Succeed())
	registry, err := media.Open(t.Context(), file, media.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	m, err := registry.Select(t.Context(), "", "")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.Mkdir(filepath.Join(dir, m.Arch), 0o755)).To(Succeed())
	for _, name := range []string{"ironflow", "ironflow-agent", "ironflow-agent-based", "ironflow-step"} {
		g.Expect(os.WriteFile(filepath.Join(dir, m.Arch, name), []byte("I am "+name), 0o755)).To(Succeed())
	}
	archives, err := hostprograms.Open(dir, t.TempDir(), hostprograms.AgentBased()...)
	g.Expect(err).NotTo(HaveOccurred())
	return image.Base{Arch: m.Arch, Media: m.Media(), Programs: archives.ForArch(m.Arch)}
}

// build makes an image in a new folder.
func build(t *testing.T, o image.Options, b image.Base) (dir string, made []image.Artifact) {
	t.Helper()
	dir = t.TempDir()
	made, err := image.Build(t.Context(), plan(t, o), identity(t), b, dir)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return dir, made
}

// opened is an image for those who read it.
func opened(t *testing.T, path string) (*os.File, int64) {
	t.Helper()
	f, err := os.Open(path)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = f.Close() })
	info, err := f.Stat()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return f, info.Size()
}

// TestTheISOSaysWhatWasPlanned: its Ignition is read back from the medium, with programs,
// arguments of the kernel and modes of the files.
func TestTheISOSaysWhatWasPlanned(t *testing.T) {
	g := NewWithT(t)
	b := base(t)
	dir, made := build(t, options("configs"), b)
	f, size := opened(t, filepath.Join(dir, "agent.x86_64.iso"))
	config, err := liveimage.Ignition(f, size)
	g.Expect(err).NotTo(HaveOccurred())
	want, err := plan(t, options("configs")).Ignition(identity(t))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(config)).To(Equal(string(want)))
	content, err := liveimage.Content(f, size)
	g.Expect(err).NotTo(HaveOccurred())
	programs := map[string]string{}
	for _, e := range content.Files {
		programs[e.Name] = string(e.Data)
	}
	g.Expect(programs).To(HaveKeyWithValue("usr/lib/ironflow/ironflow", "I am ironflow"))
	g.Expect(programs).To(HaveKeyWithValue("usr/lib/ironflow/ironflow-agent", "I am ironflow-agent"))
	registry, err := media.Open(t.Context(), filepath.Join(dir, "agent.x86_64.iso"), media.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	m, err := registry.Select(t.Context(), "", "")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(m.Layout.Kargs.Read(m)).To(HaveSuffix(" fips=1"), "as the installed system")

	var names []string
	for _, a := range made {
		names = append(names, a.Name)
		info, err := os.Stat(filepath.Join(dir, a.Name))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(info.Size()).To(Equal(a.Size))
		mode := fs.FileMode(0o644)
		if a.Secret {
			mode = 0o600
		}
		g.Expect(info.Mode().Perm()).To(Equal(mode), a.Name)
	}
	g.Expect(image.Customized(b.Media)).To(BeFalse())
	g.Expect(image.Customized(m.Media())).To(BeTrue(), "an image is no base image")
	g.Expect(names).To(Equal([]string{"auth/agent-image.cluster", "auth/agent-image.key", "rendezvousIP", "auth/user-token", "auth/watcher-token", "agent.x86_64.iso"}))
	info, err := os.Stat(filepath.Join(dir, "auth"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Mode().Perm()).To(Equal(fs.FileMode(0o700)))
}

// TestTheSameInputGivesTheSameBytes once the identity is there.
func TestTheSameInputGivesTheSameBytes(t *testing.T) {
	b := base(t)
	for _, format := range image.Formats() {
		t.Run(string(format), func(t *testing.T) {
			g := NewWithT(t)
			o := options("ztp")
			if o.Format = format; format == image.ConfigImage {
				o = configImage(t)
			}
			sums := func() map[string]string {
				dir, made := build(t, o, b)
				out := map[string]string{}
				for _, a := range made {
					raw, err := os.ReadFile(filepath.Join(dir, a.Name))
					g.Expect(err).NotTo(HaveOccurred())
					out[a.Name] = fmt.Sprintf("%x", sha256.Sum256(raw))
				}
				return out
			}
			g.Expect(sums()).To(Equal(sums()))
		})
	}
}

func TestAMinimalISOFetchesItsRootFileSystem(t *testing.T) {
	g := NewWithT(t)
	dir, _ := build(t, options("ztp"), base(t))
	path := filepath.Join(dir, "agent.x86_64.iso")
	registry, err := media.Open(t.Context(), path, media.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	m, err := registry.Select(t.Context(), "", "")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(m.Layout.Kargs.Read(m)).To(And(
		ContainSubstring("coreos.live.rootfs_url=http://192.0.2.1:8080/boot/agent.x86_64-rootfs.img"), ContainSubstring(" console=ttyS1"), HaveSuffix(" fips=1")))
	f, size := opened(t, path)
	g.Expect(size).To(BeNumerically("<", 1<<23))
	content, err := liveimage.Content(f, size)
	g.Expect(err).NotTo(HaveOccurred())
	files := map[string]string{}
	for _, e := range content.Files {
		files[e.Name] = string(e.Data)
	}
	g.Expect(files).To(HaveKeyWithValue("etc/assisted/network/host0/eno1.nmconnection", ContainSubstring("192.0.2.10/24")), "the network is needed before the root file system is there")
	g.Expect(files).To(HaveKeyWithValue("etc/systemd/system/pre-network-manager-config.service", ContainSubstring("DISCOVERY_DELAY_SECONDS=20\n")))
	info, err := os.Stat(filepath.Join(dir, "boot-artifacts/agent.x86_64-rootfs.img"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Size()).To(BeEquivalentTo(1 << 20))
}

func TestFilesOfANetworkBoot(t *testing.T) {
	g := NewWithT(t)
	o := options("ztp")
	o.Format = image.PXE
	dir, made := build(t, o, base(t))
	g.Expect(made).To(HaveLen(9))
	script, err := os.ReadFile(filepath.Join(dir, "boot-artifacts/agent.x86_64.ipxe"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(script)).To(Equal("#!ipxe\ninitrd --name initrd http://192.0.2.1:8080/boot/agent.x86_64-initrd.img\n" +
		"kernel http://192.0.2.1:8080/boot/agent.x86_64-vmlinuz initrd=initrd coreos.live.rootfs_url=http://192.0.2.1:8080/boot/agent.x86_64-rootfs.img " +
		"rd.bootif=0 ignition.firstboot ignition.platform.id=metal console=ttyS1 fips=1\nboot\n"))
	f, size := opened(t, filepath.Join(dir, "boot-artifacts/agent.x86_64-initrd.img"))
	tail := make([]byte, size-(512<<10))
	_, err = f.ReadAt(tail, 512<<10) // the base's own is noise
	g.Expect(err).NotTo(HaveOccurred())
	config := memberOf(t, bytes.NewReader(tail), "config.ign")
	want, err := plan(t, o).Ignition(identity(t))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(config).To(Equal(string(want)))
}

// configImage are options for one: nothing of them is of the live system.
func configImage(t *testing.T) image.Options {
	t.Helper()
	g := NewWithT(t)
	dir := t.TempDir()
	g.Expect(os.CopyFS(dir, os.DirFS("testdata/configs"))).To(Succeed())
	g.Expect(os.RemoveAll(filepath.Join(dir, "mirror"))).To(Succeed())
	file := filepath.Join(dir, "agent-config.yaml")
	raw, err := os.ReadFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.WriteFile(file, bytes.ReplaceAll(raw, []byte("        forwarding: true\n"), nil), 0o600)).To(Succeed())
	file = filepath.Join(dir, "install-config.yaml")
	raw, err = os.ReadFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.WriteFile(file, bytes.ReplaceAll(raw, []byte("fips: true\n"), nil), 0o600)).To(Succeed())
	o := options("configs")
	o.Dir, o.Format = dir, image.ConfigImage
	return o
}

// TestAConfigImageBringsNoFIPS: the live system of its appliance would run without, and install
// hosts that are to have it.
func TestAConfigImageBringsNoFIPS(t *testing.T) {
	g := NewWithT(t)
	refused := MatchError(And(ContainSubstring("asks for FIPS, and the live system of an appliance gets no kernel argument by a config image"), ContainSubstring("fips=1")))
	o := configImage(t)
	file := filepath.Join(o.Dir, "install-config.yaml")
	raw, err := os.ReadFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.WriteFile(file, append(raw, "fips: true\n"...), 0o600)).To(Succeed())
	_, _, err = image.Read(o)
	g.Expect(err).To(And(refused, MatchError(ContainSubstring("install-config.yaml, document 1, line "))))
	o.Lenient = true
	_, warnings, err := image.Read(o)
	g.Expect(err).NotTo(HaveOccurred(), "the appliance was made with it")
	g.Expect(warnings).To(ContainElement(HaveField("Path", "fips")))

	o = options("ztp")
	o.Dir, o.Format = absolute(t, o.Dir), image.ConfigImage
	_, _, err = image.Read(o)
	g.Expect(err).To(And(refused, MatchError(ContainSubstring("agent-cluster-install.yaml, document 1, line "))))
}

// digestOf is what the image says of its settings.
func digestOf(t *testing.T, o image.Options, id image.Identity) string {
	t.Helper()
	_, settings := onTheHost(t, plan(t, o), id)
	NewWithT(t).Expect(settings["SETTINGS_DIGEST"]).To(MatchRegexp(`^[0-9a-f]{64}$`))
	return settings["SETTINGS_DIGEST"]
}

// TestTheDigestOfTheSettings is another one where the cluster or a host is to be another, and the
// same for another key and another format: the hub's state is taken up by the same one.
func TestTheDigestOfTheSettings(t *testing.T) {
	g := NewWithT(t)
	same := digestOf(t, configImage(t), identity(t))
	iso := configImage(t)
	iso.Format = image.ISO
	g.Expect(digestOf(t, iso, identity(t))).To(Equal(same))
	other, err := image.NewIdentity()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(digestOf(t, configImage(t), other)).To(Equal(same))

	seen := map[string]string{same: "the same"}
	for what, tc := range map[string]struct{ file, old, write string }{
		"networking": {"install-config.yaml", "192.0.2.0/24", "192.0.0.0/16"},
		"a count":    {"install-config.yaml", "- name: worker\n  replicas: 1", "- name: worker\n  replicas: 2"},
		"a hostname": {"agent-config.yaml", "hostname: master-1", "hostname: master-9"},
		"a network":  {"agent-config.yaml", "ip: 192.0.2.11,", "ip: 192.0.2.111,"},
		"the hub":    {"hub.env", "IRONFLOW_LOG_LEVEL=debug", "IRONFLOW_LOG_LEVEL=info"},
	} {
		d := digestOf(t, rewritten(t, configImage(t), tc.file, tc.old, tc.write), identity(t))
		g.Expect(seen).NotTo(HaveKey(d), what)
		seen[d] = what
	}
}

// TestAnApplianceTakesItsConfigImage: the loader's own reader and check, with the release
// that the factory image has.
func TestAnApplianceTakesItsConfigImage(t *testing.T) {
	g := NewWithT(t)
	dir, made := build(t, configImage(t), image.Base{})
	g.Expect(made[len(made)-1]).To(And(HaveField("Name", "agentconfig.noarch.iso"), HaveField("Secret", true)))
	raw, err := configimage.ReadMedium(filepath.Join(dir, "agentconfig.noarch.iso"))
	g.Expect(err).NotTo(HaveOccurred())
	contents, err := configimage.Read(bytes.NewReader(raw))
	g.Expect(err).NotTo(HaveOccurred())
	factory, err := plan(t, image.Options{Dir: t.TempDir(), Workflow: units.Appliance, ReleaseImage: release}).Ignition(identity(t))
	g.Expect(err).NotTo(HaveOccurred())
	d, err := liveimage.Decode(factory)
	g.Expect(err).NotTo(HaveOccurred())
	set := map[string]string{}
	for _, f := range d.Files {
		set[f.Path] = string(f.Data)
	}
	g.Expect(contents.Check(configimage.DefaultList, []byte(set[places.ClusterImageSet]))).To(Succeed())
	g.Expect(set).NotTo(HaveKey(places.RendezvousHost), "a factory image waits for its settings")
	// What is in it is what an automated image has, but for what is of the live system.
	o := configImage(t)
	o.Format = image.ISO
	config, err := plan(t, o).Ignition(identity(t))
	g.Expect(err).NotTo(HaveOccurred())
	d, err = liveimage.Decode(config)
	g.Expect(err).NotTo(HaveOccurred())
	automated := map[string]string{}
	for _, f := range d.Files {
		automated[f.Path] = string(f.Data)
	}
	for _, f := range contents.Files {
		g.Expect(automated).To(HaveKeyWithValue(f.Path, string(f.Data)))
		g.Expect(f.Mode).To(BeEquivalentTo(0o600))
	}
}

func TestTokens(t *testing.T) {
	g := NewWithT(t)
	id := identity(t)
	text, err := id.PublicKey()
	g.Expect(err).NotTo(HaveOccurred())
	raw, err := base64.StdEncoding.DecodeString(text)
	g.Expect(err).NotTo(HaveOccurred())
	block, _ := pem.Decode(raw)
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	g.Expect(err).NotTo(HaveOccurred())
	for _, scheme := range []localtoken.Scheme{localtoken.User, localtoken.Agent, localtoken.Watcher} {
		token, err := id.Token(scheme)
		g.Expect(err).NotTo(HaveOccurred())
		parts := strings.Split(token, ".")
		g.Expect(parts).To(HaveLen(3))
		claims, err := base64.RawURLEncoding.DecodeString(parts[1])
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(claims).To(MatchJSON(fmt.Sprintf(`{"auth_scheme":%q}`, scheme)))
		header, err := base64.RawURLEncoding.DecodeString(parts[0])
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(header).To(MatchJSON(`{"alg":"ES256","typ":"JWT"}`))
		signature, err := base64.RawURLEncoding.DecodeString(parts[2])
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(signature).To(HaveLen(64))
		digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
		r, s := new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])
		g.Expect(ecdsa.Verify(public.(*ecdsa.PublicKey), digest[:], r, s)).To(BeTrue())
	}
	g.Expect(fmt.Sprintf("%v %+v %#v", id, id, id)).NotTo(ContainSubstring("7"))
	raw, err = json.Marshal(id) //nolint:staticcheck // that nothing of it comes out is what is asked
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(raw)).To(Equal("{}"))
}

func TestTheIdentityIsKept(t *testing.T) {
	g := NewWithT(t)
	dir, p := t.TempDir(), plan(t, configImage(t))
	first, err := image.LoadIdentity(p, image.Authorities{}, dir, time.Now())
	g.Expect(err).NotTo(HaveOccurred())
	_, err = image.Build(t.Context(), p, first, image.Base{}, dir)
	g.Expect(err).NotTo(HaveOccurred())
	second, err := image.LoadIdentity(p, image.Authorities{}, dir, time.Now())
	g.Expect(err).NotTo(HaveOccurred())
	a, err := first.InfraEnvID()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(second.InfraEnvID()).To(Equal(a))
	other, err := image.LoadIdentity(p, image.Authorities{}, t.TempDir(), time.Now())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(other.InfraEnvID()).NotTo(Equal(a))
	g.Expect(os.WriteFile(filepath.Join(dir, image.IdentityFile), []byte("s3cret"), 0o600)).To(Succeed())
	_, err = image.LoadIdentity(p, image.Authorities{}, dir, time.Now())
	g.Expect(err).To(MatchError(And(ContainSubstring("it has no PEM block EC PRIVATE KEY; take it away for a new one"), Not(ContainSubstring("s3cret")))))
}

// memberOf is a member of the archives.
func memberOf(t *testing.T, r io.Reader, name string) string {
	t.Helper()
	for e, err := range embedarea.Members(r) {
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		if e.Name == name {
			return string(e.Data)
		}
	}
	t.Fatalf("there is no %s", name)
	return ""
}

// TestWhoStopsFindsTheOldFile: a file is there as a whole or not at all.
func TestWhoStopsFindsTheOldFile(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := image.Build(ctx, plan(t, configImage(t)), identity(t), image.Base{}, dir)
	g.Expect(err).To(MatchError(context.Canceled))
	entries, err := os.ReadDir(filepath.Join(dir, "auth"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(entries).To(BeEmpty())
}
