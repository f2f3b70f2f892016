package instructions

import (
	"cmp"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ironflow/ironflow/hub/wire"
)

// targetRoute is the argument for the way to the target of an iSCSI disk that lies behind a
// router; empty for none. It is a route to that one address: a gateway of the card would be
// one more default route, and take the machine's other traffic into the storage network.
func (in Input) targetRoute(disk *wire.Disk, nic *wire.Interface) string {
	target, known := iscsiTarget(disk)
	if !known || onLink(nic, target) {
		return ""
	}
	router, found := in.router(nic, target)
	if !found {
		return ""
	}
	to, via := target.String()+"/"+strconv.Itoa(target.BitLen()), router.String()
	if !target.Is4() {
		to, via = "["+to+"]", "["+via+"]"
	}
	return "rd.route=" + to + ":" + via + ":" + card(nic)
}

// iscsiTarget is the address of the disk's target, which udev has in the disk's name by
// path: ip-ADDRESS:PORT-iscsi-NAME-lun-N.
func iscsiTarget(disk *wire.Disk) (netip.Addr, bool) {
	portal, isISCSI := strings.CutPrefix(path.Base(disk.ByPath), "ip-")
	portal, _, isTarget := strings.Cut(portal, "-iscsi-")
	colon := strings.LastIndexByte(portal, ':')
	if !isISCSI || !isTarget || colon < 0 {
		return netip.Addr{}, false
	}
	a, err := netip.ParseAddr(strings.Trim(portal[:colon], "[]"))
	return a, err == nil
}

// onLink tells that the card reaches the address without a router.
func onLink(nic *wire.Interface, a netip.Addr) bool {
	return a.IsLinkLocalUnicast() || slices.ContainsFunc(slices.Concat(nic.Ipv4Addresses, nic.Ipv6Addresses), func(text string) bool {
		p, err := netip.ParsePrefix(text)
		return err == nil && p.Contains(a)
	})
}

// router is who leads the card to the address. Routes come without the lengths of their
// destinations, of which at least the last bit that is set belongs to the network: of those
// that may lead there, the longest counts.
func (in Input) router(nic *wire.Interface, a netip.Addr) (router netip.Addr, found bool) {
	type way struct {
		via          netip.Addr
		bits, metric int
	}
	var ways []way
	for _, r := range in.Inventory.Routes {
		to, err := netip.ParseAddr(r.Destination)
		via, badGateway := netip.ParseAddr(r.Gateway)
		if err != nil || badGateway != nil || r.Interface != nic.Name || via.IsUnspecified() || to.Is4() != a.Is4() {
			continue
		}
		if bits := leastBits(to); netip.PrefixFrom(to, bits).Contains(a) {
			ways = append(ways, way{via, bits, int(r.Metric)})
		}
	}
	if len(ways) == 0 {
		return netip.Addr{}, false
	}
	return slices.MinFunc(ways, func(x, y way) int { return cmp.Or(cmp.Compare(y.bits, x.bits), cmp.Compare(x.metric, y.metric)) }).via, true
}

// leastBits is the length of the shortest network that begins with the address.
func leastBits(a netip.Addr) int {
	for bits := range a.BitLen() {
		if netip.PrefixFrom(a, bits).Masked().Addr() == a {
			return bits
		}
	}
	return a.BitLen()
}
