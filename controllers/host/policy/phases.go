package policy

import (
	"maps"
	"slices"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/ironic"
)

// State is a host's provisioning state: the phases of this controller.
type State = metal3.ProvisioningState

// phase is one row of the table: what happens in a state and where it leads.
type phase struct {
	// step decides what to do next in this state.
	step func(o *Observed, d *Decision)
	// next lists the legal successors.
	next []State
	// deleted is where the deletion of the host leads from here.
	deleted State
	// node is true where the host's Ironic node is looked up, enrolled and kept
	// as wanted before the step.
	node bool
	// free is true where nothing is taken to run on the machine.
	free bool
	// steady is true where a host rests: power is managed, and it may be detached.
	steady bool
	// running are Ironic's states in which the phase's operation is under way; an
	// error from an earlier attempt is over when one of them is seen.
	running []ironic.ProvisionState
	// fails is the error type of a failure in this phase.
	fails metal3.ErrorType
	// reason is the Progressing condition's reason; empty for a state at rest.
	reason string
}

// States that have no name of their own in the API.
const (
	StateNone     = metal3.StateNone
	StateDeleting = metal3.StateDeleting
)

var (
	verifying = []ironic.ProvisionState{ironic.StateVerifying}
	examining = []ironic.ProvisionState{ironic.StateInspecting, ironic.StateInspectWait}
	cleaning  = []ironic.ProvisionState{ironic.StateCleaning, ironic.StateCleanWait}
	deploying = []ironic.ProvisionState{ironic.StateDeploying, ironic.StateDeployWait}
	releasing = []ironic.ProvisionState{ironic.StateDeleting, ironic.StateCleaning, ironic.StateCleanWait}
	keeping   = []ironic.ProvisionState{ironic.StateAdopting, ironic.StateServicing, ironic.StateServiceWait}
)

// phases is the state machine. It is filled in by init, because steps refer to
// the table themselves.
var phases map[State]phase

func init() {
	phases = map[State]phase{
		StateNone: {
			step: stepNew, deleted: StateDeleting,
			next: []State{metal3.StateUnmanaged, metal3.StateRegistering},
		},
		metal3.StateUnmanaged: {
			step: stepUnmanaged, deleted: StateDeleting,
			next: []State{metal3.StateRegistering},
		},
		metal3.StateRegistering: {
			step: stepRegistering, deleted: StateDeleting, node: true,
			next:    []State{metal3.StateExternallyProvisioned, metal3.StateInspecting, metal3.StatePreparing},
			running: verifying, fails: metal3.RegistrationError, reason: "Registering",
		},
		metal3.StateInspecting: {
			step: stepInspecting, deleted: metal3.StatePoweringOffBeforeDelete, node: true, free: true,
			next:    []State{metal3.StatePreparing, metal3.StateExternallyProvisioned},
			running: examining, fails: metal3.InspectionError, reason: metal3.InspectingReason,
		},
		metal3.StateMatchProfile: {
			step: stepMatchProfile, deleted: metal3.StatePoweringOffBeforeDelete,
			next: []State{metal3.StatePreparing}, reason: metal3.PreparingReason,
		},
		metal3.StatePreparing: {
			step: stepPreparing, deleted: metal3.StatePoweringOffBeforeDelete, node: true, free: true,
			next:    []State{metal3.StateAvailable, metal3.StateExternallyProvisioned},
			running: cleaning, fails: metal3.PreparationError, reason: metal3.PreparingReason,
		},
		metal3.StateAvailable: {
			step: stepAvailable, deleted: metal3.StatePoweringOffBeforeDelete, node: true, free: true, steady: true,
			next: []State{
				metal3.StateExternallyProvisioned, metal3.StateInspecting, metal3.StatePreparing,
				metal3.StateProvisioning,
			},
			fails: metal3.RegistrationError,
		},
		metal3.StateReady: {
			step: stepAvailable, deleted: metal3.StatePoweringOffBeforeDelete, node: true, free: true, steady: true,
			next: []State{
				metal3.StateExternallyProvisioned, metal3.StateInspecting, metal3.StatePreparing,
				metal3.StateProvisioning,
			},
			fails: metal3.RegistrationError,
		},
		metal3.StateProvisioning: {
			step: stepProvisioning, deleted: metal3.StateDeprovisioning, node: true,
			next:    []State{metal3.StateDeprovisioning, metal3.StateProvisioned, metal3.StateExternallyProvisioned},
			running: deploying, fails: metal3.ProvisioningError, reason: metal3.ProvisioningReason,
		},
		metal3.StateProvisioned: {
			step: stepProvisioned, deleted: metal3.StateDeprovisioning, node: true, steady: true,
			next:    []State{metal3.StateDeprovisioning, metal3.StateExternallyProvisioned},
			running: keeping, fails: metal3.ProvisionedRegistrationError,
		},
		metal3.StateExternallyProvisioned: {
			step: stepExternallyProvisioned, deleted: metal3.StatePoweringOffBeforeDelete, node: true, steady: true,
			next:    []State{metal3.StateProvisioned},
			running: keeping, fails: metal3.ProvisionedRegistrationError,
		},
		metal3.StateDeprovisioning: {
			step: stepDeprovisioning, deleted: metal3.StateDeprovisioning, node: true,
			next: []State{
				metal3.StateAvailable, metal3.StatePoweringOffBeforeDelete, StateDeleting,
				metal3.StateProvisioned, metal3.StateExternallyProvisioned,
			},
			running: releasing, fails: metal3.ProvisioningError, reason: metal3.DeprovisioningReason,
		},
		metal3.StatePoweringOffBeforeDelete: {
			step: stepPoweringOff, deleted: metal3.StatePoweringOffBeforeDelete, node: true,
			next:  []State{StateDeleting},
			fails: metal3.PowerManagementError, reason: metal3.PoweringOffBeforeDeleteReason,
		},
		StateDeleting: {
			step: stepDeleting, deleted: StateDeleting,
			fails: metal3.RegistrationError, reason: metal3.DeletingReason,
		},
	}
}

// States lists every provisioning state that this controller knows, sorted; the
// empty text is a host without one.
func States() []State { return slices.Sorted(maps.Keys(phases)) }
