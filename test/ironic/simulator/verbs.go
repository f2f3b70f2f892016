package simulator

import (
	"cmp"
	"net/http"
	"slices"
	"time"
)

// request is the body of PUT states/provision.
type request struct {
	Target         string      `json:"target"`
	CleanSteps     []askedStep `json:"clean_steps"`
	DeploySteps    []askedStep `json:"deploy_steps"`
	ServiceSteps   []askedStep `json:"service_steps"`
	ConfigDrive    any         `json:"configdrive"`
	DisableRamdisk bool        `json:"disable_ramdisk"`

	minor int // API version of the request
}

// askedStep is a step as requested: what is absent matters.
type askedStep struct {
	Interface string         `json:"interface"`
	Step      string         `json:"step"`
	Priority  *int           `json:"priority"`
	Args      map[string]any `json:"args"`
}

// checkSteps refuses what the API's schemas refuse.
func (r request) checkSteps() error {
	for _, step := range r.DeploySteps {
		if step.Args == nil || step.Priority == nil {
			return fault(http.StatusBadRequest, "Invalid deploy_steps: 'args' and 'priority' are required properties")
		}
	}
	for _, step := range slices.Concat(r.CleanSteps, r.ServiceSteps) {
		if step.Priority != nil {
			return fault(http.StatusBadRequest, "Invalid steps: Additional properties are not allowed ('priority' was unexpected)")
		}
	}
	return nil
}

func plain(asked []askedStep) []Step {
	steps := make([]Step, 0, len(asked))
	for _, a := range asked {
		s := Step{Interface: a.Interface, Step: a.Step, Args: a.Args}
		if a.Priority != nil {
			s.Priority = *a.Priority
		}
		steps = append(steps, s)
	}
	return steps
}

func (s *Server) working(state string) phase {
	return phase{state: state, locked: true, hold: s.opts.Delays.Work}
}

func verify(s *Server, _ *node, _ request) (program, error) {
	return program{
		name: "verify", target: "manageable", fails: "enroll", ends: "manageable",
		phases: []phase{{state: "verifying", locked: true, hold: s.opts.Delays.Verify}},
		finish: func(n *node) {
			if n.power == "" {
				n.power = "power off"
			}
		},
	}, nil
}

// manageAtOnce needs no work: the node is manageable when the request returns.
func manageAtOnce(_ *Server, n *node, _ request) (program, error) {
	return program{name: "manage", target: "", ends: "manageable", finish: func(*node) {
		if n.fault == "clean failure" {
			n.fault = ""
		}
	}}, nil
}

func inspect(s *Server, n *node, _ request) (program, error) {
	wait := phase{state: "inspect wait", hold: s.opts.Delays.Inspect}
	phases := []phase{s.working("inspecting"), wait}
	if n.interfaces["inspect_interface"] != "agent" {
		phases = []phase{{state: "inspecting", locked: true, hold: s.opts.Delays.Inspect}}
	}
	phases[0].enter = func(n *node) { n.inspected = time.Time{} }
	return program{
		name: "inspect", target: "manageable", fails: "inspect failed", ends: "manageable", phases: phases,
		finish: func(n *node) {
			n.inventory, n.inspected = s.opts.Inventory(s.view(n)), time.Now()
			s.inspectPorts(n)
		},
	}, nil
}

// cleaningPhases run the given steps, or automated cleaning without names.
func (s *Server) cleaningPhases(steps []Step) []phase {
	phases := []phase{s.working("cleaning")}
	share := s.opts.Delays.Clean / time.Duration(max(1, len(steps)))
	for _, step := range steps {
		phases = append(phases, phase{
			state: "clean wait", hold: share, enter: func(n *node) { n.cleanStep = step.object() },
			done: func(n *node) string { return s.effect(n, step) },
		})
	}
	return append(phases, s.working("cleaning"))
}

func manualClean(s *Server, n *node, r request) (program, error) {
	if n.maintenance {
		return program{}, inMaintenance(n, "cleaning")
	}
	if len(r.CleanSteps) == 0 {
		return program{}, fault(http.StatusBadRequest, `"clean_steps" is required when setting target provision state to clean`)
	}
	return program{
		name: "clean", target: "manageable", fails: "clean failed", ends: "manageable",
		phases: s.cleaningPhases(plain(r.CleanSteps)),
	}, nil
}

// automatedStep is the one step of automated cleaning.
var automatedStep = []Step{{Interface: "deploy", Step: "erase_devices_metadata", Priority: 10}}

// automatedCleaning are the phases on the way to available, if cleaning is on.
func (s *Server) automatedCleaning(n *node) []phase {
	on := s.opts.AutomatedClean
	if n.automatedClean != nil {
		on = *n.automatedClean
	}
	if !on {
		return []phase{s.working("cleaning")}
	}
	return s.cleaningPhases(automatedStep)
}

func provide(s *Server, n *node, _ request) (program, error) {
	if n.maintenance {
		return program{}, inMaintenance(n, "providing")
	}
	return program{name: "clean", target: "available", fails: "clean failed", ends: "available", phases: s.automatedCleaning(n)}, nil
}

// coreSteps are the deploy steps that Ironic itself runs after the in-band ones.
var coreSteps = []Step{
	{Interface: "deploy", Step: "prepare_instance_boot", Priority: 60},
	{Interface: "deploy", Step: "tear_down_agent", Priority: 40},
	{Interface: "deploy", Step: "boot_instance", Priority: 20},
}

func deploy(s *Server, n *node, r request) (program, error) {
	if n.maintenance {
		return program{}, inMaintenance(n, "provisioning")
	}
	first := Step{Interface: "deploy", Step: "deploy", Priority: 100}
	inBand := s.inBandSteps(plain(r.DeploySteps))
	all := slices.Concat([]Step{first}, inBand, coreSteps)
	if r.ConfigDrive != nil {
		n.instanceInfo = object(n.instanceInfo)
		n.instanceInfo["configdrive"] = r.ConfigDrive
	}
	show := func(i int) func(*node) {
		return func(n *node) {
			n.deployStep = all[i].object()
			n.internalSet("deploy_step_index", i)
			n.power = "power on"
		}
	}
	phases := []phase{s.working("deploying")}
	phases[0].enter = func(n *node) {
		delete(n.internal, "agent_url")
		n.internalSet("deploy_steps", objects(all))
		n.internalSet("deploy_step_index", 0)
		n.deployStep = first.object()
		s.takeImage(n)
	}
	share := s.opts.Delays.Deploy / time.Duration(max(1, len(inBand)))
	for i := range inBand {
		phases = append(phases, phase{state: "wait call-back", hold: share, enter: show(i + 1)})
	}
	for i := range coreSteps {
		p := s.working("deploying")
		p.enter = show(1 + len(inBand) + i)
		phases = append(phases, p)
	}
	return program{name: "deploy", target: "active", fails: "deploy failed", ends: "active", phases: phases}, nil
}

// takeImage writes into instance_info what the interface "direct" does at the start of a
// deployment: the address that the image's own leads to takes its place.
func (s *Server) takeImage(n *node) {
	source, ok := n.instanceInfo["image_source"].(string)
	if !ok || n.interfaces["deploy_interface"] == "custom-agent" {
		return
	}
	if s.opts.Redirect != nil {
		source = cmp.Or(s.opts.Redirect(source), source)
	}
	n.instanceInfo = object(n.instanceInfo)
	n.instanceInfo["image_source"], n.instanceInfo["image_url"], n.instanceInfo["image_type"] = source, source, "whole-disk"
}

// inBandSteps puts the requested steps and those that the ramdisk runs by itself
// into the order of their priorities.
func (s *Server) inBandSteps(requested []Step) []Step {
	steps := slices.Clone(requested)
	for _, listed := range s.opts.RamdiskSteps {
		asked := slices.ContainsFunc(requested, func(r Step) bool { return r.Step == listed.Step })
		if listed.Priority > 0 && !asked {
			steps = append(steps, listed)
		}
	}
	if len(steps) == 0 {
		steps = []Step{{Interface: "deploy", Step: "write_image", Priority: 80}}
	}
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(b.Priority, a.Priority) })
	return steps
}

func undeploy(s *Server, n *node, _ request) (program, error) {
	phases := append([]phase{s.working("deleting")}, s.automatedCleaning(n)...)
	phases[0].enter = func(n *node) { n.power = "power off" }
	return program{
		name: "undeploy", target: "available", fails: "error", ends: "available", phases: phases,
		finish: func(n *node) {
			n.instanceUUID, n.instanceInfo = "", nil
		},
	}, nil
}

func adopt(s *Server, n *node, _ request) (program, error) {
	p := program{
		name: "adopt", target: "active", fails: "adopt failed", ends: "active",
		phases: []phase{s.working("adopting")},
	}
	if n.interfaces["deploy_interface"] == "ramdisk" && n.instanceInfo["boot_iso"] == nil {
		p.flaw = "Error while attempting to adopt node " + n.uuid + ". Validation of image href failed, reason: missing boot_iso in instance_info"
	}
	return p, nil
}

func service(s *Server, n *node, r request) (program, error) {
	if n.maintenance {
		return program{}, inMaintenance(n, "servicing")
	}
	phases := []phase{s.working("servicing")}
	share := s.opts.Delays.Service / time.Duration(max(1, len(r.ServiceSteps)))
	steps := plain(r.ServiceSteps)
	if !slices.ContainsFunc(steps, inBand) {
		n.serviceStep = nil
	} else if len(n.serviceStep) > 0 {
		// What a tear-down or a failure has left behind is taken for the step that
		// runs, and nothing comes after it.
		phases, steps = append(phases, phase{state: "service wait", hold: share}), nil
	}
	for _, step := range steps {
		phases = append(phases, phase{
			state: "service wait", hold: share, enter: func(n *node) { n.serviceStep, n.serviceRuns, n.power = step.object(), true, "power on" },
			done: func(n *node) string { return s.effect(n, step) },
		})
	}
	phases = append(phases, s.working("servicing"))
	return program{name: "service", target: "active", fails: "service failed", ends: "active", phases: phases}, nil
}

// inBand tells the steps that only a ramdisk knows, so that Ironic cannot take
// them in before one has booted.
func inBand(s Step) bool { return s.Interface == ramdiskInterface }

// ramdiskInterface has the steps of the ramdisk.
const ramdiskInterface = "deploy"

// deployAbortMinor is the API version that knows abort in wait call-back.
const deployAbortMinor = 110

// aborted are the states in which abort leaves a node.
var aborted = map[string]string{"inspect wait": "inspect failed", "clean wait": "clean failed"}

func abort(s *Server, n *node, r request) (program, error) {
	switch n.provision {
	case "wait call-back":
		if r.minor < deployAbortMinor {
			return program{}, fault(http.StatusNotAcceptable, "Request not acceptable.")
		}
		n.stepEnds = true // in-band steps end first, as on the real one
		return program{}, errAccepted
	case "service wait", "service failed":
		return abortService(s, n)
	}
	target, operation := aborted[n.provision], n.provision
	n.epoch++
	s.record(n, "ERROR", operation, "aborted")
	s.move(n, target)
	n.lastError, n.reservation, n.targetProv = abortTexts[operation], "", "manageable"
	n.cleanStep = nil
	s.changed(n)
	return program{}, errAccepted
}

// abortService takes a node back to active, whether its service was under way or
// has failed; what it says then is the only trace.
func abortService(s *Server, n *node) (program, error) {
	text := ""
	if n.provision == "service wait" {
		text = abortTexts[n.provision]
	} else if n.maintenance {
		return program{}, fault(http.StatusConflict, "Can not abort service on node \"%s\" while it is in maintenance mode. "+
			"Please remove the node from maintenance prior to issuing the request to abort the service operation.", n.uuid)
	}
	return program{
		name: "abort", target: "active", fails: "service failed", ends: "active", phases: []phase{s.working("active")},
		finish: func(n *node) { n.lastError = text },
	}, nil
}

var abortTexts = map[string]string{
	"inspect wait": "Inspection was aborted by request.",
	"clean wait":   "By request, the clean operation was aborted",
	"service wait": "By request, the service operation was aborted",
}

// object is the step as the node shows it.
func (s Step) object() map[string]any {
	return map[string]any{"interface": s.Interface, "step": s.Step, "priority": s.Priority, "args": object(s.Args)}
}

func objects(steps []Step) []any {
	list := make([]any, 0, len(steps))
	for _, s := range steps {
		list = append(list, s.object())
	}
	return list
}
