// Package dhcplease is the step dhcp-lease-allocate: it gets the virtual
// addresses of a cluster from the network's DHCP server, each for a link of its
// own with the address's MAC, and hands the leases to the hub in the text form
// of dhclient, which the installed hosts go on with. A lease that the hub gives
// back is renewed the way a rebooted host does it (INIT-REBOOT, RFC 2131,
// section 3.2), so that the address stays.
package dhcplease

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

// limit bounds the allocation of one address; both run side by side.
const limit = 28 * time.Second

// Check gets the leases of the two virtual addresses.
var Check = probe.Check[wire.DHCPAllocationRequest]{
	Deadline: limit + 10*time.Second,
	Validate: validate,
	Real:     allocate,
	Dry:      pretend,
}

// vip is one virtual address to get.
type vip struct {
	// name is that of its link: api or ingress.
	name string
	mac  net.HardwareAddr
	// given is the lease that the hub has from an earlier run, or empty.
	given string
}

// Names of the links, and of what they are for.
const (
	api     = "api"
	ingress = "ingress"
)

// interfaceName is a name that Linux takes for a link.
var interfaceName = regexp.MustCompile(`^[A-Za-z0-9_.:@-]{1,15}$`)

func validate(r wire.DHCPAllocationRequest) error {
	var errs []error
	if !interfaceName.MatchString(r.Interface) || r.Interface == api || r.Interface == ingress || strings.Trim(r.Interface, ".") == "" {
		errs = append(errs, fmt.Errorf("interface %q is not the name of an interface", r.Interface))
	}
	first, err1 := parseMAC("api_vip_mac", r.APIVIPMAC)
	second, err2 := parseMAC("ingress_vip_mac", r.IngressVIPMAC)
	if err1 == nil && err2 == nil && first.String() == second.String() {
		errs = append(errs, errors.New("both addresses have the same MAC"))
	}
	for name, lease := range map[string]string{"api_vip_lease": r.APIVIPLease, "ingress_vip_lease": r.IngressVIPLease} {
		if len(lease) > maxLease {
			errs = append(errs, fmt.Errorf("%s has more than %d bytes", name, maxLease))
		}
	}
	return errors.Join(append(errs, err1, err2)...)
}

// parseMAC reads the MAC of one host: six bytes, no group address.
func parseMAC(member, text string) (net.HardwareAddr, error) {
	mac, err := net.ParseMAC(text)
	if err != nil || len(mac) != 6 || mac[0]&1 != 0 || mac.String() == "00:00:00:00:00:00" {
		return nil, fmt.Errorf("%s %q is not the MAC address of a host", member, text)
	}
	return mac, nil
}

// vips lists what a validated request asks for.
func vips(r wire.DHCPAllocationRequest) [2]vip {
	first, _ := parseMAC("", r.APIVIPMAC)
	second, _ := parseMAC("", r.IngressVIPMAC)
	return [2]vip{{api, first, r.APIVIPLease}, {ingress, second, r.IngressVIPLease}}
}

// allocate gets both leases side by side.
func allocate(ctx context.Context, env probe.Env, r wire.DHCPAllocationRequest) steps.Result {
	var leases [2]Lease
	var texts [2]string
	var errs [2]error
	var both sync.WaitGroup
	for i, v := range vips(r) {
		both.Go(func() {
			ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no lease within %s", limit))
			defer cancel()
			leases[i], texts[i], errs[i] = allocateOne(ctx, env, r.Interface, v)
			if errs[i] != nil {
				errs[i] = fmt.Errorf("address of %s: %w", v.name, errs[i])
			}
		})
	}
	both.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		return steps.Failed(steps.ExitBad, "%v", err)
	}
	return steps.JSON(wire.DHCPAllocationResponse{
		APIVIPAddress: leases[0].Address.String(), APIVIPLease: texts[0],
		IngressVIPAddress: leases[1].Address.String(), IngressVIPLease: texts[1],
	})
}

// pretend answers with the last addresses of the interface's network, which are
// the same for all hosts of a pretended cluster.
func pretend(ctx context.Context, env probe.Env, r wire.DHCPAllocationRequest) steps.Result {
	own, err := env.Interfaces(ctx)
	if err != nil {
		return steps.Failed(steps.ExitBad, "own interfaces: %v", err)
	}
	for _, nic := range own {
		if nic.Name != r.Interface {
			continue
		}
		for _, cidr := range nic.Ipv4Addresses {
			network, err := netip.ParsePrefix(cidr)
			if err != nil || network.Bits() > 29 {
				continue
			}
			var addresses [2]netip.Addr
			var texts [2]string
			for i, v := range vips(r) {
				addresses[i] = fromEnd(network, uint32(i)+2)
				texts[i] = Lease{Interface: v.name, Address: addresses[i]}.Text()
			}
			return steps.JSON(wire.DHCPAllocationResponse{
				APIVIPAddress: addresses[0].String(), APIVIPLease: texts[0], IngressVIPAddress: addresses[1].String(), IngressVIPLease: texts[1],
			})
		}
	}
	return steps.Failed(steps.ExitBad, "this host has no interface %s with an IPv4 network", r.Interface)
}

// fromEnd is the n-th address before the broadcast address.
func fromEnd(network netip.Prefix, n uint32) netip.Addr {
	base := network.Masked().Addr().As4()
	last := binary.BigEndian.Uint32(base[:]) | (1<<(32-network.Bits()) - 1)
	return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, last-n)))
}
