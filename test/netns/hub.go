package netns

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// hub is a segment in user space: it hands each frame to every other port, and
// loses those that it is told to.
type hub struct {
	t testing.TB

	mu    sync.Mutex
	ports []*hubPort
	relay sync.WaitGroup
}

type hubPort struct {
	tap  *os.File
	loss float64
	seed uint64
	// luck decides on the frames of an EtherType, one after the other.
	luck map[uint16]*rand.Rand
}

// ethernetHeader is destination, source and EtherType.
const ethernetHeader = 14

func newHub(t testing.TB) *hub {
	h := &hub{t: t}
	t.Cleanup(func() {
		h.mu.Lock()
		for _, p := range h.ports {
			_ = p.tap.Close()
		}
		h.mu.Unlock()
		h.relay.Wait()
	})
	return h
}

// plug makes a tap device in the host's namespace; its other end is read here.
func (h *hub) plug(host *Host, nic NIC) error {
	p := &hubPort{loss: nic.Loss, seed: nic.Seed, luck: map[uint16]*rand.Rand{}}
	err := onThread(host.handle, func() (err error) {
		p.tap, err = newTap(nic.Name)
		return err
	})
	if err != nil {
		return err
	}
	h.mu.Lock()
	h.ports = append(h.ports, p)
	h.mu.Unlock()
	h.relay.Go(func() { h.forward(p) })
	return host.dress(nic)
}

// forward relays what a port sends, until its tap is closed.
func (h *hub) forward(from *hubPort) {
	frame := make([]byte, 1<<16)
	for {
		n, err := from.tap.Read(frame)
		if err != nil {
			return
		}
		if n < ethernetHeader || from.loses(binary.BigEndian.Uint16(frame[12:])) {
			continue
		}
		h.mu.Lock()
		for _, to := range h.ports {
			if to != from {
				// A port that is down loses frames, as a cable does.
				_, _ = to.tap.Write(frame[:n])
			}
		}
		h.mu.Unlock()
	}
}

// loses tells whether the next frame of the EtherType is lost.
func (p *hubPort) loses(etherType uint16) bool {
	luck := p.luck[etherType]
	if luck == nil {
		luck = rand.New(rand.NewPCG(p.seed, uint64(etherType))) //nolint:gosec // it has to be the same each time
		p.luck[etherType] = luck
	}
	return luck.Float64() < p.loss
}

// newTap makes a tap device in the namespace of the calling thread. It lives as
// long as the file.
func newTap(name string) (*os.File, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: "/dev/net/tun", Err: err}
	}
	request, err := unix.NewIfreq(name)
	if err == nil {
		request.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, request)
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, os.NewSyscallError("TUNSETIFF", err)
	}
	return os.NewFile(uintptr(fd), "tap "+name), nil
}
