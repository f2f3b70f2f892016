package vm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ironflow/ironflow/test/lab/emulator"
)

// maxOrders bounds what the BMC may ask for before the machine has followed.
const maxOrders = 16

// Machine is a machine. Its methods may be called from any goroutine; Close
// ends it.
type Machine struct {
	config Config
	// sockets is a folder with a short path, as sockets need it.
	sockets string
	orders  chan order
	stop    context.CancelFunc
	done    chan struct{}

	mu sync.Mutex
	// board is what the BMC shows.
	board emulator.SystemChange
	// forced is the order of [Machine.SetOrder].
	forced []Source
	// life is the running QEMU, or nil.
	life    *life
	counter int

	// The rest of the fields belongs to the goroutine of run.
	state state
	// again starts the machine once it has switched itself off.
	again bool
	// told is when the BMC was last told of the machine's own doing.
	told time.Time

	recording sync.Mutex
	events    []Event
	news      chan struct{}
}

// order is something that the machine is to do.
type order struct {
	action action
	// self is for what nobody has told the BMC.
	self bool
	// media makes the drive hold what the BMC shows, eject empties it.
	media, eject bool
	// why is for the events.
	why string
	// taken is when the BMC asked; zero for others.
	taken time.Time
	// done is closed afterwards, if somebody waits.
	done chan struct{}
}

// New makes a machine, switched off, with its disks. It ends with the context,
// too. Its BMC must be told of it by the caller, see [Machine.System].
func New(ctx context.Context, config Config) (*Machine, error) {
	config, err := config.complete()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(config.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("machine %s: %w", config.Name, err)
	}
	m := &Machine{
		config: config, orders: make(chan order, maxOrders), done: make(chan struct{}), state: off, news: make(chan struct{}),
		board: emulator.SystemChange{UUID: config.UUID, Name: config.Name, PowerState: emulator.PowerOff},
	}
	for i, disk := range config.Disks {
		if err := makeDisk(m.DiskPath(i), disk.SizeMiB); err != nil {
			return nil, fmt.Errorf("machine %s: disk %d: %w", config.Name, i, err)
		}
	}
	if m.sockets, err = os.MkdirTemp("", "vm-"); err != nil {
		return nil, fmt.Errorf("machine %s: %w", config.Name, err)
	}
	ctx, m.stop = context.WithCancel(ctx)
	go m.run(ctx)
	return m, nil
}

// makeDisk makes a disk of zeros that takes no room, unless it is there.
func makeDisk(path string, sizeMiB int) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil && info.Size() == 0 {
		err = file.Truncate(int64(sizeMiB) << 20)
	}
	return errors.Join(err, file.Close())
}

// Close takes the power away and ends the machine. Its files stay.
func (m *Machine) Close() error {
	m.stop()
	<-m.done
	return os.RemoveAll(m.sockets)
}

// System is the machine as its BMC is told of it.
func (m *Machine) System() emulator.System {
	system := emulator.System{UUID: m.config.UUID, Name: m.config.Name}
	for _, nic := range m.config.NICs {
		system.NICs = append(system.NICs, emulator.NIC{MAC: nic.MAC})
	}
	return system
}

// Take implements bmc.Taker: it takes what the BMC was told, and follows
// afterwards.
func (m *Machine) Take(change emulator.SystemChange) error {
	if err := acceptable(change); err != nil {
		return fmt.Errorf("machine %s: %w", m.config.Name, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var o order
	switch change.Change {
	case emulator.ChangePower:
		o = order{why: string(change.Reset), taken: time.Now()}
		if change.Reset == emulator.ResetForceOff || change.Reset == emulator.ResetForceRestart {
			// Whatever the machine waits for now has no meaning any more.
			m.life.interrupt()
		}
	case emulator.ChangeMedia:
		o = order{media: true}
	default:
		m.board = change
		return nil
	}
	select {
	case m.orders <- o:
	default:
		return fmt.Errorf("machine %s has not followed the last %d requests yet; try again", m.config.Name, maxOrders)
	}
	m.board = change
	return nil
}

// Later implements bmc.Slow: a shutdown is the guest's own work, and the BMC
// shows the machine as on until it is done.
func (m *Machine) Later(change emulator.SystemChange) bool {
	return change.Change == emulator.ChangePower && change.Reset == emulator.ResetGracefulShutdown
}

// ask gives the machine an order and waits until it is done.
func (m *Machine) ask(ctx context.Context, o order) error {
	o.done = make(chan struct{})
	select {
	case m.orders <- o:
	case <-m.done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case <-o.done:
		return nil
	case <-m.done:
		return fmt.Errorf("machine %s has been closed", m.config.Name)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// powered is the running QEMU.
func (m *Machine) powered() (*life, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.life == nil || m.life.qmp == nil {
		return nil, fmt.Errorf("machine %s is off", m.config.Name)
	}
	return m.life, nil
}

// On says whether the machine has power.
func (m *Machine) On() bool {
	_, err := m.powered()
	return err == nil
}

// count returns a new number each time.
func (m *Machine) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counter++
	return m.counter
}

// DiskPath is the file of the n-th disk: its raw content.
func (m *Machine) DiskPath(n int) string {
	return filepath.Join(m.config.Dir, diskDevice(n)+".img")
}

// JournalLog is the file that has what the machine wrote on its second console, a
// paravirtual one (/dev/hvc0), over all starts. Media of package medium write their
// journal there.
func (m *Machine) JournalLog() string { return filepath.Join(m.config.Dir, JournalFile) }
