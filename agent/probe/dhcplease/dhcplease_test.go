package dhcplease_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/mdlayher/packet"
	. "github.com/onsi/gomega"
	"github.com/vishvananda/netlink"

	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/probe/dhcplease"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/netns"
)

func TestMain(m *testing.M) {
	netns.Main(m, map[string]netns.Program{
		"allocate": allocate,
		// links prints the names of the host's interfaces.
		"links": func(_ context.Context, _ []string, stdout io.Writer) error {
			links, err := netlink.LinkList()
			for _, l := range links {
				fmt.Fprintln(stdout, l.Attrs().Name)
			}
			return err
		},
	})
}

// allocate runs the step with a root directory, the step's argument and how long it may take.
func allocate(ctx context.Context, args []string, stdout io.Writer) error {
	patience, err := time.ParseDuration(args[2])
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	env := probe.Env{Dir: dir(args[0]), Log: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	return json.NewEncoder(stdout).Encode(dhcplease.Check.Runner(env).Run(ctx, []string{args[1]}))
}

// dir is a root directory of which the kernel's files are the machine's.
func dir(root string) hostfile.Dir { return hostfile.Dir{Root: root} }

const (
	apiMAC     = "00:1a:4a:00:00:01"
	ingressMAC = "00:1a:4a:00:00:02"
)

// lab is a machine and a DHCP server on one segment, and what was sent to the server.
type lab struct {
	t       *testing.T
	machine *netns.Host
	root    string

	mu   sync.Mutex
	sent map[string][]*dhcpv4.DHCPv4
}

func newLab(t *testing.T) *lab {
	t.Helper()
	network := netns.Topologies["dhcp"].Build(t)
	l := &lab{t: t, machine: network.Host("machine"), root: t.TempDir(), sent: map[string][]*dhcpv4.DHCPv4{}}
	l.listen(network.Host("server"))
	return l
}

// listen keeps all DHCP messages that clients send on the server's segment.
func (l *lab) listen(server *netns.Host) {
	var conn *packet.Conn
	err := server.Do(func() error {
		nic, err := net.InterfaceByName("eth0")
		if err != nil {
			return err
		}
		conn, err = packet.Listen(nic, packet.Raw, 0x0800, nil)
		return err
	})
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = conn.Close() })
	go func() {
		frame := make([]byte, 2048)
		for {
			n, _, err := conn.ReadFrom(frame)
			if err != nil {
				return
			}
			// Ethernet, IPv4 without options, UDP.
			const headers = 14 + 20 + 8
			if n < headers || frame[23] != 17 || frame[36] != 0 || frame[37] != 67 {
				continue
			}
			if m, err := dhcpv4.FromBytes(append([]byte(nil), frame[headers:n]...)); err == nil {
				l.mu.Lock()
				l.sent[m.ClientHWAddr.String()] = append(l.sent[m.ClientHWAddr.String()], m)
				l.mu.Unlock()
			}
		}
	}()
}

// firstAndLast forgets what the MAC has sent, and returns the first and the last
// message of it. What lies between depends on how fast the server answers: a test
// with a scripted server knows each message.
func (l *lab) firstAndLast(mac string) (first, last *dhcpv4.DHCPv4) {
	l.mu.Lock()
	defer l.mu.Unlock()
	sent := l.sent[mac]
	if len(sent) == 0 {
		l.t.Fatalf("%s has sent nothing", mac)
	}
	l.sent[mac] = nil
	return sent[0], sent[len(sent)-1]
}

// markerMAC sends one message after each run, so that everything before it has been seen.
const markerMAC = "02:00:00:00:00:ff"

// seen waits until the server's segment has been read up to now.
func (l *lab) seen() {
	l.t.Helper()
	if l.sent == nil {
		return
	}
	mac, err := net.ParseMAC(markerMAC)
	must(l.t, err)
	marker, err := dhcpv4.New(dhcpv4.WithHwAddr(mac), dhcpv4.WithMessageType(dhcpv4.MessageTypeInform))
	must(l.t, err)
	must(l.t, l.machine.Do(func() error {
		conn, err := new(net.Dialer).DialContext(l.t.Context(), "udp4", "192.0.2.1:67")
		if err != nil {
			return err
		}
		defer conn.Close()
		_, err = conn.Write(marker.ToBytes())
		return err
	}))
	NewWithT(l.t).Eventually(func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		seen := len(l.sent[markerMAC]) > 0
		l.sent[markerMAC] = nil
		return seen
	}).WithTimeout(time.Minute).Should(BeTrue(), "what was sent is seen")
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (l *lab) run(patience, request string) (result steps.Result) {
	l.t.Helper()
	out, err := l.machine.Run(netns.Options{}, "allocate", l.root, request, patience)
	if err != nil {
		l.t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(out), &result); err != nil {
		l.t.Fatal(err)
	}
	links, err := l.machine.Run(netns.Options{}, "links")
	if err != nil {
		l.t.Fatal(err)
	}
	NewWithT(l.t).Expect(strings.Fields(links)).To(ConsistOf("lo", "eth0"), "the links are gone afterwards")
	l.seen()
	return result
}

// answer is the reply's output by the protocol's keys.
func answer(t *testing.T, r steps.Result) map[string]string {
	t.Helper()
	out := map[string]string{}
	if err := json.Unmarshal([]byte(r.Output), &out); err != nil {
		t.Fatalf("%q, %q: %v", r.Output, r.Error, err)
	}
	return out
}

// request asks again with the leases of an answer.
func request(leases map[string]string) string {
	quoted := func(text string) string { raw, _ := json.Marshal(text); return string(raw) }
	var text strings.Builder
	text.WriteString(`{"interface":"eth0","api_vip_mac":"` + apiMAC + `","ingress_vip_mac":"` + ingressMAC + `"`)
	for _, name := range []string{"api_vip_lease", "ingress_vip_lease"} {
		if leases[name] != "" {
			text.WriteString(`,"` + name + `":` + quoted(leases[name]))
		}
	}
	return text.String() + "}"
}

var expiry = regexp.MustCompile(`(renew|rebind|expire) [^;]*;`)

func TestLeasesOfARealServer(t *testing.T) {
	l := newLab(t)
	g := NewWithT(t)

	// First there is nothing: an offer is asked for and taken.
	result := l.run("60s", request(nil))
	g.Expect(result.Error).To(BeEmpty())
	g.Expect(result.Exit).To(BeZero())
	first := answer(t, result)
	g.Expect(first).To(HaveLen(4))
	for name, mac := range map[string]string{"api": apiMAC, "ingress": ingressMAC} {
		address := first[name+"_vip_address"]
		g.Expect(address).To(MatchRegexp(`^192\.0\.2\.(5\d|60)$`))
		lease := first[name+"_vip_lease"]
		g.Expect(lease).To(HavePrefix("lease {\n  interface \"" + name + "\";\n  fixed-address " + address + ";\n  option subnet-mask 255.255.255.0;\n"))
		g.Expect(lease).To(And(
			ContainSubstring("option dhcp-server-identifier 192.0.2.1;"), ContainSubstring("option dhcp-lease-time 3600;"),
			ContainSubstring(`option domain-name "c.example";`), MatchRegexp(`expire \d \d{4}/\d\d/\d\d \d\d:\d\d:\d\d;\n}\n$`),
		))
		discover, request := l.firstAndLast(mac)
		g.Expect(discover.MessageType()).To(Equal(dhcpv4.MessageTypeDiscover))
		g.Expect(discover.HostName()).To(Equal(strings.ReplaceAll(mac, ":", "-") + "-" + name))
		g.Expect(request.MessageType()).To(Equal(dhcpv4.MessageTypeRequest))
		kept, err := os.ReadFile(filepath.Join(l.root, "etc/keepalived/lease-"+name))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(kept)).To(Equal(lease))
	}
	g.Expect(first["api_vip_address"]).NotTo(Equal(first["ingress_vip_address"]))

	// The hub feeds the leases back, its moments replaced by never: only requests, as after a reboot.
	back := map[string]string{}
	for key, value := range first {
		back[key] = strings.ReplaceAll(expiry.ReplaceAllString(value, "$1 never;"), `interface "`, `interface "vip-`)
	}
	second := answer(t, l.run("60s", request(back)))
	for name, mac := range map[string]string{"api": apiMAC, "ingress": ingressMAC} {
		g.Expect(second[name+"_vip_address"]).To(Equal(first[name+"_vip_address"]))
		reboot, _ := l.firstAndLast(mac)
		g.Expect(reboot.MessageType()).To(Equal(dhcpv4.MessageTypeRequest))
		g.Expect(reboot.RequestedIPAddress().String()).To(Equal(first[name+"_vip_address"]))
		g.Expect(reboot.ServerIdentifier()).To(BeNil(), "an INIT-REBOOT names no server")
		g.Expect(reboot.ClientIPAddr.IsUnspecified()).To(BeTrue())
		g.Expect(expiry.ReplaceAllString(second[name+"_vip_lease"], "")).To(Equal(expiry.ReplaceAllString(first[name+"_vip_lease"], "")), "unchanged but for its times")
		kept, err := os.ReadFile(filepath.Join(l.root, "etc/keepalived/lease-"+name))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(kept)).To(HavePrefix("lease {\n  interface \"" + name + "\";"))
		g.Expect(strings.Count(string(kept), "lease {")).To(Equal(2), "the hub's lease, then the new one")
	}

	// A lease that the server refuses, one that has expired, one that is none.
	third := answer(t, l.run("60s", request(map[string]string{
		"api_vip_lease":     "lease {\n  interface \"api\";\n  fixed-address 198.51.100.7;\n  expire never;\n}\n",
		"ingress_vip_lease": "lease {\n  interface \"ingress\";\n  fixed-address " + first["ingress_vip_address"] + ";\n  expire 1 2020/01/06 00:00:00;\n}\n",
	})))
	refused, granted := l.firstAndLast(apiMAC)
	g.Expect(refused.RequestedIPAddress().String()).To(Equal("198.51.100.7"))
	g.Expect(granted.ServerIdentifier().String()).To(Equal("192.0.2.1"), "an offer of the server was taken")
	expired, _ := l.firstAndLast(ingressMAC)
	g.Expect(expired.MessageType()).To(Equal(dhcpv4.MessageTypeDiscover))
	g.Expect(third["api_vip_address"]).To(Equal(first["api_vip_address"]), "the server remembers the MAC")
	g.Expect(third["ingress_vip_address"]).To(Equal(first["ingress_vip_address"]))
	fourth := answer(t, l.run("60s", request(map[string]string{"api_vip_lease": "lease {\n  #include \"/etc/shadow\"\n}"})))
	g.Expect(fourth["api_vip_address"]).To(Equal(first["api_vip_address"]))
}

func TestWithoutAServerTheLinksAreGone(t *testing.T) {
	g := NewWithT(t)
	network := netns.Topology{Hosts: []netns.HostSpec{{Name: "machine", NICs: []netns.NIC{{Name: "eth0", Segment: "lan", Addresses: []string{"192.0.2.10/24"}}}}}}.Build(t)
	l := &lab{t: t, machine: network.Host("machine"), root: t.TempDir()}
	result := l.run("1s", request(nil))
	g.Expect(result.Exit).To(BeEquivalentTo(-1))
	g.Expect(result.Output).To(BeEmpty())
	g.Expect(result.Error).To(And(ContainSubstring("address of api: "), ContainSubstring("address of ingress: "), ContainSubstring("deadline")))

	result = l.run("1s", strings.Replace(request(nil), "eth0", "eth7", 1))
	g.Expect(result.Exit).To(BeEquivalentTo(-1))
	g.Expect(result.Error).To(ContainSubstring("interface eth7: Link not found"))
}

func TestRefused(t *testing.T) {
	for name, tc := range map[string]struct{ request, want string }{
		"no interface":     {`{"api_vip_mac":"` + apiMAC + `","ingress_vip_mac":"` + ingressMAC + `"}`, "not the name of an interface"},
		"path":             {`{"interface":"../eth0","api_vip_mac":"` + apiMAC + `","ingress_vip_mac":"` + ingressMAC + `"}`, "not the name of an interface"},
		"own link":         {`{"interface":"api","api_vip_mac":"` + apiMAC + `","ingress_vip_mac":"` + ingressMAC + `"}`, "not the name of an interface"},
		"no MAC":           {`{"interface":"eth0","ingress_vip_mac":"` + ingressMAC + `"}`, "api_vip_mac"},
		"group address":    {`{"interface":"eth0","api_vip_mac":"01:00:5e:00:00:01","ingress_vip_mac":"` + ingressMAC + `"}`, "not the MAC address of a host"},
		"InfiniBand":       {`{"interface":"eth0","api_vip_mac":"` + apiMAC + `","ingress_vip_mac":"00:00:00:00:fe:80:00:00:00:00:00:00:02:00:5e:10:00:00:00:01"}`, "not the MAC address of a host"},
		"the same MAC":     {`{"interface":"eth0","api_vip_mac":"` + apiMAC + `","ingress_vip_mac":"` + apiMAC + `"}`, "the same MAC"},
		"endless lease":    {request(map[string]string{"api_vip_lease": strings.Repeat(" ", 17<<10)}), "more than"},
		"not even JSON":    {`eth0`, "cannot be read"},
		"number for a MAC": {`{"interface":"eth0","api_vip_mac":1}`, "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			for _, dry := range []bool{true, false} {
				result := dhcplease.Check.Runner(probe.Env{DryRun: dry}).Run(t.Context(), []string{tc.request})
				g.Expect(result.Exit).To(BeEquivalentTo(-1))
				g.Expect(result.Error).To(ContainSubstring(tc.want))
				g.Expect(result.Output).To(BeEmpty())
			}
		})
	}
}

func TestADryRunGivesTheLastAddressesOfTheNetwork(t *testing.T) {
	g := NewWithT(t)
	env := probe.Env{DryRun: true, Interfaces: func(context.Context) ([]wire.Interface, error) {
		return []wire.Interface{{Name: "eth1", Ipv4Addresses: []string{"198.51.100.1/24"}}, {Name: "eth0", Ipv4Addresses: []string{"192.0.2.130/25"}}}, nil
	}}
	result := dhcplease.Check.Runner(env).Run(t.Context(), []string{request(nil)})
	g.Expect(result.Error).To(BeEmpty())
	const lease = `lease {\n  interface \"%s\";\n  fixed-address %s;\n  renew never;\n  rebind never;\n  expire never;\n}\n`
	g.Expect(result.Output).To(MatchJSON(`{"api_vip_address":"192.0.2.253","ingress_vip_address":"192.0.2.252",
		"api_vip_lease":"` + fmt.Sprintf(lease, "api", "192.0.2.253") + `","ingress_vip_lease":"` + fmt.Sprintf(lease, "ingress", "192.0.2.252") + `"}`))

	missing := dhcplease.Check.Runner(env).Run(t.Context(), []string{strings.Replace(request(nil), "eth0", "eth7", 1)})
	g.Expect(missing.Exit).To(BeEquivalentTo(-1))
	g.Expect(missing.Error).To(ContainSubstring("no interface eth7"))
}
