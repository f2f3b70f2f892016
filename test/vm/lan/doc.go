// Package lan is a network on this machine for machines of test/vm: a bridge that
// has an address here, a DHCP and DNS server (dnsmasq), a tap for each network
// card, to which it announces itself by LLDP as switches do, and VLANs. It has no way
// out. It needs root; the devices end with [Network.Close], and those of a process
// that was killed with the next [Start].
//
// VLANs need nothing of the kernel: tagged frames pass a bridge as they are, and
// a relay between two taps takes the tags off for this machine.
package lan
