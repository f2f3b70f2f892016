package contract

import (
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega" //nolint:staticcheck // these are tests: matchers read as sentences

	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/ironic/contract"
	"github.com/ironflow/ironflow/test/machine/ironictest"
)

// Action is a row of the list of what Ironic does with a BMC for Ironflow.
type Action string

// The actions.
const (
	Register       Action = "register"
	SwitchPower    Action = "power"
	Media          Action = "virtual media"
	ConfigureBIOS  Action = "BIOS settings"
	ConfigureRAID  Action = "RAID"
	UpdateFirmware Action = "firmware update"
	SetSecureBoot  Action = "secure boot"
	Subscribe      Action = "event subscription"
	Inspect        Action = "inspection by the BMC"
)

// Actions are all actions.
var Actions = []Action{Register, SwitchPower, Media, ConfigureBIOS, ConfigureRAID, UpdateFirmware, SetSecureBoot, Subscribe, Inspect}

// IronicCase is one thing that the real Ironic does with a BMC.
type IronicCase struct {
	Name   string
	Action Action
	// Both says that the emulator can do it too: then the case runs on both.
	Both bool
	// System describes the simulated machine; nil is the usual one.
	System func() simulator.System
	Run    func(w *IronicWorld)
}

// IronicCases is the table of what the real Ironic does with BMCs.
var IronicCases = slices.Concat([]IronicCase{
	{"register", Register, true, nil, register},
	{"register reads settings and versions", Register, false, nil, registerReads},
	{"power", SwitchPower, true, nil, ironicPower},
	{"virtual media", Media, true, nil, ironicMedia},
	{"secure boot", SetSecureBoot, true, nil, ironicSecureBoot},
	{"BIOS settings", ConfigureBIOS, false, nil, applyBIOS},
	{"refused BIOS setting", ConfigureBIOS, false, nil, refuseBIOS},
	{"BIOS reset", ConfigureBIOS, false, nil, factoryReset},
	{"RAID at once", ConfigureRAID, false, nil, createRAID},
	{"RAID at a reset", ConfigureRAID, false, func() simulator.System { return simulator.System{Storage: onReset()} }, createRAID},
	{"RAID at once as a task", ConfigureRAID, false, asTask, createRAID},
	{"update of the BIOS", UpdateFirmware, false, nil, ironicUpdateBIOS},
	{"update of the BMC", UpdateFirmware, false, nil, ironicUpdateBMC},
	{"update of a network adapter", UpdateFirmware, false, withNIC, ironicUpdateNIC},
	{"update that fails", UpdateFirmware, false, nil, ironicUpdateFails},
	{"event subscription", Subscribe, false, nil, subscribeEvents},
	{"inspection by the BMC", Inspect, false, nil, inspectByBMC},
}, ironicQuirks)

// ironicQuirks are what Ironic makes of BMCs that misbehave.
var ironicQuirks = []IronicCase{
	{"a BMC that is away for a moment", Register, false, with(simulator.Unavailable, 2), register1},
	{"media that need a protocol", Media, false, with(simulator.MediaNeedsTransfer, simulator.Always), ironicMedia},
	{"media below the manager", Media, false, with(simulator.MediaOnManager, simulator.Always), ironicMedia},
	{"media without actions", Media, false, with(simulator.MediaByPatch, simulator.Always), ironicMedia},
	{"ETags are required", ConfigureBIOS, false, with(simulator.ETagRequired, simulator.Always), applyBIOS},
	{"no boot progress", ConfigureBIOS, false, with(simulator.NoBootProgress, simulator.Always), applyBIOS},
	{"no BIOS registry", ConfigureBIOS, false, with(simulator.NoBIOSRegistry, simulator.Always), withoutRegistry},
	{"no BIOS", ConfigureBIOS, false, with(simulator.NoBIOS, simulator.Always), withoutBIOS},
	{"BIOS settings that are not applied", ConfigureBIOS, false, with(simulator.BIOSNotApplied, simulator.Always), notApplied},
	{"volumes without RAID types", ConfigureRAID, false, with(simulator.NoRAIDType, simulator.Always), withoutRAIDTypes},
	{"a task without an address", UpdateFirmware, false, with(simulator.TaskWithoutLocation, simulator.Always), withoutLocation},
	{"a task that fails", UpdateFirmware, false, with(simulator.TaskFails, simulator.Always), taskFails},
	{"a task of the BMC that fails", UpdateFirmware, false, with(simulator.TaskFails, simulator.Always), taskFailsUnseen},
	{"firmware that stays", UpdateFirmware, false, with(simulator.FirmwareUnchanged, simulator.Always), firmwareStays},
	{"no secure boot", SetSecureBoot, false, with(simulator.NoSecureBoot, simulator.Always), withoutSecureBoot},
}

// with describes a machine with a quirk.
func with(quirk simulator.Quirk, times int) func() simulator.System {
	return func() simulator.System { return simulator.System{Quirks: map[simulator.Quirk]int{quirk: times}} }
}

// IronicWorld is what a case works with.
type IronicWorld struct {
	*contract.World
	// Hall is the Ironic with its BMCs.
	Hall *ironictest.Hall
	// Machine is the one that was enrolled last.
	Machine *ironictest.Machine
}

// RunIronic runs the cases on simulated machines, and those that the emulator can
// do on emulated ones, as sub-tests side by side.
func RunIronic(t *testing.T, h *ironictest.Hall, cases []IronicCase) {
	for _, c := range cases {
		describe := c.System
		if describe == nil {
			describe = func() simulator.System { return simulator.System{} }
		}
		t.Run("simulator/"+c.Name, func(t *testing.T) {
			t.Parallel()
			c.Run(newIronicWorld(t, h, func(t testing.TB) *ironictest.Machine { return h.AddSimulated(t, describe()) }))
		})
		if c.Both {
			t.Run("emulator/"+c.Name, func(t *testing.T) {
				t.Parallel()
				c.Run(newIronicWorld(t, h, h.Add))
			})
		}
	}
}

func newIronicWorld(t *testing.T, h *ironictest.Hall, add func(testing.TB) *ironictest.Machine) *IronicWorld {
	g, err := ironic.New(t.Context(), h.Access())
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	w := &IronicWorld{Hall: h}
	w.World = &contract.World{WithT: NewWithT(t), T: t, Gateway: g, Target: contract.Target{
		Patience: 4 * time.Minute, Look: 300 * time.Millisecond,
		NewMachine: func(t testing.TB) contract.Machine {
			w.Machine = add(t)
			return contract.Machine{Driver: "redfish", MAC: w.Machine.MAC, DriverInfo: w.Machine.DriverInfo()}
		},
	}}
	return w
}

// bmcs is the simulator.
func (w *IronicWorld) bmcs() *simulator.Server { return w.Hall.Lab.Redfish.Simulator }

// redfish is the case's machine as a Redfish client sees it.
func (w *IronicWorld) redfish() *World {
	w.T.Helper()
	user, password := w.Machine.Credentials()
	r := &World{WithT: w.WithT, T: w.T, ID: w.Machine.System, Target: Target{
		URL: w.Machine.DriverInfo()["redfish_address"].(string), User: user, Password: password, HTTP: w.Hall.Lab.Redfish.HTTP,
		Simulator: w.bmcs(), Patience: w.Patience, Look: w.Look,
	}}
	r.API = r.Connect(true, password)
	return r
}

// clean runs manual cleaning with the steps to its end.
func (w *IronicWorld) clean(n *ironic.Node, end ironic.ProvisionState, steps ...ironic.Step) *ironic.Node {
	w.T.Helper()
	return w.Do(n, ironic.Transition{Target: ironic.TargetClean, CleanSteps: steps}, end)
}

// failed runs manual cleaning with a step that fails, and returns why.
func (w *IronicWorld) failed(n *ironic.Node, step ironic.Step) string {
	w.T.Helper()
	n = w.clean(n, ironic.StateCleanFailed, step)
	reason, err := w.Gateway.FailureReason(w.T.Context(), n.UUID, n.CreatedAt)
	w.Expect(err).NotTo(HaveOccurred())
	return reason
}
