package ironic

import (
	"strings"
	"time"
)

// Row is what the watch knows of a node: the ten fields that are cheap to list,
// and, while a deployment waits for the ramdisk, how far it is.
type Row struct {
	UUID                 string
	Name                 string
	ProvisionState       ProvisionState
	TargetProvisionState ProvisionState
	PowerState           PowerState
	Maintenance          bool
	Fault                string
	Reservation          string
	ProvisionUpdatedAt   time.Time
	LastError            string

	DeployStep Step
	Agent      AgentInfo
}

// rowFields are the ten fields of every list that the watch asks for.
var rowFields = []string{
	"uuid", "name", "provision_state", "target_provision_state", "power_state", "maintenance",
	"fault", "reservation", "provision_updated_at", "last_error",
}

// progressFields are asked for besides, in the one state that needs them.
var progressFields = []string{"deploy_step", "driver_internal_info"}

// listedFields is the fields parameter of a list in a state; empty: any state.
func listedFields(state ProvisionState) string {
	if state == StateDeployWait {
		return strings.Join(rowFields, ",") + "," + strings.Join(progressFields, ",")
	}
	return strings.Join(rowFields, ",")
}

// row keeps of a list entry what the watch compares.
func (w *wireNode) row() Row {
	r := Row{
		UUID: w.UUID, Name: w.Name, ProvisionState: w.ProvisionState, TargetProvisionState: w.TargetProvisionState,
		PowerState: w.PowerState, Maintenance: w.Maintenance, Fault: w.Fault, Reservation: w.Reservation,
		ProvisionUpdatedAt: w.ProvisionUpdatedAt, LastError: w.LastError,
	}
	if w.DriverInternalInfo != nil {
		r.DeployStep, r.Agent = w.DeployStep, agentInfo(w.DriverInternalInfo)
	}
	return r
}

// sameFields compares the ten fields.
func (r Row) sameFields(o Row) bool {
	return r.UUID == o.UUID && r.Name == o.Name && r.ProvisionState == o.ProvisionState &&
		r.TargetProvisionState == o.TargetProvisionState && r.PowerState == o.PowerState &&
		r.Maintenance == o.Maintenance && r.Fault == o.Fault && r.Reservation == o.Reservation &&
		r.ProvisionUpdatedAt.Equal(o.ProvisionUpdatedAt) && r.LastError == o.LastError
}

// sameProgress compares how far a deployment is; heartbeats alone do not count.
func (r Row) sameProgress(o Row) bool {
	return r.DeployStep.String() == o.DeployStep.String() && r.Agent.equal(o.Agent)
}
