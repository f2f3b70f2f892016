package lan

import (
	"encoding/binary"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// SwitchName is what the network calls itself towards its ports.
const SwitchName = "switch.lab.example"

// announceEvery is the pause between two announcements. Switches take 30 s;
// ironic-python-agent waits twice in each boot until it has heard one on every card.
const announceEvery = time.Second

// The type field of LLDP's frames, and the types of the values in them.
const (
	lldpType                                  = 0x88cc
	tlvEnd, tlvChassis, tlvPort, tlvLife      = 0, 1, 2, 3
	tlvSystemName                             = 5
	chassisIsAddress, portIsInterface    byte = 4, 5
	// life is how long an announcement is good for, in seconds.
	life = 120
)

// nearestBridge is the address of LLDP's frames, which no bridge passes on.
var nearestBridge = [6]byte{0x01, 0x80, 0xc2, 0, 0, 0x0e}

// announcement is the frame that tells a port what it is plugged into.
func announcement(from net.HardwareAddr, port string) []byte {
	frame := append(nearestBridge[:], from...)
	frame = binary.BigEndian.AppendUint16(frame, lldpType)
	frame = tlv(frame, tlvChassis, append([]byte{chassisIsAddress}, from...))
	frame = tlv(frame, tlvPort, append([]byte{portIsInterface}, port...))
	frame = tlv(frame, tlvLife, binary.BigEndian.AppendUint16(nil, life))
	frame = tlv(frame, tlvSystemName, []byte(SwitchName))
	return tlv(frame, tlvEnd, nil)
}

// tlv appends a value: seven bits of type, nine of length.
func tlv(frame []byte, kind int, value []byte) []byte {
	frame = binary.BigEndian.AppendUint16(frame, uint16(kind<<9|len(value)))
	return append(frame, value...)
}

// announcer is the switch's side of LLDP. Its ports are taps.
type announcer struct {
	socket int
	from   net.HardwareAddr
	stop   chan struct{}
	work   sync.WaitGroup

	mu    sync.Mutex
	ports map[int][]byte // frames by the device's index
}

// startAnnouncer announces the bridge on each port that is added.
func startAnnouncer(bridge netlink.Link) (*announcer, error) {
	// The name again: the kernel has chosen the address.
	link, err := netlink.LinkByName(bridge.Attrs().Name)
	if err != nil {
		return nil, fmt.Errorf("hardware address of the bridge: %w", err)
	}
	socket, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("socket for LLDP: %w", err)
	}
	a := &announcer{socket: socket, from: link.Attrs().HardwareAddr, stop: make(chan struct{}), ports: map[int][]byte{}}
	a.work.Go(a.run)
	return a, nil
}

// add makes a tap a port.
func (a *announcer) add(tap netlink.Link) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ports[tap.Attrs().Index] = announcement(a.from, tap.Attrs().Name)
}

func (a *announcer) run() {
	tick := time.NewTicker(announceEvery)
	defer tick.Stop()
	for {
		select {
		case <-a.stop:
			return
		case <-tick.C:
			a.announce()
		}
	}
}

// announce sends one frame to each port. A port without a cable loses it.
func (a *announcer) announce() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for index, frame := range a.ports {
		_ = unix.Sendto(a.socket, frame, 0, &unix.SockaddrLinklayer{Ifindex: index, Halen: 6, Addr: [8]byte(append(nearestBridge[:], 0, 0))})
	}
}

// close ends the announcements.
func (a *announcer) close() error {
	close(a.stop)
	a.work.Wait()
	return unix.Close(a.socket)
}
