package contract_test

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/ironic/contract"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/emulator"
	"github.com/ironflow/ironflow/test/machine/bmc"
	"github.com/ironflow/ironflow/test/machine/ipa"
	"github.com/ironflow/ironflow/test/scenario/generate"
)

// hall holds the machines behind the emulated BMCs.
type hall struct {
	lab      *lab.Lab
	mu       sync.Mutex
	machines map[string]*machine // by system UUID
	running  sync.WaitGroup
}

// find is for the receiver of the BMCs' notifications.
func (h *hall) find(system string) (bmc.Taker, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	m, ok := h.machines[system]
	return m, ok
}

// add makes a machine with its BMC.
func (h *hall) add(t testing.TB) contract.Machine {
	h.mu.Lock()
	m := &machine{hall: h, system: uuid.NewString(), mac: fmt.Sprintf("52:54:00:c0:00:%02x", len(h.machines)+1)}
	h.machines[m.system] = m
	h.mu.Unlock()
	err := h.lab.Emulator.Add(t.Context(), emulator.System{UUID: m.system, Name: m.system, NICs: []emulator.NIC{{MAC: m.mac}}})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	e := h.lab.Emulator
	return contract.Machine{Driver: "redfish", MAC: m.mac, DriverInfo: map[string]any{
		"redfish_address": e.URL, "redfish_system_id": "/redfish/v1/Systems/" + m.system, "redfish_username": e.User, "redfish_password": e.Password,
		"redfish_verify_ca": h.lab.CAFile, "deploy_iso": imageURL,
	}}
}

// imageURL is never read: the machines of this test do not boot from it.
const imageURL = "http://127.0.0.1:1/live.iso"

// stop ends all machines.
func (h *hall) stop() {
	h.mu.Lock()
	for _, m := range h.machines {
		m.end()
	}
	h.mu.Unlock()
	h.running.Wait()
}

// machine runs an IPA while it is on with a medium inserted.
type machine struct {
	hall        *hall
	system, mac string
	mu          sync.Mutex
	cancel      context.CancelFunc
}

// Take implements bmc.Taker.
func (m *machine) Take(c emulator.SystemChange) error {
	if c.Change != emulator.ChangePower {
		return nil
	}
	m.end()
	if c.PowerState == emulator.PowerOn && c.BootDevice == emulator.BootCd && len(c.Media) > 0 {
		m.boot()
	}
	return nil
}

func (m *machine) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cancel != nil {
		m.cancel()
		m.cancel = nil
	}
}

func (m *machine) boot() {
	m.mu.Lock()
	defer m.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	m.cancel = cancel
	ironicURL := m.hall.lab.Ironic.URL
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(m.hall.lab.Ironic.CA)
	s := generate.Machine(0, generate.Options{})
	s.Hardware.NICs = s.Hardware.NICs[:1]
	s.Hardware.NICs[0].MAC = m.mac
	m.hall.running.Go(func() {
		_ = ipa.Run(ctx, ipa.Options{ // ends with the machine; what matters shows on the node
			Config: ipa.Config{APIURLs: []string{ironicURL}, InspectionURLs: []string{ironicURL + "/v1/continue_inspection"}, Collectors: []string{"default"}},
			Roots:  roots, Inventory: ipa.NewInventory(s), Managers: []ipa.Manager{steps{}}, Power: m, Log: slog.New(slog.DiscardHandler),
		})
	})
}

// Off implements ipa.Power.
func (m *machine) Off(ctx context.Context) error {
	err := m.hall.lab.Emulator.SetPower(ctx, m.system, emulator.PowerOff)
	m.end()
	return err
}

// Reboot implements ipa.Power.
func (m *machine) Reboot(context.Context) error {
	m.end()
	m.boot()
	return nil
}

// steps is the hardware manager with the contract's step.
type steps struct{}

func (steps) Name() string    { return "ContractManager" }
func (steps) Version() string { return "1" }

func (steps) Steps(_ context.Context, kind ipa.Kind) ([]ipa.Step, error) {
	abortable := true
	list := []ipa.Step{{Name: contract.StepName, Interface: "deploy", Args: map[string]ipa.Argument{"fail": {}, "seconds": {}}, Abortable: &abortable}}
	if kind == ipa.Clean {
		list = append(list, ipa.Step{Name: "erase_devices_metadata", Interface: "deploy", Priority: 99})
	}
	return list, nil
}

func (steps) Run(ctx context.Context, call ipa.Call) (any, error) {
	if call.Step != contract.StepName {
		return nil, nil
	}
	call.BeatAtEnd()
	pause, fail := 2, false                          // a heartbeat within the first moments would meet the node locked, and be lost
	_ = json.Unmarshal(call.Args["seconds"], &pause) // absent: as above
	_ = json.Unmarshal(call.Args["fail"], &fail)
	timer := time.NewTimer(time.Duration(pause) * time.Second)
	defer timer.Stop()
	select {
	case <-timer.C:
		if fail {
			return nil, failures[call.Kind](contract.FailureText)
		}
		return nil, nil
	case <-ctx.Done():
		return nil, errors.New("switched off")
	}
}

var failures = map[ipa.Kind]func(string) *ipa.Error{
	ipa.Clean: ipa.ErrCleaning, ipa.Deploy: ipa.ErrDeployment, ipa.Service: ipa.ErrServicing,
}
