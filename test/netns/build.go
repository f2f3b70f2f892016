package netns

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Net is a built topology.
type Net struct {
	hosts    map[string]*Host
	segments map[string]segment
}

// Host is a built host.
type Host struct {
	// Name is its name in the topology.
	Name string
	// Root is the root directory of its steps.
	Root string

	t          testing.TB
	resolvConf string
	*namespace
}

// segment is a broadcast domain that NICs can be plugged into.
type segment interface {
	// plug makes the NIC in the host's namespace, down and without addresses.
	plug(h *Host, nic NIC) error
}

// Build makes the network; it is removed when the test ends. Without root the
// test is skipped, or fails where CI is "true".
func (topology Topology) Build(t testing.TB) *Net {
	t.Helper()
	switch root := os.Getuid() == 0; {
	case !root && os.Getenv("CI") == "true":
		t.Fatal("network namespaces need root")
	case !root:
		t.Skip("network namespaces need root")
	}
	n := &Net{hosts: map[string]*Host{}, segments: map[string]segment{}}
	lossy := topology.lossy()
	for _, spec := range topology.Hosts {
		h := &Host{Name: spec.Name, Root: "/", t: t, namespace: newNamespace(t)}
		n.hosts[spec.Name] = h
		if err := n.furnish(h, spec, lossy); err != nil {
			t.Fatalf("build host %s: %v", spec.Name, err)
		}
	}
	for _, spec := range topology.Hosts {
		if err := n.hosts[spec.Name].addRoutes(spec.Routes); err != nil {
			t.Fatalf("build host %s: %v", spec.Name, err)
		}
	}
	for _, spec := range topology.Hosts {
		for _, service := range spec.Services {
			if err := service.start(n.hosts[spec.Name]); err != nil {
				t.Fatalf("a service of host %s: %v", spec.Name, err)
			}
		}
	}
	return n
}

// Host returns a host of the topology.
func (n *Net) Host(name string) *Host { return n.hosts[name] }

// furnish makes the interfaces of a host.
func (n *Net) furnish(h *Host, spec HostSpec, lossy map[string]bool) error {
	if err := h.addFiles(spec); err != nil {
		return err
	}
	// An address is usable at once: nobody waits for duplicate detection here.
	for _, which := range []string{"all", "default"} {
		if err := h.sysctl("ipv6/conf/"+which+"/accept_dad", "0"); err != nil {
			return err
		}
		if spec.Forwards {
			if err := h.sysctl("ipv6/conf/"+which+"/forwarding", "1"); err != nil {
				return err
			}
		}
	}
	if spec.Forwards {
		if err := h.sysctl("ipv4/ip_forward", "1"); err != nil {
			return err
		}
	}
	if err := h.up("lo", nil); err != nil {
		return err
	}
	for _, nic := range spec.NICs {
		if err := n.segment(h.t, nic.Segment, lossy[nic.Segment]).plug(h, nic); err != nil {
			return fmt.Errorf("interface %s: %w", nic.Name, err)
		}
	}
	if err := h.addBonds(spec.Bonds); err != nil {
		return err
	}
	for _, nic := range spec.NICs {
		if err := h.up(nic.Name, nic.Addresses); err != nil {
			return err
		}
	}
	for _, bond := range spec.Bonds {
		if err := h.up(bond.Name, bond.Addresses); err != nil {
			return err
		}
	}
	return h.addVLANs(spec.VLANs)
}

func (n *Net) segment(t testing.TB, name string, lossy bool) segment {
	s, ok := n.segments[name]
	switch {
	case ok:
		return s
	case lossy:
		s = newHub(t)
	default:
		s = newBridge(t)
	}
	n.segments[name] = s
	return s
}

// addFiles makes what programs and steps of the host see in place of this computer's.
func (h *Host) addFiles(spec HostSpec) error {
	if spec.Resolver != "" {
		h.resolvConf = filepath.Join(h.t.TempDir(), "resolv.conf")
		if err := os.WriteFile(h.resolvConf, []byte("nameserver "+spec.Resolver+"\n"), 0o644); err != nil {
			return err
		}
	}
	if !spec.Writes {
		return nil
	}
	root, err := os.MkdirTemp("/tmp", "netns") // not t.TempDir: the path of a socket has at most 107 bytes
	if err != nil {
		return err
	}
	h.Root = root
	h.t.Cleanup(func() { _ = os.RemoveAll(root) })
	return os.Chmod(root, 0o755) // servers that give up their rights live in it
}

// addBonds makes bonds and their members, which must be down for that.
func (h *Host) addBonds(bonds []Bond) error {
	for _, spec := range bonds {
		bond := netlink.NewLinkBond(netlink.LinkAttrs{Name: spec.Name})
		bond.Mode, bond.Miimon = netlink.BOND_MODE_ACTIVE_BACKUP, 100
		if err := h.link.LinkAdd(bond); err != nil {
			return fmt.Errorf("bond %s: %w", spec.Name, err)
		}
		if err := h.setMAC(bond, spec.MAC); err != nil {
			return err
		}
		for _, name := range spec.NICs {
			nic, err := h.link.LinkByName(name)
			if err == nil {
				err = h.link.LinkSetMasterByIndex(nic, bond.Attrs().Index)
			}
			if err != nil {
				return fmt.Errorf("member %s of bond %s: %w", name, spec.Name, err)
			}
		}
	}
	return nil
}

func (h *Host) addVLANs(vlans []VLAN) error {
	for _, spec := range vlans {
		parent, err := h.link.LinkByName(spec.Parent)
		if err != nil {
			return fmt.Errorf("VLAN %s: %w", spec.Name, err)
		}
		link := &netlink.Vlan{LinkAttrs: netlink.LinkAttrs{Name: spec.Name, ParentIndex: parent.Attrs().Index}, VlanId: spec.ID}
		if err := h.link.LinkAdd(link); err != nil {
			return fmt.Errorf("VLAN %s: %w", spec.Name, err)
		}
		if err := h.up(spec.Name, spec.Addresses); err != nil {
			return err
		}
	}
	return nil
}

func (h *Host) addRoutes(routes []Route) error {
	for _, r := range routes {
		_, to, err := net.ParseCIDR(r.To)
		if err != nil {
			return err
		}
		route := &netlink.Route{Dst: to, Gw: net.ParseIP(r.Via)}
		if r.Dev != "" {
			link, err := h.link.LinkByName(r.Dev)
			if err != nil {
				return fmt.Errorf("route to %s: %w", r.To, err)
			}
			route.LinkIndex, route.Scope = link.Attrs().Index, netlink.SCOPE_LINK
		}
		if r.Local {
			route.Scope, route.Type, route.Table = netlink.SCOPE_HOST, unix.RTN_LOCAL, unix.RT_TABLE_LOCAL
		}
		if err := h.link.RouteAdd(route); err != nil {
			return fmt.Errorf("route to %s over %s%s: %w", r.To, r.Via, r.Dev, err)
		}
	}
	return nil
}

// up gives an interface its addresses and sets it up.
func (h *Host) up(name string, addresses []string) error {
	link, err := h.link.LinkByName(name)
	if err != nil {
		return fmt.Errorf("interface %s: %w", name, err)
	}
	for _, cidr := range addresses {
		address, err := netlink.ParseAddr(cidr)
		if err != nil {
			return err
		}
		if address.IP.To4() == nil {
			address.Flags = unix.IFA_F_NODAD
		}
		if err := h.link.AddrAdd(link, address); err != nil {
			return fmt.Errorf("address %s of %s: %w", cidr, name, err)
		}
	}
	if err := h.link.LinkSetUp(link); err != nil {
		return fmt.Errorf("set %s up: %w", name, err)
	}
	return nil
}

// setMAC gives a link the MAC, if there is one.
func (h *Host) setMAC(link netlink.Link, text string) error {
	if text == "" {
		return nil
	}
	mac, err := net.ParseMAC(text)
	if err != nil {
		return err
	}
	return h.link.LinkSetHardwareAddr(link, mac)
}
