package ironictest

import (
	"context"
	"crypto/x509"
	"log/slog"
	"slices"
	"sync"

	"github.com/ironflow/ironflow/test/lab/emulator"
	"github.com/ironflow/ironflow/test/machine/ipa"
	"github.com/ironflow/ironflow/test/scenario/generate"
)

// Machine is a machine with a BMC.
type Machine struct {
	// System is the UUID of its system at the BMC.
	System string
	// MAC is the address of its one network interface.
	MAC string

	hall    *Hall
	board   board
	mu      sync.Mutex
	cancel  context.CancelFunc // nil while nothing runs on it
	changes int
	boots   []emulator.BootDevice
}

// board is a machine's BMC: the emulator or the simulator.
type board struct {
	// URL is its address without a path.
	URL, User, Password string

	address  func(system string) string
	setPower func(ctx context.Context, system string, power emulator.Power) error
}

// Address is the machine's address as a BareMetalHost's spec.bmc.address has it.
func (m *Machine) Address() string { return m.board.address(m.System) }

// Credentials are those of the machine's BMC.
func (m *Machine) Credentials() (user, password string) { return m.board.User, m.board.Password }

// DriverInfo is what a node needs to know of the machine.
func (m *Machine) DriverInfo() map[string]any {
	return map[string]any{
		"redfish_address": m.board.URL, "redfish_system_id": "/redfish/v1/Systems/" + m.System,
		"redfish_username": m.board.User, "redfish_password": m.board.Password, "redfish_verify_ca": m.hall.Lab.CAFile, "deploy_iso": liveISO,
	}
}

// Take implements bmc.Taker.
func (m *Machine) Take(c emulator.SystemChange) error {
	if c.Change != emulator.ChangePower {
		return nil
	}
	m.mu.Lock()
	m.changes++
	m.mu.Unlock()
	m.end()
	// What a machine reads over the network is not played: its ramdisk runs as if it were there.
	medium, network := c.BootDevice == emulator.BootCd && len(c.Media) > 0, c.BootDevice == emulator.BootPxe
	if c.PowerState == emulator.PowerOn && (medium || network) {
		m.mu.Lock()
		m.boots = append(m.boots, c.BootDevice)
		m.mu.Unlock()
		m.boot()
	}
	return nil
}

// Boots are the devices that it has booted a ramdisk from, in order.
func (m *Machine) Boots() []emulator.BootDevice {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.boots)
}

// PowerChanges counts how often the BMC was told to switch the machine.
func (m *Machine) PowerChanges() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changes
}

func (m *Machine) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cancel != nil {
		m.cancel()
		m.cancel = nil
	}
}

func (m *Machine) boot() {
	m.mu.Lock()
	defer m.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	m.cancel = cancel
	url := m.hall.Ironic.URL
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(m.hall.Ironic.CA)
	s := generate.Machine(0, generate.Options{})
	s.Hardware.NICs = s.Hardware.NICs[:1]
	s.Hardware.NICs[0].MAC = m.MAC
	m.hall.running.Go(func() {
		_ = ipa.Run(ctx, ipa.Options{ // ends with the machine; what matters shows on the node
			Config: ipa.Config{APIURLs: []string{url}, InspectionURLs: []string{url + "/v1/continue_inspection"}, Collectors: []string{"default"}},
			Roots:  roots, Inventory: ipa.NewInventory(s), Managers: m.hall.managers, WriteImage: m.hall.write, Power: m, Log: slog.New(slog.DiscardHandler),
		})
	})
}

// Off implements ipa.Power.
func (m *Machine) Off(ctx context.Context) error {
	err := m.board.setPower(ctx, m.System, emulator.PowerOff)
	m.end()
	return err
}

// Reboot implements ipa.Power.
func (m *Machine) Reboot(context.Context) error {
	m.end()
	m.boot()
	return nil
}
