//go:build e2e || machine

package agentbased

import (
	"bytes"
	"fmt"
	"net"
	"runtime"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/vishvananda/netlink"
	vns "github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/livesystem"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
)

// diskBytes is a little more than the hub's minimum.
const diskBytes = 10 << 30

// live boots one more machine with a disk that is written for real, a loop device. What a
// restart begins with is replaced, so that the machine stays.
func (r *rack) live(i int, image string) *livesystem.System {
	r.Helper()
	m := r.boots(i)
	m.Run(r.T, "hostname", fmt.Sprintf("edge-%d", i))
	s := livesystem.New(r.T, m, livesystem.Disk{Board: "SER-" + mac(i), Bytes: diskBytes})
	s.BringImage(r.T, image)
	r.write(m.Host.Root, hostfile.UnitDir+"/reboot.target", "[Unit]\nDescription=Restart\nRequires=restarted.service\n")
	r.write(m.Host.Root, hostfile.UnitDir+"/restarted.service", "[Unit]\nDefaultDependencies=no\n[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/touch /run/restarted\n")
	return s
}

// cableCards gives each machine a card of its own at one cable, which is nobody's. The cards are macvlans: the hub takes no
// address of a veth for one that names a machine.
func (r *rack) cableCards() {
	r.Helper()
	r.lays()
	for i := range r.machines {
		r.plugCard(i)
	}
}

// lays lays the cable, in a network namespace that goes with the test.
func (r *rack) lays() {
	r.Helper()
	type made struct {
		ns  vns.NsHandle
		err error
	}
	done := make(chan made)
	go func() {
		runtime.LockOSThread() // never unlocked: a thread of another network must not be used again
		ns, err := vns.New()
		done <- made{ns, err}
	}()
	m := <-done
	r.Expect(m.err).NotTo(HaveOccurred())
	r.Cleanup(func() { r.Expect(m.ns.Close()).To(Succeed()) })
	var err error
	r.switchboard, err = netlink.NewHandleAt(m.ns, unix.NETLINK_ROUTE)
	r.Expect(err).NotTo(HaveOccurred())
	r.Cleanup(r.switchboard.Close)
	r.Expect(r.switchboard.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "cable"}, PeerName: "end"})).To(Succeed())
	for _, name := range []string{"end", "cable"} {
		end, err := r.switchboard.LinkByName(name)
		r.Expect(err).NotTo(HaveOccurred())
		r.Expect(r.switchboard.LinkSetUp(end)).To(Succeed())
	}
}

// plugCard gives a machine its card at the cable.
func (r *rack) plugCard(i int) {
	r.Helper()
	cable, err := r.switchboard.LinkByName("cable")
	r.Expect(err).NotTo(HaveOccurred())
	r.card(r.switchboard, cable, r.machines[i], i)
	r.route(r.machines[i])
}

// card gives a machine its card at the cable, with its address.
func (r *rack) card(zero *netlink.Handle, cable netlink.Link, m *systemdtest.Machine, i int) {
	r.Helper()
	ns, link := r.namespace(m)
	defer func() { _ = ns.Close() }() // it was only looked through
	defer link.Close()
	r.Expect(zero.LinkAdd(&netlink.Macvlan{
		LinkAttrs: netlink.LinkAttrs{Name: "eno1", HardwareAddr: r.hardwareAddress(i), ParentIndex: cable.Attrs().Index, Namespace: netlink.NsFd(ns)},
		Mode:      netlink.MACVLAN_MODE_BRIDGE,
	})).To(Succeed())
	r.address(link, i)
}

// route gives a machine a way out of its network, as DHCP would.
func (r *rack) route(m *systemdtest.Machine) {
	r.Helper()
	ns, link := r.namespace(m)
	defer func() { _ = ns.Close() }() // it was only looked through
	defer link.Close()
	card, err := link.LinkByName("eno1")
	r.Expect(err).NotTo(HaveOccurred())
	r.Expect(link.RouteAdd(&netlink.Route{LinkIndex: card.Attrs().Index, Gw: net.ParseIP("198.51.100.1")})).To(Succeed())
}

// lives boots three machines with disks, on one cable.
func (r *rack) lives(image string) (systems []*livesystem.System) {
	r.Helper()
	for i := range 3 {
		s := r.live(i, image)
		systems, r.machines = append(systems, s), append(r.machines, s.Machine)
	}
	r.cableCards()
	return systems
}

// written expects that the machine has the image's root on its disk, and the Ignition that the
// hub has made for its host, and that it restarts.
func (r *rack) written(i int, s *livesystem.System, image string) {
	r.Helper()
	hosts := r.cluster().Hosts
	n := slices.IndexFunc(hosts, func(h wire.Host) bool { return cardOf(h) == mac(i) })
	r.Expect(n).To(BeNumerically(">=", 0), "machine %d", i)
	r.Expect(s.Boot(r.T, "ignition/config.ign")).To(Equal(r.ignition(hosts[n])), "machine %d", i)
	root := [2]int64{69632 * 512, 40960 * 512} // test/fixtures/coreos-disk
	r.Expect(bytes.Equal(s.Section(r.T, root[0], root[1]), livesystem.Section(r.T, image, root[0], root[1]))).To(BeTrue(), "machine %d has the image's root", i)
	r.Eventually(func() error { return s.Command(r.Context(), "test", "-e", "/run/restarted").Run() }, patience, look).Should(Succeed())
}

// fixture is an image as coreos-installer writes it.
func fixture(t *testing.T) string {
	t.Helper()
	return livesystem.MakeImage(t, "../../fixtures/coreos-disk/make.sh")
}
