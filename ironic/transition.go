package ironic

import (
	"context"
	"net/http"
	"slices"
)

// Target is a verb of PUT states/provision.
type Target string

// The verbs that Ironflow uses.
const (
	TargetManage  Target = "manage"
	TargetInspect Target = "inspect"
	TargetClean   Target = "clean"
	TargetProvide Target = "provide"
	TargetActive  Target = "active"
	TargetDeleted Target = "deleted"
	TargetAdopt   Target = "adopt"
	TargetService Target = "service"
	TargetAbort   Target = "abort"
)

// Transition asks for a change of provision state.
type Transition struct {
	Target       Target
	CleanSteps   []Step // with TargetClean; run in this order
	DeploySteps  []Step // with TargetActive
	ServiceSteps []Step // with TargetService; run in this order
	// ConfigDrive is, with TargetActive, an object {user_data, network_data,
	// meta_data}, or a text: the URL or base64 form of a ready image.
	ConfigDrive any
}

// wireTransition is the body of PUT states/provision.
type wireTransition struct {
	Target       Target     `json:"target"`
	CleanSteps   []wireStep `json:"clean_steps,omitempty"`
	DeploySteps  []wireStep `json:"deploy_steps,omitempty"`
	ServiceSteps []wireStep `json:"service_steps,omitempty"`
	ConfigDrive  any        `json:"configdrive,omitempty"`
}

// wireStep is a requested step. Ironic demands args, also empty ones, and the
// priority of deploy steps; it refuses a priority in clean and service steps,
// which run in the order of the list.
type wireStep struct {
	Interface string         `json:"interface"`
	Name      string         `json:"step"`
	Args      map[string]any `json:"args"`
	Priority  *int           `json:"priority,omitempty"`
}

func (t Transition) wire() wireTransition {
	return wireTransition{
		Target: t.Target, ConfigDrive: t.ConfigDrive,
		CleanSteps: wireSteps(t.CleanSteps, false), ServiceSteps: wireSteps(t.ServiceSteps, false),
		DeploySteps: wireSteps(t.DeploySteps, true),
	}
}

func wireSteps(steps []Step, withPriority bool) []wireStep {
	list := make([]wireStep, 0, len(steps))
	for _, s := range steps {
		w := wireStep{Interface: s.Interface, Name: s.Name, Args: anyMap(s.Args)}
		if withPriority {
			w.Priority = orZero(s.Priority)
		}
		list = append(list, w)
	}
	return list
}

// orZero gives a deploy step without a priority 0, with which Ironic skips it.
func orZero(p *int) *int {
	if p == nil {
		return new(int)
	}
	return p
}

// progress names, for each target, where a node is seen after Ironic took the
// request: the states on the way (with the state that the request aims at, when
// two requests share them) and the states at its end. A request that is refused
// for such a node was taken before.
type progress struct {
	way  []ProvisionState
	aim  ProvisionState
	ends []ProvisionState
}

var progressTable = map[Target]progress{
	TargetManage:  {way: []ProvisionState{StateVerifying}, ends: []ProvisionState{StateManageable}},
	TargetInspect: {way: []ProvisionState{StateInspecting, StateInspectWait}},
	TargetClean:   {way: []ProvisionState{StateCleaning, StateCleanWait}, aim: StateManageable},
	TargetProvide: {way: []ProvisionState{StateCleaning, StateCleanWait}, aim: StateAvailable, ends: []ProvisionState{StateAvailable}},
	TargetActive:  {way: []ProvisionState{StateDeploying, StateDeployWait}, ends: []ProvisionState{StateActive}},
	TargetDeleted: {way: []ProvisionState{StateDeleting, StateCleaning, StateCleanWait}, aim: StateAvailable, ends: []ProvisionState{StateAvailable}},
	TargetAdopt:   {way: []ProvisionState{StateAdopting}, ends: []ProvisionState{StateActive}},
	TargetService: {way: []ProvisionState{StateServicing, StateServiceWait}},
	TargetAbort:   {ends: []ProvisionState{StateInspectFailed, StateCleanFailed, StateDeployFailed, StateServiceFailed, StateActive}},
}

// taken reports whether a node looks as if it had taken the request already.
func (p progress) taken(n *Node) bool {
	if slices.Contains(p.ends, n.ProvisionState) {
		return true
	}
	return slices.Contains(p.way, n.ProvisionState) && (p.aim == "" || p.aim == n.TargetProvisionState)
}

// Transition asks for a change of provision state. Accepted means that Ironic
// works on it, or that the node shows that it took the same request before; the
// node's state tells the outcome. A node that is locked for something else is
// Busy.
func (g *Gateway) Transition(ctx context.Context, uuid string, t Transition) error {
	op := "set provision state " + string(t.Target)
	if t.Target == TargetAbort && g.lacks(ctx, FeatureDeployAbort) {
		if err := g.refuseDeployAbort(ctx, op, uuid); err != nil {
			return err
		}
	}
	err := g.do(ctx, call{op: op, node: uuid, method: http.MethodPut, path: nodePath(uuid, "states", "provision"), body: t.wire()})
	if err == nil || KindOf(err) != Rejected && KindOf(err) != Busy {
		return err
	}
	n, readErr := g.read(ctx, uuid)
	if readErr == nil && progressTable[t.Target].taken(n) {
		return nil
	}
	return err
}

// refuseDeployAbort explains why an old Ironic cannot abort a deployment, which
// it would answer with a bare 406.
func (g *Gateway) refuseDeployAbort(ctx context.Context, op, uuid string) error {
	n, err := g.read(ctx, uuid)
	if err != nil {
		return err
	}
	if n.ProvisionState == StateDeployWait {
		return g.unsupported(op, uuid, FeatureDeployAbort)
	}
	return nil
}
