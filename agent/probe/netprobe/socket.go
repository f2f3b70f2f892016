package netprobe

import (
	"fmt"
	"net"

	"github.com/mdlayher/packet"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

const (
	protocolARP  = unix.ETH_P_ARP
	protocolIPv6 = unix.ETH_P_IPV6
	errNetDown   = unix.ENETDOWN
)

// listen opens a packet socket for ARP packets or neighbour advertisements. The
// kernel drops all others, so that a busy host costs nothing.
func listen(nic *net.Interface, protocol int) (socket, error) {
	program := []bpf.Instruction{
		// Frames of VLANs that this interface is not in are shown as another host's.
		bpf.LoadExtension{Num: bpf.ExtType},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.PACKET_OTHERHOST, SkipTrue: 1},
		bpf.RetConstant{Val: maxAdvertisement},
		bpf.RetConstant{Val: 0},
	}
	if protocol == protocolIPv6 {
		program = []bpf.Instruction{
			bpf.LoadExtension{Num: bpf.ExtType},
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.PACKET_OTHERHOST, SkipTrue: 5},
			bpf.LoadAbsolute{Off: ipv6NextHeader, Size: 1},
			bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: protocolICMPv6, SkipTrue: 3},
			bpf.LoadAbsolute{Off: ipv6Header, Size: 1},
			bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: ndpAdvertisement, SkipTrue: 1},
			bpf.RetConstant{Val: maxAdvertisement},
			bpf.RetConstant{Val: 0},
		}
	}
	filter, err := bpf.Assemble(program)
	if err != nil {
		return nil, err
	}
	conn, err := packet.Listen(nic, packet.Datagram, protocol, &packet.Config{Filter: filter})
	if err != nil {
		return nil, fmt.Errorf("open a packet socket on %s: %w", nic.Name, err)
	}
	return conn, nil
}
