package source

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The kernel's interface to a BMC, include/uapi/linux/ipmi.h.
const (
	ipmiDevice                = "/dev/ipmi0"
	ipmiSystemInterface       = 0x0c
	ipmiBMCChannel            = 0x0f
	ipmiResponse              = 1
	ipmiMaxReply              = 256
	ipmiReplyLimit            = 2 * time.Second
	iocRead, iocWrite         = 2, 1
	ipmiMagic                 = 'i'
	ipmiSendCommand           = 13
	ipmiReceiveMsgTrunc       = 11
	ioctlSizeShift            = 16
	ioctlDirectionShift       = 30
	ioctlTypeShift            = 8
	ipmiSequence        int64 = 1
)

// ipmiAddress is struct ipmi_system_interface_addr.
type ipmiAddress struct {
	addressType int32
	channel     int16
	lun         uint8
}

// ipmiMessage is struct ipmi_msg.
type ipmiMessage struct {
	netFn, command uint8
	length         uint16
	data           unsafe.Pointer
}

// ipmiSend is struct ipmi_req.
type ipmiSend struct {
	address       unsafe.Pointer
	addressLength uint32
	id            int64
	message       ipmiMessage
}

// ipmiReceive is struct ipmi_recv.
type ipmiReceive struct {
	kind          int32
	address       unsafe.Pointer
	addressLength uint32
	id            int64
	message       ipmiMessage
}

// IPMI implements [Kernel].
func (l Linux) IPMI(ctx context.Context, request IPMIRequest) ([]byte, error) {
	f, err := os.OpenFile(l.Dir.Path(ipmiDevice), os.O_RDWR, 0)
	if err != nil {
		return nil, errors.Join(ErrNoAnswer, err)
	}
	defer f.Close()
	fd := int(f.Fd())
	if err := sendIPMI(fd, request); err != nil {
		return nil, fmt.Errorf("send IPMI request %#x/%#x: %w", request.NetFn, request.Command, err)
	}
	limit := time.Now().Add(ipmiReplyLimit)
	if d, ok := ctx.Deadline(); ok && d.Before(limit) {
		limit = d
	}
	for {
		left := time.Until(limit)
		if left <= 0 || ctx.Err() != nil {
			return nil, fmt.Errorf("IPMI request %#x/%#x: no reply of the BMC in time", request.NetFn, request.Command)
		}
		// Short waits, so that a cancelled context is heard.
		ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(ready, int(min(left, 100*time.Millisecond)/time.Millisecond)+1)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return nil, fmt.Errorf("wait for the BMC: %w", err)
		}
		if n <= 0 {
			continue
		}
		reply, ours, err := receiveIPMI(fd)
		if err != nil || ours {
			return reply, err
		}
	}
}

func sendIPMI(fd int, request IPMIRequest) error {
	address := ipmiAddress{addressType: ipmiSystemInterface, channel: ipmiBMCChannel}
	message := ipmiMessage{netFn: request.NetFn, command: request.Command, length: uint16(len(request.Data))}
	if len(request.Data) > 0 {
		message.data = unsafe.Pointer(&request.Data[0]) //nolint:gosec // the layout that the driver demands
	}
	send := ipmiSend{address: unsafe.Pointer(&address), addressLength: uint32(unsafe.Sizeof(address)), id: ipmiSequence, message: message} //nolint:gosec // see above
	err := ioctl(fd, ipmiRequest(iocRead, ipmiSendCommand, unsafe.Sizeof(send)), unsafe.Pointer(&send))                                    //nolint:gosec // see above
	runtime.KeepAlive(&address)
	runtime.KeepAlive(request.Data)
	return err
}

// receiveIPMI takes one message from the queue; ours is false for events and
// the like, which are dropped.
func receiveIPMI(fd int) (reply []byte, ours bool, err error) {
	var (
		address [32]byte
		data    [ipmiMaxReply]byte
	)
	receive := ipmiReceive{
		address: unsafe.Pointer(&address), addressLength: uint32(len(address)), //nolint:gosec // see above
		message: ipmiMessage{data: unsafe.Pointer(&data), length: ipmiMaxReply}, //nolint:gosec // see above
	}
	err = ioctl(fd, ipmiRequest(iocRead|iocWrite, ipmiReceiveMsgTrunc, unsafe.Sizeof(receive)), unsafe.Pointer(&receive)) //nolint:gosec // see above
	runtime.KeepAlive(&address)
	runtime.KeepAlive(&data)
	if err != nil && !errors.Is(err, unix.EMSGSIZE) {
		return nil, false, fmt.Errorf("read the BMC's reply: %w", err)
	}
	if receive.kind != ipmiResponse || receive.id != ipmiSequence {
		return nil, false, nil
	}
	return data[:min(int(receive.message.length), ipmiMaxReply)], true, nil
}

// ipmiRequest is the number of an ioctl of the IPMI driver (_IOR, _IOWR).
func ipmiRequest(direction, number uint, size uintptr) uint {
	return direction<<ioctlDirectionShift | uint(size)<<ioctlSizeShift | ipmiMagic<<ioctlTypeShift | number
}
