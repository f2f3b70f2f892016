package installed_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/installed"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/api/hostfile"
)

// disks are one with an ESP by two paths, one of another kind, and the live medium's.
const disks = `{"blockdevices": [
	{"path": "/dev/sda", "parttype": null, "children": [{"path": "/dev/mapper/mpatha", "parttype": null, "children": [
		{"path": "/dev/mapper/mpatha2", "parttype": "C12A7328-F81F-11D2-BA4B-00A0C93EC93B"}]}]},
	{"path": "/dev/sdb", "parttype": null, "children": [{"path": "/dev/mapper/mpatha", "parttype": null, "children": [
		{"path": "/dev/mapper/mpatha2", "parttype": "C12A7328-F81F-11D2-BA4B-00A0C93EC93B"}]}]},
	{"path": "/dev/sdc", "parttype": null, "children": [{"path": "/dev/sdc1", "parttype": "0fc63daf-8483-4772-8e79-3d69d8477de4"}]},
	{"path": "/dev/sdd", "parttype": null, "children": [{"path": "/dev/sdd1", "parttype": "c12a7328-f81f-11d2-ba4b-00a0c93ec93b"}]}]}`

// one is what lsblk says of the disk alone.
const one = `{"blockdevices": [{"path": "/dev/mapper/mpatha", "parttype": null, "children": [
	{"path": "/dev/mapper/mpatha2", "parttype": "c12a7328-f81f-11d2-ba4b-00a0c93ec93b"}]}]}`

// host has partitions, which are folders, and programs that put them into place.
type host struct {
	*WithT
	t   *testing.T
	dir hostfile.Dir
	// partitions are the contents by the device, as long as they are not mounted.
	partitions, mounted string
	ran                 []string
}

const assisted = places.ServiceSettings + "/assisted-service.env"

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{WithT: NewWithT(t), t: t, dir: hostfile.Dir{Root: t.TempDir()}, partitions: t.TempDir()}
	h.file(assisted, "INFRA_ENV_ID=e\nSETTINGS_DIGEST=d\n")
	h.file(places.RendezvousHost, "NODE_ZERO_IP=192.0.2.1\nUSER_AUTH_TOKEN=t0ken\n")
	h.file("/proc/cmdline", "ignition.platform.id=metal ironflow.reinstall=10\n")
	h.Expect(os.Mkdir(filepath.Join(h.partitions, "mpatha2"), 0o755)).To(Succeed())
	return h
}

func (h *host) file(path, text string) {
	h.t.Helper()
	h.Expect(places.Write(h.dir, path, []byte(text), 0o600)).To(Succeed())
}

// run plays the programs: what is mounted lies below the host while it is.
func (h *host) run(_ context.Context, argv []string, line func(string)) error {
	h.ran = append(h.ran, strings.Join(argv, " "))
	last := argv[len(argv)-1]
	switch argv[0] {
	case "lsblk":
		if strings.HasPrefix(last, "/dev/") {
			line(one)
		} else {
			line(disks)
		}
	case "mount":
		folder, point := filepath.Join(h.partitions, filepath.Base(argv[len(argv)-2])), h.dir.Path(last)
		if _, err := os.Stat(folder); err != nil {
			return errors.New("mount: exit status 32")
		}
		h.mounted = folder
		return errors.Join(os.Remove(point), os.Rename(folder, point))
	case "umount":
		return errors.Join(os.Rename(h.dir.Path(last), h.mounted), os.Mkdir(h.dir.Path(last), 0o700))
	}
	return nil
}

func (h *host) find(id string) *installed.Record {
	h.t.Helper()
	r, err := installed.Find(h.t.Context(), h.run, h.dir, id, slog.New(slog.DiscardHandler))
	h.Expect(err).NotTo(HaveOccurred())
	return r
}

func (h *host) leave(id string) {
	h.t.Helper()
	h.Expect(installed.Leave(h.t.Context(), h.run, h.dir, "/dev/mapper/mpatha", "/dev/disk/by-id/wwn-0x1", id)).To(Succeed())
}

// TestTheImageKnowsTheHostAgain at its next boot, and nobody else does.
func TestTheImageKnowsTheHostAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.Expect(h.find("a")).To(BeNil(), "it was never installed")
		h.Expect(h.ran).To(ContainElement("mount -o ro /dev/mapper/mpatha2 /run/ironflow/esp"))
		h.Expect(h.ran).To(HaveLen(5), "a disk with several paths is looked at once, and nothing but EFI system partitions: %v", h.ran)
		h.leave("a")
		at := time.Now().UTC()
		h.Expect(h.ran).To(ContainElements("mount -o rw /dev/mapper/mpatha2 /run/ironflow/esp", "umount /run/ironflow/esp"))
		raw, err := os.ReadFile(filepath.Join(h.partitions, "mpatha2", installed.File))
		h.Expect(err).NotTo(HaveOccurred())
		h.Expect(string(raw)).NotTo(ContainSubstring("t0ken"))
		<-time.After(time.Hour)
		r := h.find("a")
		h.Expect(r).NotTo(BeNil())
		h.Expect(r.Disk).To(Equal("/dev/disk/by-id/wwn-0x1"))
		h.Expect(r.At.Equal(at.Truncate(time.Second))).To(BeTrue())
		h.Expect(h.find("b")).To(BeNil(), "another host that sees the disk")
		for file, text := range map[string]string{
			places.RendezvousHost: "USER_AUTH_TOKEN=of another image\n", assisted: "INFRA_ENV_ID=e\nSETTINGS_DIGEST=other settings\n",
			"/proc/cmdline": "ignition.platform.id=metal ironflow.reinstall=1\n",
		} {
			before, err := os.ReadFile(h.dir.Path(file))
			h.Expect(err).NotTo(HaveOccurred())
			h.file(file, text)
			h.Expect(h.find("a")).To(BeNil(), file)
			h.file(file, string(before))
		}
		h.Expect(h.find("a")).NotTo(BeNil())
		h.leave("a")
		h.Expect(h.find("a").At.Equal(at.Truncate(time.Second))).To(BeFalse(), "it was installed again")
	})
}

// TestTheImageIsKnownByItsOwnSettings and not by what the client has noted since the boot, which is
// gone at the next one: the rendezvous host alone has that, and would be installed again.
func TestTheImageIsKnownByItsOwnSettings(t *testing.T) {
	h := newHost(t)
	h.file(places.ClientConfig, "INFRA_ENV_ID=E\nCLUSTER_ID=c\n")
	h.leave("a")
	h.Expect(places.Remove(h.dir, places.ClientConfig)).To(Succeed())
	h.Expect(h.find("a")).NotTo(BeNil())
}

// TestWhatIsNoRecord does not keep a host from its installation.
func TestWhatIsNoRecord(t *testing.T) {
	h := newHost(t)
	for _, text := range []string{"", "{", `{"image": 1}`, strings.Repeat(" ", 5000) + "{}"} {
		file := filepath.Join(h.partitions, "mpatha2", installed.File)
		h.Expect(os.MkdirAll(filepath.Dir(file), 0o755)).To(Succeed())
		h.Expect(os.WriteFile(file, []byte(text), 0o600)).To(Succeed())
		h.Expect(h.find("a")).To(BeNil())
	}
	h.Expect(os.RemoveAll(filepath.Join(h.partitions, "mpatha2"))).To(Succeed())
	h.Expect(installed.Leave(t.Context(), h.run, h.dir, "/dev/mapper/mpatha", "sda", "a")).To(MatchError("mount: exit status 32"))
	h.Expect(places.Remove(h.dir, assisted)).To(Succeed())
	h.ran = nil
	h.Expect(installed.IsAgentBased(h.dir)).To(BeFalse())
	h.Expect(h.find("a")).To(BeNil())
	h.Expect(h.ran).To(BeEmpty(), "no disk is looked at in a live system of another kind")
}
