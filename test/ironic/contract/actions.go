package contract

import (
	"slices"

	"github.com/ironflow/ironflow/ironic"
)

// Wishes are what Ironflow wants of a node, one at a time.
var Wishes = []string{"register", "inspect", "prepare", "provision", "deprovision", "adopt", "service", "delete", "detach"}

// Action is one cell of the table of what Ironflow does with a node, by the
// node's state, and the case that shows how Ironic takes it.
type Action struct {
	State ironic.ProvisionState
	Wish  string
	Asks  verbs // what may be asked for; nil for nothing, but fields and removal
	Case  string
}

type verbs = []ironic.Target

// Actions is that table, without what [Cell] adds. docs/ironic.md has the same rows.
var Actions = []Action{
	{ironic.StateEnroll, "register", verbs{ironic.TargetManage}, "manage"},
	{ironic.StateEnroll, "adopt", nil, "manage"},
	{ironic.StateEnroll, "delete", nil, "delete"},
	{ironic.StateVerifying, "register", nil, "verifying"},
	{ironic.StateVerifying, "adopt", nil, "verifying"},
	{ironic.StateVerifying, "delete", nil, "verifying"},
	{ironic.StateManageable, "inspect", verbs{ironic.TargetInspect}, "inspect"},
	{ironic.StateManageable, "prepare", verbs{ironic.TargetClean}, "clean"},
	{ironic.StateManageable, "provision", verbs{ironic.TargetProvide}, "provide"},
	{ironic.StateManageable, "deprovision", verbs{ironic.TargetProvide}, "provide"},
	{ironic.StateManageable, "adopt", verbs{ironic.TargetAdopt}, "adopt"},
	{ironic.StateManageable, "delete", nil, "delete"},
	{ironic.StateInspecting, "register", nil, "inspecting"},
	{ironic.StateInspecting, "inspect", nil, "inspecting"},
	{ironic.StateInspecting, "delete", nil, "inspecting"},
	{ironic.StateInspectWait, "inspect", verbs{ironic.TargetAbort}, "abort inspection"},
	{ironic.StateInspectWait, "delete", verbs{ironic.TargetAbort}, "abort inspection"},
	{ironic.StateInspectFailed, "inspect", verbs{ironic.TargetInspect}, "abort inspection"},
	{ironic.StateInspectFailed, "provision", verbs{ironic.TargetManage}, "abort inspection"},
	{ironic.StateInspectFailed, "deprovision", verbs{ironic.TargetManage}, "abort inspection"},
	{ironic.StateInspectFailed, "delete", nil, "abort inspection"},
	{ironic.StateAvailable, "inspect", verbs{ironic.TargetManage}, "provide"},
	{ironic.StateAvailable, "prepare", verbs{ironic.TargetManage}, "provide"},
	{ironic.StateAvailable, "provision", verbs{ironic.TargetActive}, "deploy"},
	{ironic.StateAvailable, "deprovision", nil, "undeploy"},
	{ironic.StateAvailable, "adopt", verbs{ironic.TargetManage}, "provide"},
	{ironic.StateAvailable, "delete", nil, "delete"},
	{ironic.StateDeploying, "register", nil, "deploying"},
	{ironic.StateDeploying, "deprovision", nil, "deploying"},
	{ironic.StateDeploying, "delete", nil, "deploying"},
	{ironic.StateDeployWait, "register", nil, "abort deployment"},
	{ironic.StateDeployWait, "provision", verbs{ironic.TargetDeleted}, "undeploy"},
	{ironic.StateDeployWait, "deprovision", verbs{ironic.TargetDeleted}, "undeploy"},
	{ironic.StateDeployWait, "delete", verbs{ironic.TargetAbort, ironic.TargetDeleted}, "abort deployment"},
	{ironic.StateActive, "provision", nil, "deploy"},
	{ironic.StateActive, "deprovision", verbs{ironic.TargetDeleted}, "undeploy"},
	{ironic.StateActive, "adopt", nil, "adopt"},
	{ironic.StateActive, "service", verbs{ironic.TargetService}, "service"},
	{ironic.StateActive, "delete", nil, "delete in use"},
	{ironic.StateDeployFailed, "provision", verbs{ironic.TargetActive}, "deploy failed"},
	{ironic.StateDeployFailed, "deprovision", verbs{ironic.TargetDeleted}, "failure text"},
	{ironic.StateDeployFailed, "delete", nil, "abort deployment"},
	{ironic.StateDeleting, "deprovision", nil, "deleting"},
	{ironic.StateDeleting, "delete", nil, "deleting"},
	{ironic.StateCleaning, "register", nil, "cleaning"},
	{ironic.StateCleaning, "prepare", nil, "cleaning"},
	{ironic.StateCleaning, "deprovision", nil, "cleaning"},
	{ironic.StateCleaning, "delete", nil, "cleaning"},
	{ironic.StateCleanWait, "register", nil, "abort"},
	{ironic.StateCleanWait, "prepare", nil, "abort"},
	{ironic.StateCleanWait, "deprovision", nil, "abort"},
	{ironic.StateCleanWait, "delete", verbs{ironic.TargetAbort}, "abort"},
	{ironic.StateCleanFailed, "prepare", verbs{ironic.TargetManage}, "clean"},
	{ironic.StateCleanFailed, "provision", verbs{ironic.TargetManage}, "clean"},
	{ironic.StateCleanFailed, "deprovision", verbs{ironic.TargetManage}, "clean"},
	{ironic.StateCleanFailed, "delete", nil, "abort"},
	{ironic.StateError, "deprovision", verbs{ironic.TargetDeleted}, "error"},
	{ironic.StateError, "delete", nil, "error"},
	{ironic.StateAdopting, "adopt", nil, "adopting"},
	{ironic.StateAdoptFailed, "provision", verbs{ironic.TargetManage}, "adopt failed"},
	{ironic.StateAdoptFailed, "deprovision", verbs{ironic.TargetManage}, "adopt failed"},
	{ironic.StateAdoptFailed, "adopt", verbs{ironic.TargetAdopt}, "adopt failed"},
	{ironic.StateAdoptFailed, "delete", nil, "adopt failed"},
	{ironic.StateServicing, "service", nil, "servicing"},
	{ironic.StateServicing, "delete", nil, "servicing"},
	{ironic.StateServiceWait, "deprovision", verbs{ironic.TargetDeleted}, "undeploy in service"},
	{ironic.StateServiceWait, "service", verbs{ironic.TargetAbort}, "abort service"},
	{ironic.StateServiceWait, "delete", verbs{ironic.TargetAbort}, "abort service"},
	{ironic.StateServiceFailed, "deprovision", verbs{ironic.TargetDeleted}, "undeploy in service"},
	{ironic.StateServiceFailed, "service", verbs{ironic.TargetService, ironic.TargetAbort}, "service"},
	{ironic.StateServiceFailed, "delete", nil, "abort service"},
}

// Homes names, for each state, the case that holds a node in it against the
// table: Ironic refuses every verb that no wish asks for in this state, and takes
// or refuses changes of fields and the removal as it is known for.
var Homes = map[ironic.ProvisionState]string{
	ironic.StateEnroll:        "manage",
	ironic.StateVerifying:     "verifying",
	ironic.StateManageable:    "manage",
	ironic.StateInspecting:    "inspecting",
	ironic.StateInspectWait:   "abort inspection",
	ironic.StateInspectFailed: "abort inspection",
	ironic.StateAvailable:     "provide",
	ironic.StateDeploying:     "deploying",
	ironic.StateDeployWait:    "undeploy",
	ironic.StateActive:        "adopt",
	ironic.StateDeployFailed:  "deploy failed",
	ironic.StateDeleting:      "deleting",
	ironic.StateCleaning:      "cleaning",
	ironic.StateCleanWait:     "abort",
	ironic.StateCleanFailed:   "abort",
	ironic.StateError:         "error",
	ironic.StateAdopting:      "adopting",
	ironic.StateAdoptFailed:   "adopt failed",
	ironic.StateServicing:     "servicing",
	ironic.StateServiceWait:   "abort service",
	ironic.StateServiceFailed: "service",
}

// Cell is what a wish comes to for a node in a state. What the table leaves out
// asks for nothing, which the state's home shows; a host is detached as it is
// deleted.
func Cell(state ironic.ProvisionState, wish string) Action {
	as := wish
	if wish == "detach" {
		as = "delete"
	}
	i := slices.IndexFunc(Actions, func(a Action) bool { return a.State == state && a.Wish == as })
	if i < 0 {
		return Action{State: state, Wish: wish, Case: Homes[state]}
	}
	found := Actions[i]
	found.Wish = wish
	return found
}

// outOfPlace lists the verbs that no wish asks for in any of some states.
func outOfPlace(states ...ironic.ProvisionState) verbs {
	all := verbs{
		ironic.TargetManage, ironic.TargetInspect, ironic.TargetClean, ironic.TargetProvide, ironic.TargetActive,
		ironic.TargetDeleted, ironic.TargetAdopt, ironic.TargetService, ironic.TargetAbort,
	}
	return slices.DeleteFunc(all, func(v ironic.Target) bool {
		return slices.ContainsFunc(Actions, func(a Action) bool { return slices.Contains(states, a.State) && slices.Contains(a.Asks, v) })
	})
}
