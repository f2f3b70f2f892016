package places

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// Rendezvous reads the value of [NodeZeroIP]: one address, or several of the same host.
func Rendezvous(text string) ([]netip.Addr, error) {
	var all []netip.Addr
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		addr, err := netip.ParseAddr(strings.Trim(word, "[]"))
		addr = addr.Unmap()
		switch {
		case err != nil:
			return nil, fmt.Errorf("%q is not an address", word)
		case addr.IsLinkLocalUnicast() || addr.Zone() != "":
			return nil, fmt.Errorf("%s is an address of one link only, which the other hosts cannot use", addr)
		case addr.IsUnspecified() || addr.IsMulticast() || addr.IsLoopback():
			return nil, fmt.Errorf("%s is not the address of a host", addr)
		}
		all = append(all, addr)
	}
	if len(all) == 0 {
		return nil, errors.New("no address is given")
	}
	return all, nil
}
