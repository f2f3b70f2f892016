package kubernetes_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/vishvananda/netlink"
	vns "github.com/vishvananda/netns"

	"github.com/ironflow/ironflow/test/media/debian"
	"github.com/ironflow/ironflow/test/output"
)

// keepalived is Debian's, with the library that it needs; where there is none the test is skipped.
func keepalived(t *testing.T) (program, libraries string) {
	t.Helper()
	if testing.Short() || os.Geteuid() != 0 {
		t.Skip("runs the real keepalived in a network of its own: run it as root, without -short")
	}
	if installed, err := exec.LookPath("keepalived"); err == nil {
		return installed, ""
	}
	program, err := debian.Take(t.Context(), "keepalived", "usr/sbin/keepalived")
	if err != nil {
		t.Skip("no keepalived here, and Debian's cannot be had: ", err)
	}
	library, err := debian.Take(t.Context(), "libnl-genl-3-200", "lib/x86_64-linux-gnu/libnl-genl-3.so.200.26.0")
	if err != nil {
		t.Skip("no libnl-genl here, and Debian's cannot be had: ", err)
	}
	libraries = t.TempDir()
	if err := os.Symlink(library, filepath.Join(libraries, "libnl-genl-3.so.200")); err != nil {
		t.Fatal(err)
	}
	return program, libraries
}

// site is a network with one card, in which nobody but the test is.
type site struct {
	handle *netlink.Handle
	card   netlink.Link
	listen func(address string) net.Listener
	start  func(*exec.Cmd)
}

func newSite(t *testing.T) *site {
	t.Helper()
	g := NewWithT(t)
	s := &site{}
	var network vns.NsHandle
	within := func(do func() error) { // a thread that was there is not used again
		done := make(chan error)
		go func() {
			runtime.LockOSThread()
			done <- do()
		}()
		g.Expect(<-done).To(Succeed())
	}
	within(func() (err error) {
		network, err = vns.New()
		return err
	})
	t.Cleanup(func() { _ = network.Close() })
	var err error
	s.handle, err = netlink.NewHandleAt(network)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(s.handle.Close)
	g.Expect(s.handle.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "eno1"}, PeerName: "switch"})).To(Succeed())
	for _, name := range []string{"lo", "switch", "eno1"} {
		s.card, err = s.handle.LinkByName(name)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(s.handle.LinkSetUp(s.card)).To(Succeed())
	}
	own, err := netlink.ParseAddr("192.0.2.11/24")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.handle.AddrAdd(s.card, own)).To(Succeed())
	s.listen = func(address string) (listener net.Listener) {
		within(func() (err error) {
			if err = vns.Set(network); err == nil {
				listener, err = (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
			}
			return err
		})
		return listener
	}
	s.start = func(command *exec.Cmd) {
		within(func() error {
			if err := vns.Set(network); err != nil {
				return err
			}
			return command.Start()
		})
	}
	return s
}

// addresses are those of the card.
func (s *site) addresses() []string {
	all, err := s.handle.AddrList(s.card, netlink.FAMILY_ALL)
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	for _, a := range all {
		out = append(out, a.IPNet.String())
	}
	return out
}

// TestKeepalivedCarriesTheAddress: the real one, with what a host of a cluster of two families gets, on a host whose API
// server the test is. The addresses are there while that answers.
func TestKeepalivedCarriesTheAddress(t *testing.T) {
	g := NewWithT(t)
	program, libraries := keepalived(t)
	dir := t.TempDir()
	all := files(t, mustMake(t, changed(order(3, 1), dual)), "id-master-1")
	check, config := filepath.Join(dir, "check-api.sh"), filepath.Join(dir, "keepalived.conf")
	g.Expect(os.WriteFile(check, []byte(all[here+"check-api.sh"]), 0o600)).To(Succeed())
	text := strings.NewReplacer("@INTERFACE@", "eno1", here+"check-api.sh", check).Replace(all[here+"keepalived.conf"])
	g.Expect(os.WriteFile(config, []byte(text), 0o600)).To(Succeed())
	s := newSite(t)
	var broken atomic.Bool
	api := &httptest.Server{Listener: s.listen("127.0.0.1:6443"), Config: &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/livez" || broken.Load() {
			http.Error(w, "etcd failed", http.StatusInternalServerError)
		}
	})}}
	api.StartTLS()
	defer api.Close()

	g.Expect(run(t, s, exec.CommandContext(t.Context(), program, "--config-test", "--log-console", "--use-file", config), libraries).Wait()).To(Succeed())
	ctx, stop := context.WithCancel(t.Context())
	own := func(name string) string { return filepath.Join(dir, name) }
	carries := run(t, s, exec.CommandContext(ctx, program, "--dont-fork", "--vrrp", "--log-console", "--use-file", config, "--pid", own("pid"), "--vrrp_pid", own("vrrp")), libraries)
	carries.Cancel = func() error { return carries.Process.Signal(os.Interrupt) }
	defer func() {
		stop()
		_ = carries.Wait() // it was told to end
	}()
	addresses := ContainElements("192.0.2.250/32", "2001:db8::fa/128")
	g.Eventually(s.addresses, time.Minute, look).Should(addresses, "the API server answers")
	broken.Store(true)
	g.Eventually(s.addresses, time.Minute, look).ShouldNot(Or(ContainElement("192.0.2.250/32"), ContainElement("2001:db8::fa/128")), "it does not answer any more")
	broken.Store(false)
	g.Eventually(s.addresses, time.Minute, look).Should(addresses, "it answers again")
}

const look = 100 * time.Millisecond

// run starts a program there, and shows what it has said when the test fails.
func run(t *testing.T, s *site, command *exec.Cmd, libraries string) *exec.Cmd {
	t.Helper()
	var said output.Buffer
	command.Env = append(os.Environ(), "LD_LIBRARY_PATH="+libraries)
	command.Stdout, command.Stderr = &said, &said
	s.start(command)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(said.String())
		}
	})
	return command
}
