package needs

import (
	"net"
	"net/netip"
	"os"
	"testing"
)

// Address returns an address of this machine that is none of its loopback or link, for
// what means another machine by those.
func Address(t testing.TB) netip.Addr {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		prefix, err := netip.ParsePrefix(a.String())
		if at := prefix.Addr(); err == nil && at.Is4() && at.IsGlobalUnicast() {
			return at
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("this machine has no IPv4 address but loopback and link-local ones")
	}
	t.Skip("this machine has no IPv4 address but loopback and link-local ones")
	return netip.Addr{}
}
