package hostprograms_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/embedarea"
	"github.com/ironflow/ironflow/imagecustomization/hostprograms"
	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/media"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
	"github.com/ironflow/ironflow/test/liveimage"
	testmedia "github.com/ironflow/ironflow/test/media"
)

// programs puts both programs into a folder.
func programs(t *testing.T, dir, content string) {
	t.Helper()
	g := NewWithT(t)
	g.Expect(os.MkdirAll(dir, 0o755)).To(Succeed())
	for _, name := range []string{"ironflow-agent", "ironflow-step"} {
		g.Expect(os.WriteFile(filepath.Join(dir, name), []byte(content+" "+name), 0o755)).To(Succeed())
	}
}

// members unpacks what every image of the architecture shares.
func members(t *testing.T, a *hostprograms.Archives, arch string) map[string]string {
	t.Helper()
	g := NewWithT(t)
	archives := a.ForArch(arch)
	g.Expect(archives).To(HaveLen(1))
	out := map[string]string{}
	for e, err := range embedarea.Members(io.NewSectionReader(archives[0], 0, archives[0].Size())) {
		g.Expect(err).NotTo(HaveOccurred())
		out[e.Name] = string(e.Data)
	}
	return out
}

func TestArchiveHoldsProgramsAndUnit(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	programs(t, dir, "own")
	programs(t, filepath.Join(dir, "s390x"), "s390x")
	a, err := hostprograms.Open(dir, filepath.Join(t.TempDir(), "cache"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(a.Architectures()).To(Equal(2))
	got := members(t, a, runtime.GOARCH)
	g.Expect(got).To(HaveKeyWithValue("usr/lib/ironflow/ironflow-agent", "own ironflow-agent"))
	g.Expect(got).To(HaveKeyWithValue("usr/lib/ironflow/ironflow-step", "own ironflow-step"))
	g.Expect(got).To(HaveKeyWithValue("usr/lib/systemd/system/ironflow-programs.service", ContainSubstring("ExecStart=/bin/sh /usr/lib/ironflow/hand-on.sh /usr/lib/ironflow /sysroot /run")))
	g.Expect(got).To(HaveKeyWithValue("usr/lib/systemd/system/initrd.target.wants/ironflow-programs.service", "../ironflow-programs.service"))
	g.Expect(got).To(HaveKey("usr/lib/ironflow"), "the kernel drops a file whose folder is no member")
	g.Expect(members(t, a, "s390x")).To(HaveKeyWithValue("usr/lib/ironflow/ironflow-step", "s390x ironflow-step"))
	g.Expect(a.ForArch("ppc64le")).To(BeEmpty())
}

// Replicas and restarts must give the same images.
func TestSamePrograms(t *testing.T) {
	g := NewWithT(t)
	dir, cache := t.TempDir(), t.TempDir()
	programs(t, dir, "one")
	open := func(cache string) string {
		a, err := hostprograms.Open(dir, cache)
		g.Expect(err).NotTo(HaveOccurred())
		return a.ForArch(runtime.GOARCH)[0].ID()
	}
	first := open(cache)
	g.Expect(open(cache)).To(Equal(first), "from the cache")
	g.Expect(open(t.TempDir())).To(Equal(first), "made elsewhere")
	programs(t, dir, "two")
	g.Expect(open(cache)).NotTo(Equal(first), "other programs")
}

func TestWhatCannotRide(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	g.Expect(hostprograms.Present(dir)).To(BeFalse())
	a, err := hostprograms.Open(dir, t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(a.Architectures()).To(BeZero())
	programs(t, dir, "own")
	g.Expect(hostprograms.Present(dir)).To(BeTrue())
	g.Expect(os.Remove(filepath.Join(dir, "ironflow-step"))).To(Succeed())
	_, err = hostprograms.Open(dir, t.TempDir())
	g.Expect(err).To(MatchError(ContainSubstring("holds only a part of [ironflow-agent ironflow-step]")))
	var none *hostprograms.Archives
	g.Expect(none.ForArch(media.NormalArch(runtime.GOARCH))).To(BeEmpty())
}

// TestFurtherProgramsRideWhereTheyAreWanted: in images of clusters that install themselves.
func TestFurtherProgramsRideWhereTheyAreWanted(t *testing.T) {
	g := NewWithT(t)
	dir, arch := t.TempDir(), media.NormalArch(runtime.GOARCH)
	g.Expect(hostprograms.Complete(dir, arch, hostprograms.AgentBased()...)).To(MatchError(And(
		ContainSubstring("has none of [ironflow-agent ironflow-step ironflow ironflow-agent-based] for "+arch), ContainSubstring(filepath.Join(dir, arch)))))
	programs(t, dir, "own")
	g.Expect(hostprograms.Complete(dir, arch)).To(Succeed())
	g.Expect(hostprograms.Complete(dir, "s390x")).NotTo(Succeed())
	g.Expect(hostprograms.Complete(dir, arch, hostprograms.AgentBased()...)).
		To(MatchError(dir + " lacks ironflow, ironflow-agent-based: put all of [ironflow-agent ironflow-step ironflow ironflow-agent-based] there"))
	further := func(dir string) {
		for _, name := range hostprograms.AgentBased() {
			g.Expect(os.WriteFile(filepath.Join(dir, name), []byte("own "+name), 0o755)).To(Succeed())
		}
	}
	further(dir)
	g.Expect(hostprograms.Complete(dir, arch, hostprograms.AgentBased()...)).To(Succeed())
	cache := t.TempDir()
	with, err := hostprograms.Open(dir, cache, hostprograms.AgentBased()...)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(members(t, with, arch)).To(And(HaveKeyWithValue("usr/lib/ironflow/ironflow", "own ironflow"), HaveKeyWithValue("usr/lib/ironflow/ironflow-agent-based", "own ironflow-agent-based")))
	without, err := hostprograms.Open(dir, cache)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(members(t, without, arch)).NotTo(HaveKey("usr/lib/ironflow/ironflow"))

	from, root, run := t.TempDir(), t.TempDir(), t.TempDir()
	programs(t, from, "own")
	further(from)
	g.Expect(os.WriteFile(filepath.Join(from, hostprograms.Installer), []byte("of a release"), 0o755)).To(Succeed())
	out, err := exec.CommandContext(t.Context(), "sh", "initrd/hand-on.sh", from, root, run).CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(out))
	for _, name := range hostprograms.AgentBased() {
		g.Expect(os.ReadFile(filepath.Join(root, "usr/local/bin", name))).To(BeEquivalentTo("own " + name))
	}
	g.Expect(os.ReadFile(filepath.Join(root, hostprograms.InstallerPath))).To(BeEquivalentTo("of a release"))
	g.Expect(os.ReadFile(filepath.Join(run, "tmpfiles.d/ironflow-programs.conf"))).To(ContainSubstring("z /usr/local/bin/ironflow 0755 root root -\n"))
}

func TestHandOn(t *testing.T) {
	for name, c := range map[string]struct {
		link string // what /usr/local points to, "" for a folder
		bin  string // where the programs have to be, below the root
	}{
		"folder":        {"", "usr/local/bin"},
		"relative link": {"../var/usrlocal", "var/usrlocal/bin"},
		"absolute link": {"/var/usrlocal", "var/usrlocal/bin"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			from, root, run := t.TempDir(), t.TempDir(), t.TempDir()
			programs(t, from, "own")
			g.Expect(os.MkdirAll(filepath.Join(root, "usr"), 0o755)).To(Succeed())
			if c.link != "" {
				g.Expect(os.Symlink(c.link, filepath.Join(root, "usr/local"))).To(Succeed())
			}
			hand := func() {
				out, err := exec.CommandContext(t.Context(), "sh", "initrd/hand-on.sh", from, root, run).CombinedOutput()
				g.Expect(err).NotTo(HaveOccurred(), string(out))
			}
			hand()
			bin := filepath.Join(root, c.bin)
			g.Expect(os.ReadFile(filepath.Join(bin, "ironflow-agent"))).To(BeEquivalentTo("own ironflow-agent"))
			info, err := os.Stat(filepath.Join(bin, "ironflow-step"))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o755)))
			labels, err := os.ReadFile(filepath.Join(run, "tmpfiles.d/ironflow-programs.conf"))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(bytes.Count(labels, []byte("\n"))).To(Equal(2))
			g.Expect(string(labels)).To(ContainSubstring("z /usr/local/bin/ironflow-agent 0755 root root -\n"))

			g.Expect(os.WriteFile(filepath.Join(bin, "ironflow-agent"), []byte("the user's"), 0o755)).To(Succeed())
			hand()
			g.Expect(os.ReadFile(filepath.Join(bin, "ironflow-agent"))).To(BeEquivalentTo("the user's"), "Ignition put it there")
		})
	}
}

// The programs cost every image nothing but a segment.
func TestProgramsCostAHostNothing(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	programs(t, dir, strings.Repeat("a program of some length ", 100_000))
	archives, err := hostprograms.Open(dir, t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	iso := filepath.Join(dir, "live.iso")
	g.Expect(testmedia.WriteFile(iso, testmedia.Options{RootfsBytes: 1 << 20})).To(Succeed())
	registry, err := media.Open(t.Context(), iso, media.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	put := func(archives func(string) []overlay.Source) images.Built {
		s, err := images.NewStore(t.Context(), images.Options{Media: registry, BaseURL: "http://192.0.2.1", SigningKey: bytes.Repeat([]byte("k"), 32), Programs: archives})
		g.Expect(err).NotTo(HaveOccurred())
		b, err := s.Put(t.Context(), images.Spec{Key: "a/b", Arch: runtime.GOARCH, Ignition: []byte(`{"ignition":{"version":"3.2.0"}}`)})
		g.Expect(err).NotTo(HaveOccurred())
		r := s.Lookup(strings.TrimPrefix(b.URL, "http://192.0.2.1"))
		g.Expect(liveimage.Ignition(r.Image, b.SizeBytes)).To(BeEquivalentTo(`{"ignition":{"version":"3.2.0"}}`))
		content, err := liveimage.Content(r.Image, b.SizeBytes)
		g.Expect(err).NotTo(HaveOccurred())
		names := map[string]int{}
		for _, f := range content.Files {
			names[f.Name] = len(f.Data)
		}
		if archives != nil {
			g.Expect(names).To(HaveKeyWithValue("usr/lib/ironflow/ironflow-agent", BeNumerically(">", 2_000_000)))
		}
		return b
	}
	without, with := put(nil), put(archives.ForArch)
	g.Expect(with.Hash).NotTo(Equal(without.Hash))
	g.Expect(with.MemoryBytes).To(BeNumerically("<", 4096), "the host's own archive and a few patches of directory records")
	g.Expect(with.MemoryBytes-without.MemoryBytes).To(BeNumerically("<", 1024), "what moving the area takes")
}
