package ironic

// ProvisionState is a node's provision_state as Ironic spells it.
type ProvisionState string

// The provision states of the Bare Metal API that a node can be seen in.
const (
	StateEnroll         ProvisionState = "enroll"
	StateVerifying      ProvisionState = "verifying"
	StateManageable     ProvisionState = "manageable"
	StateInspecting     ProvisionState = "inspecting"
	StateInspectWait    ProvisionState = "inspect wait"
	StateInspectFailed  ProvisionState = "inspect failed"
	StateCleaning       ProvisionState = "cleaning"
	StateCleanWait      ProvisionState = "clean wait"
	StateCleanHold      ProvisionState = "clean hold"
	StateCleanFailed    ProvisionState = "clean failed"
	StateAvailable      ProvisionState = "available"
	StateDeploying      ProvisionState = "deploying"
	StateDeployWait     ProvisionState = "wait call-back"
	StateDeployHold     ProvisionState = "deploy hold"
	StateDeployFailed   ProvisionState = "deploy failed"
	StateActive         ProvisionState = "active"
	StateDeleting       ProvisionState = "deleting"
	StateError          ProvisionState = "error"
	StateAdopting       ProvisionState = "adopting"
	StateAdoptFailed    ProvisionState = "adopt failed"
	StateServicing      ProvisionState = "servicing"
	StateServiceWait    ProvisionState = "service wait"
	StateServiceHold    ProvisionState = "service hold"
	StateServiceFailed  ProvisionState = "service failed"
	StateRescuing       ProvisionState = "rescuing"
	StateRescueWait     ProvisionState = "rescue wait"
	StateRescue         ProvisionState = "rescue"
	StateRescueFailed   ProvisionState = "rescue failed"
	StateUnrescuing     ProvisionState = "unrescuing"
	StateUnrescueFailed ProvisionState = "unrescue failed"
)

// stateClass says what may happen to a node in a state without anybody asking.
type stateClass struct {
	busy   bool // Ironic, or the machine, is at work; the node will leave the state by itself
	wait   bool // busy, and the conductor waits for the ramdisk, whose heartbeats move updated_at
	failed bool // an operation ended here; a person or the controller must ask for the next
}

// stateClasses holds every state that is not plainly at rest.
var stateClasses = map[ProvisionState]stateClass{
	StateVerifying:      {busy: true},
	StateInspecting:     {busy: true},
	StateInspectWait:    {busy: true, wait: true},
	StateInspectFailed:  {failed: true},
	StateCleaning:       {busy: true},
	StateCleanWait:      {busy: true, wait: true},
	StateCleanFailed:    {failed: true},
	StateDeploying:      {busy: true},
	StateDeployWait:     {busy: true, wait: true},
	StateDeployFailed:   {failed: true},
	StateDeleting:       {busy: true},
	StateError:          {failed: true},
	StateAdopting:       {busy: true},
	StateAdoptFailed:    {failed: true},
	StateServicing:      {busy: true},
	StateServiceWait:    {busy: true, wait: true},
	StateServiceFailed:  {failed: true},
	StateRescuing:       {busy: true},
	StateRescueWait:     {busy: true, wait: true},
	StateRescueFailed:   {failed: true},
	StateUnrescuing:     {busy: true},
	StateUnrescueFailed: {failed: true},
}

// Busy reports whether the node will leave this state by itself, so that there
// is nothing to ask for before it has.
func (s ProvisionState) Busy() bool { return stateClasses[s].busy }

// Waiting reports whether the conductor waits for the ramdisk in this state.
// Nobody holds the node's lock then, and heartbeats arrive.
func (s ProvisionState) Waiting() bool { return stateClasses[s].wait }

// Failed reports whether an operation ended in this state without success.
func (s ProvisionState) Failed() bool { return stateClasses[s].failed }

// PowerState is a node's power_state or target_power_state as Ironic spells it;
// empty when Ironic does not know it (null in the API).
type PowerState string

// Power states and the targets of SetPower.
const (
	PowerUnknown       PowerState = ""
	PowerOn            PowerState = "power on"
	PowerOff           PowerState = "power off"
	PowerSoftOff       PowerState = "soft power off"
	PowerRebooting     PowerState = "rebooting"
	PowerSoftRebooting PowerState = "soft rebooting"
	PowerError         PowerState = "error"
)
