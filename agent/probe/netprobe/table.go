package netprobe

import (
	"net/netip"

	"github.com/vishvananda/netlink"
)

// Table is the kernel's table of neighbours, which takes about 1,000 of them.
// Every host on the link that is pinged gets an entry; a check of a large cluster
// would fill the table, and nobody could reach anybody.
type Table struct {
	known map[netip.Addr]bool
}

// OpenTable remembers who is in the table now.
func OpenTable() (*Table, error) {
	entries, err := netlink.NeighList(0, netlink.FAMILY_ALL)
	if err != nil {
		return nil, err
	}
	t := &Table{known: map[netip.Addr]bool{}}
	for _, e := range entries {
		if address, ok := netip.AddrFromSlice(e.IP); ok {
			t.known[address.Unmap()] = true
		}
	}
	return t, nil
}

// Forget removes the entries of an address that was not there before, on the
// interfaces of the given indexes. Who needs such an entry later finds it again.
func (t *Table) Forget(address netip.Addr, links []int) {
	if t == nil || t.known[address] {
		return
	}
	for _, index := range links {
		// It is there on one of them at most.
		_ = netlink.NeighDel(&netlink.Neigh{LinkIndex: index, IP: address.AsSlice()})
	}
}
