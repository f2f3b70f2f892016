//go:build machine

package agentbased

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/vishvananda/netlink"

	"github.com/ironflow/ironflow/agent/agentbased/units"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/lab/emulator"
	"github.com/ironflow/ironflow/test/livesystem"
	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/vm"
	"github.com/ironflow/ironflow/test/vm/lan"
	"github.com/ironflow/ironflow/test/vm/medium"
)

const (
	// whole is the host that is a whole machine, machineName what DHCP calls it, machineID
	// its UUID, machineDisk the world wide name of its disk, without 0x.
	whole       = 2
	machineName = "edge-2"
	machineID   = "0d1c0000-0000-4000-8000-0000000000e2"
	machineDisk = "5000c500000000e2"
	// writing is the event of a host whose disk is being written.
	writing = "reached stage " + string(wire.HostStageWritingImageToDisk)
	// machinePatience is for one stage on two busy cores that emulate the machine's.
	machinePatience = 90 * time.Minute
	// maxTold bounds what is told of a machine in a test that fails.
	maxTold = 30 << 10
)

// mixed are containers with a real systemd and a whole machine, in one network.
type mixed struct {
	*rack
	network *lan.Network
	machine *vm.Machine
	begun   time.Time
	// alive ends with the machine's power, which nobody takes away.
	alive context.Context
}

// TestAgentBasedBesideContainers: three hosts of one image install themselves as a cluster, in one
// network. Two are instances of a real systemd with a loop device each, one of them node zero. The
// third is a whole machine that boots the image's ISO from its virtual drive, writes its disk,
// restarts by itself, and runs what was installed. Nobody is played on it.
func TestAgentBasedBesideContainers(t *testing.T) {
	m, media := newMixed(t)
	input := four.dynamic(3)
	input["hostconfig/zero/root-device-hints.yaml"] = "deviceName: /dev/sda\n"
	// An emulated processor needs longer than any host to write a disk. Nobody comes back from a
	// container's restart, which is not done; the machine would have registered again in that time
	// if it had booted the image once more.
	input["hub.env"] = "IRONFLOW_HUB_STAGE_TIMEOUTS=Writing image to disk=5h,Rebooting=10m\n"
	m.config = m.imageOver(media.ISO, input, "--rendezvous-ip", four.address(0))
	image := fixture(t)
	var systems []*livesystem.System
	for i := range whole {
		s := m.live(i, image)
		systems, m.machines = append(systems, s), append(m.machines, s.Machine)
	}
	m.plugIn()
	m.reach(m.machines[0], four.address(0))
	m.reached("image made, containers booted")

	m.powerOn()
	for _, c := range m.machines {
		m.starts(c)
	}
	watch := m.waitFor("--timeout", "24h", "--patience", "24h")
	m.await(m.statuses).Should(And(HaveLen(3), HaveKey(mac(whole))), m.allSay)
	m.reached("all agents have registered")
	m.isTheMachine()
	id := m.hostOf(whole).ID
	m.await(func() int { return m.told(id, writing) }).Should(Equal(1), m.allSay)
	m.reached("the machine writes its disk")
	m.await(m.events).Should(ContainElement(vm.EventReset), m.allSay)
	m.reached("the machine has restarted by itself")
	// udev calls a SCSI disk by its kind of identifier, 3, and its world wide name.
	installed := fmt.Sprintf("ignition=%x root=3%s", sha256.Sum256([]byte(m.ignition(m.hostOf(whole)))), machineDisk)
	m.await(m.console).Should(MatchRegexp("INSTALLED host=%s machine=%s %s", machineName, machineID, installed), m.allSay)
	m.reached("the installed system of the machine runs, with the hub's Ignition")

	m.await(m.statuses).Should(And(HaveLen(3), HaveEach(wire.HostStatusInstalled)), m.allSay)
	m.reached("all hosts are installed")
	for i, s := range systems {
		m.written(i, s, image)
	}
	for _, h := range m.cluster().Hosts {
		m.Expect(m.told(h.ID, writing)).To(Equal(1), "written once: %s", m.story)
	}
	zero := m.zero()
	m.Expect([]any{zero.Bootstrap, string(zero.Role), zero.InstallationDiskPath}).To(Equal([]any{true, "master", "/dev/sda"}))
	m.ends(watch)
	m.Expect(watch.tail()).To(ContainSubstring("has handed over"))
	m.Eventually(func() string {
		return m.machines[0].Run(t, "systemctl", "show", "--property=Result,SubState", "start-cluster-installation.service")
	}, patience, look).Should(And(ContainSubstring("Result=success"), ContainSubstring("SubState=exited")), m.journals)
}

// newMixed makes the medium and the network; no host is there yet.
func newMixed(t *testing.T) (*mixed, medium.Media) {
	t.Helper()
	for program, debianPackage := range map[string]string{"qemu-system-x86_64": "qemu-system-x86", "dnsmasq": "dnsmasq-base", "mmdebstrap": "mmdebstrap"} {
		needs.Program(t, program, debianPackage)
	}
	needs.CoreOSInstaller(t)
	livesystem.Need(t)
	m := &mixed{rack: &rack{site: &site{WithT: NewWithT(t), T: t, dir: t.TempDir()}, workflow: units.Automated}, begun: time.Now()}
	media, err := medium.Make(t.Context())
	m.Expect(err).NotTo(HaveOccurred())
	m.network, err = lan.Start(t.Context(), lan.Options{
		Prefix: netip.MustParsePrefix("198.51.100.1/24"), Dir: t.TempDir(),
		DHCP: lan.DHCP{Hosts: []lan.Host{{MAC: mac(whole), Address: netip.MustParseAddr(four.address(whole)), Name: machineName}}},
	})
	m.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { m.Expect(m.network.Close()).To(Succeed()) })
	return m, media
}

// plugIn gives the containers their cards, at a cable of the network.
func (m *mixed) plugIn() {
	m.Helper()
	device, err := m.network.Cable(m.Context(), "rack")
	m.Expect(err).NotTo(HaveOccurred())
	here, err := netlink.NewHandle()
	m.Expect(err).NotTo(HaveOccurred())
	defer here.Close()
	cable, err := here.LinkByName(device)
	m.Expect(err).NotTo(HaveOccurred())
	for i, c := range m.machines {
		m.card(here, cable, c, i)
		m.route(c)
	}
}

// powerOn switches the machine on, with the image's ISO in its drive.
func (m *mixed) powerOn() {
	m.Helper()
	tap, err := m.network.Tap(m.Context(), "edge2")
	m.Expect(err).NotTo(HaveOccurred())
	var dies context.CancelCauseFunc
	m.alive, dies = context.WithCancelCause(m.Context())
	m.machine, err = vm.New(context.WithoutCancel(m.Context()), vm.Config{
		UUID: machineID, Name: machineName, Dir: m.TempDir(), MemoryMiB: 4096,
		Disks: []vm.Disk{{Kind: vm.DiskSCSI, SizeMiB: 12 << 10, Serial: "EDGE2", WWN: "0x" + machineDisk}},
		NICs:  []vm.NIC{{MAC: mac(whole), Tap: tap}},
		OnEvent: func(e vm.Event) {
			if e.Kind == vm.EventOff || e.Kind == vm.EventTrouble {
				dies(fmt.Errorf("the machine has gone: %s", e.Detail))
			}
		},
	})
	m.Expect(err).NotTo(HaveOccurred())
	m.Cleanup(func() { m.Expect(m.machine.Close()).To(Succeed()) })
	iso := filepath.Join(m.dir, madeISO)
	drive := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(iso))))
	m.Cleanup(drive.Close)
	m.Expect(m.machine.Take(emulator.SystemChange{
		UUID: machineID, Change: emulator.ChangePower, Reset: emulator.ResetOn, PowerState: emulator.PowerOn,
		Media: map[string]emulator.Medium{emulator.MediaCd: {Image: drive.URL + "/" + filepath.Base(iso), Inserted: true}},
	})).To(Succeed())
}

// isTheMachine expects that the hub knows the whole machine as it is.
func (m *mixed) isTheMachine() {
	m.Helper()
	inventory := m.hostOf(whole).Inventory
	for _, has := range []string{`"Test machine"`, machineDisk, four.address(whole) + "/24"} {
		m.Expect(inventory).To(ContainSubstring(has))
	}
}

// await waits for a stage of the machine.
func (m *mixed) await(what any) AsyncAssertion {
	m.Helper()
	return m.Eventually(what).WithContext(m.alive).WithTimeout(machinePatience).WithPolling(time.Second)
}

// reached tells a stage, and when.
func (m *mixed) reached(stage string) {
	fmt.Printf("reached: %s after %s\n", stage, time.Since(m.begun).Round(time.Second))
}

// console is all that the machine has said on it.
func (m *mixed) console() (string, error) { return m.machine.Console(0) }

// events are the kinds of what has happened to the machine.
func (m *mixed) events() (all []vm.EventKind) {
	for _, event := range m.machine.Events() {
		all = append(all, event.Kind)
	}
	return all
}

// allSay is what all three hosts say, for a test that fails.
func (m *mixed) allSay() string {
	var b strings.Builder
	b.WriteString(m.journals())
	for what, path := range map[string]string{"console": m.machine.ConsoleLog(), "journal": m.machine.JournalLog()} {
		raw, _ := os.ReadFile(path) // the failure is told anyhow
		fmt.Fprintf(&b, "==== %s of the whole machine\n%s\n", what, raw[max(0, len(raw)-maxTold):])
	}
	return b.String()
}
