package ironictest

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/emulator"
	"github.com/ironflow/ironflow/test/machine/bmc"
	"github.com/ironflow/ironflow/test/machine/ipa"
)

// liveISO is never read: the machines of a hall do not boot from it.
const liveISO = "http://127.0.0.1:1/live.iso"

// Hall is a real Ironic with machines behind emulated and simulated BMCs. A
// machine runs an agent of the real protocol while it is on with a medium inserted, or told to boot over the network.
type Hall struct {
	Lab    *lab.Lab
	Ironic *lab.Ironic

	managers []ipa.Manager
	bmcs     lab.RedfishOptions // who simulated BMCs notify
	write    func(ctx context.Context, image ipa.Image) (device string, err error)
	mu       sync.Mutex
	machines map[string]*Machine // by system UUID
	running  sync.WaitGroup
}

// HallOptions choose how a hall is set up.
type HallOptions struct {
	// Ironic are the options of the real Ironic.
	Ironic lab.IronicOptions
	// Managers bring the steps of the agents on all machines.
	Managers []ipa.Manager
	// WriteImage makes the machines write images (deploy interface direct); nil: they cannot.
	WriteImage func(ctx context.Context, image ipa.Image) (device string, err error)
	// Redfish, unless nil, starts simulated BMCs besides, for machines that need
	// what the emulator lacks: see [Hall.AddSimulated]. Whom they notify is set by
	// the hall.
	Redfish *lab.RedfishOptions
}

// Start starts the BMCs and Ironic in the lab. All machines end with the test.
func Start(t *testing.T, l *lab.Lab, o HallOptions) *Hall {
	t.Helper()
	h := &Hall{Lab: l, managers: o.Managers, write: o.WriteImage, machines: map[string]*Machine{}}
	receiver, err := bmc.Listen(nil, h.find, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	user, password := receiver.Credentials()
	_, err = l.StartEmulator(t.Context(), lab.EmulatorOptions{NotifierURL: receiver.URL(), NotifierUser: user, NotifierPassword: password})
	if err != nil {
		t.Fatal(err)
	}
	h.bmcs = lab.RedfishOptions{NotifierURL: receiver.URL(), NotifierUser: user, NotifierPassword: password}
	if o.Redfish != nil {
		bmcs := *o.Redfish
		bmcs.NotifierURL, bmcs.NotifierUser, bmcs.NotifierPassword = receiver.URL(), user, password
		if _, err := l.StartRedfish(t.Context(), bmcs); err != nil {
			t.Fatal(err)
		}
	}
	if h.Ironic, err = l.StartIronic(t.Context(), o.Ironic); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		h.stop()
		if err := receiver.Close(); err != nil {
			t.Errorf("stop listening to the BMCs: %v", err)
		}
	})
	return h
}

// find is for the receiver of the BMCs' notifications.
func (h *Hall) find(system string) (bmc.Taker, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	m, ok := h.machines[system]
	return m, ok
}

// stop ends all machines.
func (h *Hall) stop() {
	h.mu.Lock()
	for _, m := range h.machines {
		m.end()
	}
	h.mu.Unlock()
	h.running.Wait()
}

// Access is how Ironflow's gateway reaches this Ironic.
func (h *Hall) Access() ironic.Config {
	return ironic.Config{
		URL: h.Ironic.URL, CAFile: h.Lab.CAFile,
		Auth: ironic.Auth{Basic: &ironic.Basic{Username: h.Ironic.User, Password: ironic.Secret(h.Ironic.Password)}},
	}
}

// Add makes a machine with an emulated BMC, powered off.
func (h *Hall) Add(t testing.TB) *Machine {
	t.Helper()
	e := h.Lab.Emulator
	m := h.machine(board{URL: e.URL, User: e.User, Password: e.Password, address: e.Address, setPower: e.SetPower})
	err := e.Add(t.Context(), emulator.System{UUID: m.System, Name: m.System, NICs: []emulator.NIC{{MAC: m.MAC}}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// AddSimulated makes a machine with a simulated BMC, which has RAID, BIOS
// settings, firmware updates, events and quirks. Its description may be empty: the
// system's ID and NIC are set here. Needs HallOptions.Redfish.
func (h *Hall) AddSimulated(t testing.TB, system simulator.System) *Machine {
	t.Helper()
	r := h.Lab.Redfish
	if r == nil {
		t.Fatal("simulated BMCs are not running: set HallOptions.Redfish")
	}
	m := h.machine(board{URL: r.URL, User: r.User, Password: r.Password, address: r.Address, setPower: r.SetPower})
	system.ID, system.NICs = m.System, []simulator.NIC{{MAC: m.MAC}}
	if err := r.AddSystem(system); err != nil {
		t.Fatal(err)
	}
	return m
}

// AddAlone makes a machine whose simulated BMC is one of its own: no other machine has
// its address, accounts and certificate. The BMC ends with the test.
func (h *Hall) AddAlone(t testing.TB, system simulator.System) (*Machine, *lab.Redfish) {
	t.Helper()
	others := h.Lab.Redfish
	r, err := h.Lab.StartRedfish(t.Context(), h.bmcs)
	if err != nil {
		t.Fatal(err)
	}
	h.Lab.Redfish = others
	t.Cleanup(func() { r.Kill(); r.Simulator.Close() })
	m := h.machine(board{URL: r.URL, User: r.User, Password: r.Password, address: r.Address, setPower: r.SetPower})
	system.ID, system.NICs = m.System, []simulator.NIC{{MAC: m.MAC}}
	if err := r.AddSystem(system); err != nil {
		t.Fatal(err)
	}
	return m, r
}

// machine makes a machine without telling its BMC.
func (h *Hall) machine(b board) *Machine {
	h.mu.Lock()
	defer h.mu.Unlock()
	m := &Machine{hall: h, board: b, System: uuid.NewString(), MAC: fmt.Sprintf("52:54:00:c0:00:%02x", len(h.machines)+1)}
	h.machines[m.System] = m
	return m
}
