// Package diskwrites is a disk that remembers in which order it was written: a network
// block device whose server is in this process. A test looks at the disk as a loss of power
// would have left it, after any of its writes ([Disk.After]), or with some of those that were
// not flushed yet missing ([Disk.Losing]). The main type is [Disk].
package diskwrites

import (
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Requests of the kernel's ioctl interface: include/uapi/linux/nbd.h.
const (
	setSocket    = 0xab00
	setBlockSize = 0xab01
	doIt         = 0xab03
	clearSocket  = 0xab04
	setBlocks    = 0xab07
	disconnect   = 0xab08
	setFlags     = 0xab0a
)

// What goes over the socket, from the same file.
const (
	requestMagic = 0x25609513
	replyMagic   = 0x67446698
	commandRead  = 0
	commandWrite = 1
	commandEnd   = 2
	commandFlush = 3
	hasFlags     = 1
	sendFlush    = 4
	sectorBytes  = 512
)

// Need skips the test where the kernel has no network block devices. It says in which test a
// guest with Debian's kernel runs it instead.
func Need(t testing.TB, instead string) {
	t.Helper()
	if !Has() {
		t.Skipf("this kernel has no network block devices: %s runs this in a guest", instead)
	}
}

// Has tells whether the kernel has network block devices.
func Has() bool {
	_, err := os.Stat("/sys/block/nbd0")
	return err == nil
}

// write is one of the kernel's.
type write struct {
	at  int64
	raw []byte
	// epoch counts the flushes before it.
	epoch int
}

// Disk is a device that is written to.
type Disk struct {
	// Device is its path.
	Device string
	before []byte

	mu     sync.Mutex
	now    []byte
	writes []write
	epoch  int
}

// Attach makes the content a disk, until the test ends. The kernel has read its partitions when it returns.
func Attach(t testing.TB, content []byte) *Disk {
	t.Helper()
	const device = "/dev/nbd0"
	d := &Disk{Device: device, before: slices.Clone(content), now: slices.Clone(content)}
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	must(t, err)
	file := os.NewFile(uintptr(fds[0]), "disk")
	conn, err := net.FileConn(file)
	must(t, errors.Join(err, file.Close()))
	node, err := os.OpenFile(device, os.O_RDWR, 0)
	must(t, err)
	for _, c := range []struct {
		request uint
		value   int
	}{{setBlockSize, sectorBytes}, {setBlocks, len(content) / sectorBytes}, {setFlags, hasFlags | sendFlush}, {setSocket, fds[1]}} {
		must(t, unix.IoctlSetInt(int(node.Fd()), c.request, c.value))
	}
	var ends sync.WaitGroup
	ends.Go(func() { d.serve(conn) })
	ends.Go(func() { _ = unix.IoctlSetInt(int(node.Fd()), doIt, 0) }) // until it is disconnected
	t.Cleanup(func() {
		_ = unix.IoctlSetInt(int(node.Fd()), disconnect, 0) // the server may be gone
		_ = conn.Close()
		ends.Wait()
		_ = unix.IoctlSetInt(int(node.Fd()), clearSocket, 0)
		if err := errors.Join(unix.Close(fds[1]), node.Close()); err != nil {
			t.Error(err)
		}
	})
	for { // until the kernel says that the device has its server
		if _, err := os.Stat("/sys/block/nbd0/pid"); err == nil {
			break
		}
		select {
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
	must(t, unix.IoctlSetInt(int(node.Fd()), unix.BLKRRPART, 0))
	return d
}

// serve answers the kernel.
func (d *Disk) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }() // the kernel answers no more, either
	var head [28]byte
	for {
		if _, err := io.ReadFull(conn, head[:]); err != nil || binary.BigEndian.Uint32(head[:]) != requestMagic {
			return
		}
		at, length := int64(binary.BigEndian.Uint64(head[16:])), int(binary.BigEndian.Uint32(head[24:]))
		answer := binary.BigEndian.AppendUint32(nil, replyMagic)
		answer = append(binary.BigEndian.AppendUint32(answer, 0), head[8:16]...)
		switch binary.BigEndian.Uint32(head[4:]) & 0xffff {
		case commandRead:
			answer = append(answer, d.read(at, length)...)
		case commandWrite:
			raw := make([]byte, length)
			if _, err := io.ReadFull(conn, raw); err != nil {
				return
			}
			d.write(at, raw)
		case commandFlush:
			d.flush()
		case commandEnd:
			return
		}
		if _, err := conn.Write(answer); err != nil {
			return
		}
	}
}

func (d *Disk) read(at int64, length int) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.now[at : at+int64(length)])
}

func (d *Disk) write(at int64, raw []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	copy(d.now[at:], raw)
	d.writes = append(d.writes, write{at, raw, d.epoch})
}

func (d *Disk) flush() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.epoch++
}

// Writes is how many there were.
func (d *Disk) Writes() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.writes)
}

// After is the content when the power was lost after that many writes, of which each has
// reached the disk.
func (d *Disk) After(n int) []byte { return d.without(n, func(write) bool { return false }) }

// Losing is the same for a disk with a cache: each of the writes after the last flush may be
// missing.
func (d *Disk) Losing(n int, random *rand.Rand) []byte {
	d.mu.Lock()
	epoch := d.epoch
	if n < len(d.writes) {
		epoch = d.writes[n].epoch
	}
	d.mu.Unlock()
	return d.without(n, func(w write) bool { return w.epoch == epoch && random.IntN(2) == 0 })
}

func (d *Disk) without(n int, lost func(write) bool) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := slices.Clone(d.before)
	for _, w := range d.writes[:n] {
		if !lost(w) {
			copy(out[w.at:], w.raw)
		}
	}
	return out
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
