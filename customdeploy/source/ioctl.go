package source

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// permAddr is struct ethtool_perm_addr with room for an InfiniBand address.
type permAddr struct {
	command, size uint32
	address       [32]byte
}

// ifreq is struct ifreq with a pointer in its union.
type ifreq struct {
	name [unix.IFNAMSIZ]byte
	data unsafe.Pointer
	_    [16]byte
}

// PermanentMAC implements [Kernel].
func (Linux) PermanentMAC(nic string) (string, error) {
	if len(nic) >= unix.IFNAMSIZ {
		return "", fmt.Errorf("interface name %q is too long", nic)
	}
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return "", fmt.Errorf("open a socket for ethtool: %w", err)
	}
	defer func() { _ = unix.Close(socket) }()
	address := permAddr{command: unix.ETHTOOL_GPERMADDR, size: 32}
	request := ifreq{data: unsafe.Pointer(&address)} //nolint:gosec // the layout that ethtool's ioctl demands
	copy(request.name[:], nic)
	if err := ioctl(socket, unix.SIOCETHTOOL, unsafe.Pointer(&request)); err != nil { //nolint:gosec // see above
		return "", errors.Join(ErrNoAnswer, err)
	}
	runtime.KeepAlive(&address)
	if address.size > 32 || allZero(address.address[:address.size]) {
		return "", ErrNoAnswer
	}
	return net.HardwareAddr(address.address[:address.size]).String(), nil
}

func allZero(raw []byte) bool {
	for _, b := range raw {
		if b != 0 {
			return false
		}
	}
	return true
}

// sgIO is struct sg_io_hdr.
type sgIO struct {
	interfaceID    int32
	direction      int32
	cmdLen         uint8
	maxSense       uint8
	iovecCount     uint16
	transferLen    uint32
	transfer       unsafe.Pointer
	command        unsafe.Pointer
	sense          unsafe.Pointer
	timeout        uint32 // milliseconds
	flags          uint32
	packID         int32
	userPointer    unsafe.Pointer
	status         uint8
	maskedStatus   uint8
	messageStatus  uint8
	senseWritten   uint8
	hostStatus     uint16
	driverStatus   uint16
	residual       int32
	duration, info uint32
}

const (
	sgIORequest    = 0x2285
	sgFromDevice   = -3
	inquiryCommand = 0x12
	inquiryLength  = 252
	inquiryTimeout = 2000
)

// Inquiry implements [Kernel].
func (l Linux) Inquiry(device string, page byte) ([]byte, error) {
	f, err := os.OpenFile(l.Dir.Path(device), os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, errors.Join(ErrNoAnswer, err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Mode()&fs.ModeDevice == 0 {
		return nil, ErrNoAnswer
	}
	var (
		data    [inquiryLength]byte
		sense   [32]byte
		command = [6]byte{inquiryCommand, 1, page, 0, inquiryLength, 0}
	)
	header := sgIO{
		interfaceID: 'S', direction: sgFromDevice, cmdLen: uint8(len(command)), maxSense: uint8(len(sense)), transferLen: inquiryLength, timeout: inquiryTimeout,
		transfer: unsafe.Pointer(&data), command: unsafe.Pointer(&command), sense: unsafe.Pointer(&sense), //nolint:gosec // the layout that SG_IO demands
	}
	err = ioctl(int(f.Fd()), sgIORequest, unsafe.Pointer(&header)) //nolint:gosec // see above
	runtime.KeepAlive(&data)
	runtime.KeepAlive(&sense)
	runtime.KeepAlive(&command)
	if err != nil {
		return nil, errors.Join(ErrNoAnswer, err)
	}
	if header.status != 0 || header.hostStatus != 0 || header.driverStatus != 0 || header.residual < 0 || header.residual > inquiryLength {
		return nil, ErrNoAnswer
	}
	return data[:inquiryLength-header.residual], nil
}

func ioctl(fd int, request uint, argument unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), uintptr(request), uintptr(argument)); errno != 0 {
		return errno
	}
	return nil
}
