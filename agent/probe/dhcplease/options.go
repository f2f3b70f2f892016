package dhcplease

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
)

// infinite is a time that never ends, RFC 2131, section 3.3.
const infinite = 0xffffffff

// maxAddresses bounds the addresses of one option.
const maxAddresses = 16

// option is one that a lease keeps: its code, dhclient's word for it, and how its value is written.
type option struct {
	code  dhcpv4.OptionCode
	name  string
	print func(value []byte) string
}

// kept are the options that are asked for and kept, those of dhclient.conf(5)'s default.
var kept = []option{
	{dhcpv4.OptionSubnetMask, "subnet-mask", addresses},
	{dhcpv4.OptionRouter, "routers", addresses},
	{dhcpv4.OptionIPAddressLeaseTime, "dhcp-lease-time", number},
	{dhcpv4.OptionDHCPMessageType, "dhcp-message-type", number},
	{dhcpv4.OptionDomainNameServer, "domain-name-servers", addresses},
	{dhcpv4.OptionServerIdentifier, "dhcp-server-identifier", addresses},
	{dhcpv4.OptionRenewTimeValue, "dhcp-renewal-time", number},
	{dhcpv4.OptionRebindingTimeValue, "dhcp-rebinding-time", number},
	{dhcpv4.OptionBroadcastAddress, "broadcast-address", addresses},
	{dhcpv4.OptionHostName, "host-name", quoted},
	{dhcpv4.OptionDomainName, "domain-name", quoted},
	{dhcpv4.OptionNTPServers, "ntp-servers", addresses},
	{dhcpv4.OptionInterfaceMTU, "interface-mtu", number},
}

// wanted are the codes that a request lists; the server sends the others unasked.
func wanted() []dhcpv4.OptionCode {
	codes := make([]dhcpv4.OptionCode, 0, len(kept))
	for _, o := range kept {
		switch o.code {
		case dhcpv4.OptionDHCPMessageType, dhcpv4.OptionServerIdentifier, dhcpv4.OptionIPAddressLeaseTime:
		default:
			codes = append(codes, o.code)
		}
	}
	return codes
}

// leaseOf turns the server's acknowledgement into a lease. Values that do not
// have their form are left out: servers are not trusted.
func leaseOf(ack *dhcpv4.DHCPv4, name string, now time.Time) (Lease, error) {
	address, ok := netip.AddrFromSlice(ack.YourIPAddr.To4())
	if !ok || !usable(address) {
		return Lease{}, fmt.Errorf("the server gave %v, which is not the address of a host", ack.YourIPAddr)
	}
	lease := Lease{Interface: name, Address: address}
	for _, o := range kept {
		if value := ack.Options.Get(o.code); len(value) > 0 {
			if text := o.print(value); text != "" {
				lease.Options = append(lease.Options, o.name+" "+text)
			}
		}
	}
	total := seconds(ack, dhcpv4.OptionIPAddressLeaseTime, infinite)
	if total != infinite {
		lease.Expire = after(now, total)
		lease.Renew = after(now, min(total, seconds(ack, dhcpv4.OptionRenewTimeValue, total/2)))
		lease.Rebind = after(now, min(total, seconds(ack, dhcpv4.OptionRebindingTimeValue, total/8*7)))
	}
	return lease, nil
}

func after(now time.Time, seconds uint32) time.Time {
	return now.Add(time.Duration(seconds) * time.Second).Truncate(time.Second)
}

func seconds(m *dhcpv4.DHCPv4, code dhcpv4.OptionCode, otherwise uint32) uint32 {
	value := m.Options.Get(code)
	if len(value) != 4 {
		return otherwise
	}
	return binary.BigEndian.Uint32(value)
}

func addresses(value []byte) string {
	if len(value)%net.IPv4len != 0 || len(value) > maxAddresses*net.IPv4len {
		return ""
	}
	var all []string
	for len(value) > 0 {
		all = append(all, netip.AddrFrom4([4]byte(value)).String())
		value = value[net.IPv4len:]
	}
	return strings.Join(all, ",")
}

func number(value []byte) string {
	switch len(value) {
	case 1:
		return fmt.Sprint(value[0])
	case 2:
		return fmt.Sprint(binary.BigEndian.Uint16(value))
	case 4:
		return fmt.Sprint(binary.BigEndian.Uint32(value))
	}
	return ""
}

// quoted writes a name. Anything that is no name, such as a text with the quote that ends it, is left out.
func quoted(value []byte) string {
	text := strings.TrimRight(string(value), "\x00")
	for _, c := range []byte(text) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`";{}\`, c) >= 0 {
			return ""
		}
	}
	if text == "" {
		return ""
	}
	return `"` + text + `"`
}
