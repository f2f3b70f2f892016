//go:build e2e

package installed_test

import (
	"bytes"
	"context"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/installed"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/test/diskwrites"
	"github.com/ironflow/ironflow/test/espdisk"
	"github.com/ironflow/ironflow/test/guest"
)

// TestMain is needed as the first process of a guest.
func TestMain(m *testing.M) {
	if guest.IsInit() {
		guest.Init()
		return
	}
	os.Exit(m.Run())
}

// TestRealPartitionsInAGuest runs TestOnARealPartition in a guest with Debian's kernel, with this same binary.
func TestRealPartitionsInAGuest(t *testing.T) {
	if espdisk.Has() && diskwrites.Has() {
		t.Skip("this kernel has FAT and network block devices, so TestOnARealPartition runs here")
	}
	console := espdisk.Run(t, "TestOnARealPartition", 1024)
	NewWithT(t).Expect(strings.Count(console, "    --- PASS: TestOnARealPartition/")).To(Equal(len(onARealPartition)), "all have run")
}

var onARealPartition = map[string]func(*testing.T, *esp){
	"is left and found":                    leftAndFound,
	"the power is lost while it is left":   powerIsLost,
	"the disk can only be read":            readOnly,
	"the partition is full":                full,
	"one cluster is free on the partition": almostFull,
	"what is no record, and no FAT either": noRecord,
}

// TestOnARealPartition: records on FAT as firmware has it, by the kernel's own file system.
func TestOnARealPartition(t *testing.T) {
	espdisk.Need(t, "TestRealPartitionsInAGuest")
	diskwrites.Need(t, "TestRealPartitionsInAGuest")
	for name, test := range onARealPartition {
		t.Run(name, func(t *testing.T) { test(t, newESP(t)) })
	}
}

// esp is a disk with an EFI system partition, which an installer has written.
type esp struct {
	*WithT
	t       *testing.T
	dir     hostfile.Dir
	content []byte
	loader  []byte
	device  string // of the disk
}

func newESP(t *testing.T) *esp {
	t.Helper()
	e := &esp{WithT: NewWithT(t), t: t, dir: hostfile.Dir{Root: t.TempDir()}}
	for path, text := range map[string]string{assisted: "INFRA_ENV_ID=e\n", places.RendezvousHost: "USER_AUTH_TOKEN=t0ken\n", "/proc/cmdline": "quiet\n"} {
		e.Expect(places.Write(e.dir, path, []byte(text), 0o600)).To(Succeed())
	}
	e.loader = bytes.Repeat([]byte("what the firmware starts\n"), 36<<10) // as large as a real one
	e.content = espdisk.Content(t, e.loader)
	return e
}

func (e *esp) output(name string, args ...string) string {
	e.t.Helper()
	out, err := exec.CommandContext(e.t.Context(), name, args...).CombinedOutput()
	e.Expect(err).NotTo(HaveOccurred(), "%s %v: %s", name, args, out)
	return strings.TrimSpace(string(out))
}

// attach makes the content a disk of this host, and returns what takes it away.
func (e *esp) attach(content []byte, flags ...string) (detach func()) {
	e.t.Helper()
	e.device, detach = espdisk.Attach(e.t, content, flags...)
	return detach
}

// run runs the real programs. The host has the one disk, and mounts below its own root.
func (e *esp) run(ctx context.Context, argv []string, line func(string)) error {
	argv = slices.Clone(argv)
	last := len(argv) - 1
	switch argv[0] {
	case "lsblk":
		if !strings.HasPrefix(argv[last], "/dev/") {
			argv = append(argv, e.device)
		}
	case "mount", "umount":
		argv[last] = e.dir.Path(argv[last])
	}
	log := slog.New(slog.DiscardHandler)
	return command.Exec(command.Host{Log: log}, log)(ctx, argv, line)
}

func (e *esp) leave() error {
	return installed.Leave(e.t.Context(), e.run, e.dir, e.device, "/dev/disk/by-id/wwn-0x1", "a")
}

func (e *esp) find() *installed.Record {
	e.t.Helper()
	r, err := installed.Find(e.t.Context(), e.run, e.dir, "a", slog.New(slog.DiscardHandler))
	e.Expect(err).NotTo(HaveOccurred())
	mounts, err := os.ReadFile("/proc/mounts")
	e.Expect(err).NotTo(HaveOccurred())
	e.Expect(string(mounts)).NotTo(ContainSubstring(e.device), "nothing stays mounted")
	return r
}

// in has the partition looked at by somebody else.
func (e *esp) in(use func(folder string)) {
	e.t.Helper()
	folder := e.t.TempDir()
	e.output("mount", "-o", "rw", e.device+"p1", folder)
	defer e.output("umount", folder)
	use(folder)
}

// starts expects that the firmware finds what it did before.
func (e *esp) starts(folder string) {
	e.t.Helper()
	raw, err := os.ReadFile(filepath.Join(folder, espdisk.Loader))
	e.Expect(err).NotTo(HaveOccurred())
	e.Expect(bytes.Equal(raw, e.loader)).To(BeTrue(), "the boot loader is as it was")
}

// sound expects a file system without a fault.
func (e *esp) sound() {
	e.t.Helper()
	e.output("fsck.vfat", "-n", e.device+"p1")
}

func leftAndFound(t *testing.T, e *esp) {
	e.attach(e.content)
	e.Expect(e.find()).To(BeNil())
	e.Expect(e.leave()).To(Succeed())
	r := e.find()
	e.Expect(r).NotTo(BeNil())
	e.Expect(r.Disk).To(Equal("/dev/disk/by-id/wwn-0x1"))
	e.Expect(time.Since(r.At)).To(BeNumerically("<", time.Hour))
	e.Expect(e.leave()).To(Succeed(), "over the one that is there")
	e.Expect(e.find()).NotTo(BeNil())
	e.sound()
	e.in(func(folder string) {
		e.starts(folder)
		files, err := os.ReadDir(filepath.Join(folder, filepath.Dir(installed.File)))
		e.Expect(err).NotTo(HaveOccurred())
		e.Expect(files).To(HaveLen(1), "the record, and nothing on the way to it")
	})
	e.Expect(places.Write(e.dir, "/proc/cmdline", []byte("quiet "+installed.Again+"\n"), 0o600)).To(Succeed())
	e.Expect(e.find()).To(BeNil())
}

// powerIsLost after each write of the kernel, and with some of those lost that the disk has only
// in its cache: there is a whole record or none, and the system that was installed starts.
func powerIsLost(t *testing.T, e *esp) {
	disk := diskwrites.Attach(t, e.content)
	e.device = disk.Device
	espdisk.Settle(t)
	e.Expect(e.leave()).To(Succeed())
	e.Expect(e.find()).NotTo(BeNil())
	writes, found := disk.Writes(), 0
	e.Expect(writes).To(BeNumerically(">", 5))
	random := rand.New(rand.NewPCG(1, 2)) // the same in each run
	look := func(content []byte) bool {
		detach := e.attach(content)
		defer detach()
		r := e.find()
		e.in(e.starts)
		if r == nil {
			return false
		}
		e.Expect([]string{r.HostID, r.Disk}).To(Equal([]string{"a", "/dev/disk/by-id/wwn-0x1"}))
		found++
		return true
	}
	for n := range writes + 1 {
		there := look(disk.After(n))
		switch n {
		case 0:
			e.Expect(there).To(BeFalse())
		case writes:
			e.Expect(there).To(BeTrue(), "what was said to be left is there")
		}
		for range 3 {
			there = look(disk.Losing(n, random))
			e.Expect(there || n < writes).To(BeTrue(), "what was said to be left is in no cache")
		}
	}
	t.Log(writes, "writes; a record after", found, "of", 4*(writes+1), "losses of power")
}

func readOnly(t *testing.T, e *esp) {
	detach := e.attach(e.content, "--read-only")
	e.Expect(e.leave()).NotTo(Succeed())
	e.Expect(e.find()).To(BeNil())
	detach()
	e.attach(e.content)
	e.Expect(e.leave()).To(Succeed())
	raw := make([]byte, espdisk.DiskBytes)
	f, err := os.Open(e.device)
	e.Expect(err).NotTo(HaveOccurred())
	_, err = f.ReadAt(raw, 0)
	e.Expect(err).NotTo(HaveOccurred())
	e.Expect(f.Close()).To(Succeed())
	e.attach(raw, "--read-only")
	e.Expect(e.find()).NotTo(BeNil(), "one that cannot be written any more is read")
}

// fill leaves so many bytes free.
func (e *esp) fill(folder string, free int64) {
	e.t.Helper()
	f, err := os.Create(filepath.Join(folder, "vendor.bin"))
	e.Expect(err).NotTo(HaveOccurred())
	var size int64
	for _, chunk := range []int{64 << 10, 512} { // what does not fit is not written in part
		for err = nil; err == nil; {
			var n int
			n, err = f.Write(make([]byte, chunk))
			size += int64(n)
		}
	}
	e.Expect(f.Truncate(size - free)).To(Succeed())
	e.Expect(f.Close()).To(Succeed())
}

func full(t *testing.T, e *esp) { hasNoRoom(e, 0) }

// almostFull has room for the folder of the record, and not for the record.
func almostFull(t *testing.T, e *esp) { hasNoRoom(e, 2048) }

func hasNoRoom(e *esp, free int64) {
	e.attach(e.content)
	e.in(func(folder string) { e.fill(folder, free) })
	e.Expect(e.leave()).To(MatchError(ContainSubstring("no space left on device")))
	e.Expect(e.find()).To(BeNil())
	e.sound()
	e.in(func(folder string) {
		e.starts(folder)
		half, err := filepath.Glob(filepath.Join(folder, installed.File+"*"))
		e.Expect(err).NotTo(HaveOccurred())
		e.Expect(half).To(BeEmpty(), "nothing half-written stays")
		e.Expect(os.Remove(filepath.Join(folder, "vendor.bin"))).To(Succeed())
	})
	e.Expect(e.leave()).To(Succeed())
	e.Expect(e.find()).NotTo(BeNil())
}

func noRecord(t *testing.T, e *esp) {
	e.attach(e.content)
	e.in(func(folder string) {
		e.Expect(os.MkdirAll(filepath.Join(folder, installed.File), 0o755)).To(Succeed()) // a folder of that name
	})
	e.Expect(e.find()).To(BeNil())
	broken := slices.Clone(e.content)
	clear(broken[espdisk.Offset : espdisk.Offset+64<<10])
	e.attach(broken)
	e.Expect(e.find()).To(BeNil())
	e.Expect(e.leave()).NotTo(Succeed())
}
