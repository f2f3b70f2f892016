// Package netprobe asks a network who is there, with packets of its own and no
// program: ARP (RFC 826) and neighbour discovery (RFC 4861) over packet sockets,
// ICMP echo (RFC 792, RFC 4443) over raw sockets. [Neighbors] asks on one
// interface for the owners of addresses, one by one or a whole network at once;
// [Ping] counts echoes. How many packets leave, and how fast, is a [Pace]; no
// more than [MaxAtOnce] probes run at a time.
//
// What comes from the wire is hostile: packets are parsed by pure functions,
// and what is kept of them is bounded. Both kinds of socket need CAP_NET_RAW.
package netprobe
