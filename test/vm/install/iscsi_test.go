//go:build machine

package install_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/lab/guard"
	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/vm"
	"github.com/ironflow/ironflow/test/vm/lan"
)

// The storage network: the target, and where iPXE's script is.
const (
	sanAddress = "172.25.0.1"
	sanIQN     = "iqn.2026-01.example.lab:root"
	sanPort    = 3260
	sanLUN     = 1
	scriptPort = 8089
)

// sanScript is what the settings of a firmware are that boots from iSCSI: the disk is
// tried first, the next device follows where it has no system, and the table for the
// operating system (iBFT) is there in either case.
var sanScript = fmt.Sprintf("#!ipxe\nsanboot --keep iscsi:%s::%d:%d:%s || exit 1\n", sanAddress, sanPort, sanLUN, sanIQN)

// TestISCSIRoot has a machine whose system lies on an iSCSI disk. iPXE in the card's ROM
// is the firmware that knows the target, Debian's tgt is the target. The live system logs
// in by the unit of our image; the step writes that disk and none of the machine's own;
// the firmware boots it: loader, kernel, and an initrd that logs in again as
// rd.iscsi.firmware=1 says (dracut's part is a unit of package medium, with Debian's
// iscsistart).
func TestISCSIRoot(t *testing.T) {
	needs.Root(t)
	needs.Program(t, "tgtd", "tgt")
	needs.Program(t, "dnsmasq", "dnsmasq-base")
	network, tap := plug(t, lan.Options{
		Prefix: netip.MustParsePrefix(sanAddress + "/24"),
		DHCP:   lan.DHCP{Script: fmt.Sprintf("http://%s:%d/san.ipxe", sanAddress, scriptPort)},
	})
	s := newStand(t, network.Address.String(), func(c *vm.Config) { c.NICs[0].Tap = tap })
	lun := s.target()
	s.ipxe(sanScript)
	s.machine.SetOrder([]vm.Source{vm.SourceNetwork, vm.SourceMedium, vm.SourceDisk})
	r := s.install(order{
		script: "udevadm settle; lsblk -o NAME,TYPE,TRAN,VENDOR,MODEL; ls /sys/firmware/ibft", tells: transportOfRoot,
		properties: map[string]any{"root_device": map[string]any{"vendor": "IET"}},
	})
	s.Expect(r.Outcome).To(Equal("done"), "%+v", r)
	s.neverWritten(0)
	s.Expect(s.hasTable(lun)).To(BeTrue())
	_, tells := s.installed()
	s.Expect(tells).To(Equal("transport=iscsi argument=1"))
	s.neverWritten(0)
}

// transportOfRoot is how the disk below the root is attached, and by which argument it
// was found.
const transportOfRoot = `transport=$$(lsblk --inverse --noheadings --output TRAN $$(findmnt -no SOURCE /) | tr -d " \n") argument=$$(grep -c rd.iscsi.firmware=1 /proc/cmdline)`

// plug makes a network and the tap of the machine's card.
func plug(t *testing.T, options lan.Options) (*lan.Network, string) {
	t.Helper()
	g := NewWithT(t)
	options.Dir = t.TempDir()
	network, err := lan.Start(t.Context(), options)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { NewWithT(t).Expect(network.Close()).To(Succeed()) })
	tap, err := network.Tap(t.Context(), "card0")
	g.Expect(err).NotTo(HaveOccurred())
	return network, tap
}

// target starts an iSCSI target with one disk, and returns the disk's file.
func (s *stand) target() string {
	s.t.Helper()
	dir := s.t.TempDir()
	lun := filepath.Join(dir, "lun.img")
	s.Expect(os.WriteFile(lun, nil, 0o600)).To(Succeed())
	s.Expect(os.Truncate(lun, 6<<30)).To(Succeed())
	log, err := os.Create(filepath.Join(dir, "tgtd.log"))
	s.Expect(err).NotTo(HaveOccurred())
	s.t.Cleanup(func() { _ = log.Close() })
	control := strconv.Itoa(os.Getpid()) // names the socket for its orders
	s.Expect(os.MkdirAll("/run/tgtd", 0o755)).To(Succeed())
	target, err := guard.Start(guard.Command{
		Path: "tgtd", Args: []string{"--foreground", "--control-port", control, "--iscsi", fmt.Sprintf("portal=%s:%d", sanAddress, sanPort)}, Dir: dir, Output: log,
	})
	s.Expect(err).NotTo(HaveOccurred())
	s.t.Cleanup(target.Kill)
	for _, order := range [][]string{
		{"--mode", "target", "--op", "new", "--targetname", sanIQN},
		{"--mode", "logicalunit", "--op", "new", "--lun", strconv.Itoa(sanLUN), "--backing-store", lun},
		{"--mode", "target", "--op", "bind", "--initiator-address", "ALL"},
	} {
		s.Eventually(func() error {
			args := append([]string{"--control-port", control, "--lld", "iscsi", "--tid", "1"}, order...)
			said, err := exec.CommandContext(s.t.Context(), "tgtadm", args...).CombinedOutput()
			if err != nil {
				return fmt.Errorf("%w: %s", err, said)
			}
			return nil
		}).WithTimeout(time.Minute).WithPolling(time.Second).Should(Succeed(), "%v", order)
	}
	return lun
}

// ipxe serves iPXE's script.
func (s *stand) ipxe(text string) {
	s.t.Helper()
	listener, err := new(net.ListenConfig).Listen(s.t.Context(), "tcp", net.JoinHostPort(sanAddress, strconv.Itoa(scriptPort)))
	s.Expect(err).NotTo(HaveOccurred())
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s.said("iPXE has asked for its script")
		_, _ = w.Write([]byte(text)) // iPXE asks again
	})}
	go func() { _ = server.Serve(listener) }() // ends with the test
	s.t.Cleanup(func() { _ = server.Shutdown(context.Background()) })
}
