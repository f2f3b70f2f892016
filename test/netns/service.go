package netns

import (
	"embed"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"time"

	"github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/netns/nameserver"
)

// Service is a server that a host runs: [DHCP], [DNS], [Time], [Tang], or the
// client [Chrony]. It is ready when the network is built, and ends with it.
type Service interface {
	start(h *Host) error
}

// patience is how long a server may take to be ready on a busy machine.
const patience = time.Minute

// DHCP is Debian's dnsmasq as a DHCP server on eth0.
type DHCP struct {
	// First and Last are its addresses.
	First, Last string
	// Reserved are the addresses of MACs that always get the same.
	Reserved map[string]string
	// Domain is the domain name that it tells its clients.
	Domain string
}

func (d DHCP) start(h *Host) error {
	args := []string{
		"--keep-in-foreground", "--conf-file=/dev/null", "--pid-file=", "--user=root", "--port=0", "--interface=eth0", "--no-ping",
		"--log-facility=-", "--log-dhcp", "--dhcp-authoritative", "--dhcp-range=" + d.First + "," + d.Last + ",1h", "--dhcp-option=option:domain-name," + d.Domain,
		"--dhcp-leasefile=" + filepath.Join(h.t.TempDir(), "leases"),
	}
	for mac, address := range d.Reserved {
		args = append(args, "--dhcp-host="+mac+","+address)
	}
	cmd := exec.Command(needs.Program(h.t, "dnsmasq", "dnsmasq-base"), args...) //nolint:noctx // [Host.Start] ends it
	cmd.Stderr = h.t.Output()
	if err := h.Start(cmd); err != nil {
		return err
	}
	// Port 67 is 0043 in the kernel's table of sockets.
	gomega.NewWithT(h.t).Eventually(func() (text string, err error) {
		err = h.Do(func() error {
			raw, err := os.ReadFile("/proc/thread-self/net/udp")
			text = string(raw)
			return err
		})
		return text, err
	}).WithTimeout(patience).Should(gomega.ContainSubstring(":0043 "), "the DHCP server listens")
	return nil
}

// DNS is a name server that the test plays.
type DNS struct {
	// Address is where it listens, on port 53.
	Address string
	Answer  nameserver.Answer
}

func (d DNS) start(h *Host) error {
	var conn net.PacketConn
	err := h.Do(func() (err error) {
		conn, err = new(net.ListenConfig).ListenPacket(h.t.Context(), "udp", net.JoinHostPort(d.Address, "53"))
		return err
	})
	if err != nil {
		return err
	}
	h.t.Cleanup(func() { _ = conn.Close() })
	go nameserver.Serve(conn, d.Answer)
	return nil
}

// Time is Debian's chronyd as a time server, on all of the host's addresses. The
// host needs a root directory of its own.
type Time struct{}

func (Time) start(h *Host) error { return h.startChrony("local stratum 5", "allow all") }

// Chrony is Debian's chronyd as the host's own client, without any source. The
// host needs a root directory of its own, in which steps find it.
type Chrony struct{}

func (Chrony) start(h *Host) error { return h.startChrony() }

// chronySocket is where chronyd listens for commands, below the host's root.
const chronySocket = "/run/chrony/chronyd.sock"

// startChrony starts a chronyd that does not touch the clock. It gives its root
// rights away and wants a folder of its own.
func (h *Host) startChrony(config ...string) error {
	program := needs.Program(h.t, "chronyd", "chrony")
	owner, err := user.Lookup("_chrony")
	if err != nil {
		return err
	}
	uid, _ := strconv.Atoi(owner.Uid)
	gid, _ := strconv.Atoi(owner.Gid)
	socket := filepath.Join(h.Root, chronySocket)
	folder := filepath.Dir(socket)
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(folder, 0o750); err != nil {
		return err
	}
	if err := os.Chown(folder, uid, gid); err != nil {
		return err
	}
	args := append([]string{program, "-d", "-x", "bindcmdaddress " + socket, "cmdport 0", "pidfile " + filepath.Join(folder, "chronyd.pid")}, config...)
	if _, err := h.StartProgram(Options{}, execProgram, args...); err != nil {
		return err
	}
	gomega.NewWithT(h.t).Eventually(socket).WithTimeout(patience).Should(gomega.BeAnExistingFile(), "chronyd listens")
	return nil
}

// Tang is Debian's Tang.
type Tang struct {
	// Address and port are where it listens.
	Address string
}

// tangKeys is where the keys lie: two that were made for these tests by
// tangd-keygen, named by their thumbprints, so that what the server says can be
// written down.
const tangKeys = "tangkeys"

//go:embed tangkeys
var tangKeyFiles embed.FS

// start serves each connection by a tangd of its own, on its standard input and
// output, as a socket unit would.
func (s Tang) start(h *Host) error {
	program := needs.Program(h.t, "/usr/libexec/tangd", "tang-common")
	keys := h.t.TempDir()
	files, err := tangKeyFiles.ReadDir(tangKeys)
	if err != nil {
		return err
	}
	for _, file := range files {
		raw, err := tangKeyFiles.ReadFile(tangKeys + "/" + file.Name())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(keys, file.Name()), raw, 0o600); err != nil {
			return err
		}
	}
	var listener net.Listener
	err = h.Do(func() (err error) {
		listener, err = new(net.ListenConfig).Listen(h.t.Context(), "tcp", s.Address)
		return err
	})
	if err != nil {
		return err
	}
	h.t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			answerOnce(conn.(*net.TCPConn), program, keys)
		}
	}()
	return nil
}

// answerOnce hands a connection to a program and waits for the program's end.
func answerOnce(conn *net.TCPConn, program, keys string) {
	file, err := conn.File()
	_ = conn.Close()
	if err != nil {
		return
	}
	defer file.Close()
	cmd := exec.Command(program, keys) //nolint:noctx // it ends with the connection
	cmd.Stdin, cmd.Stdout = file, file
	_ = cmd.Run()
}
