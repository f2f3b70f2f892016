package main

import (
	"fmt"
	"strings"

	"github.com/ironflow/ironflow/api/imagename"
	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// hubChecks change what the hub asks of hosts and clusters.
type hubChecks struct {
	// disabledHost and disabledCluster are comma-separated ids of validations.
	disabledHost, disabledCluster string
	// disabledSteps are comma-separated types of steps.
	disabledSteps string
	// requirements of hosts by release, as JSON.
	requirements string
	// agentVersion is the only agent that hosts may run.
	agentVersion string
}

// settings are those of the hub's validations.
func (c *hubChecks) settings() []setting {
	return []setting{
		{"hub-disabled-host-validations", "DISABLED_HOST_VALIDATIONS", "", "comma-separated ids of validations of hosts that are not run; see docs/validations.md", text(&c.disabledHost)},
		{"hub-disabled-cluster-validations", "DISABLED_CLUSTER_VALIDATIONS", "", "comma-separated ids of validations of clusters that are not run; see docs/validations.md", text(&c.disabledCluster)},
		{"hub-disabled-steps", "DISABLED_STEPS", "", "comma-separated types of steps that hosts are never asked for, such as tang-connectivity-check", text(&c.disabledSteps)},
		{"hub-host-requirements", "HW_VALIDATOR_REQUIREMENTS", "", "hardware requirements of hosts by release, as a JSON list; empty for those of docs/validations.md", text(&c.requirements)},
		{"hub-agent-version", "IRONFLOW_HUB_AGENT_VERSION", "", "full reference of the container image of the only agent that hosts may run; others are told to make way for it; empty for any", text(&c.agentVersion)},
	}
}

// apply reads the settings into the hub's options, and refuses ids that do not exist.
func (c *hubChecks) apply(o *service.Options) error {
	o.Checks = service.Checks{DisabledHost: ids(c.disabledHost), DisabledCluster: ids(c.disabledCluster), AgentImage: c.agentVersion}
	for _, step := range ids(c.disabledSteps) {
		if !instructions.IsStep(wire.StepType(step)) {
			return fmt.Errorf("--hub-disabled-steps: there is no step %q", step)
		}
		o.Checks.DisabledSteps = append(o.Checks.DisabledSteps, wire.StepType(step))
	}
	if err := validations.CheckIDs(o.Checks.DisabledHost, o.Checks.DisabledCluster); err != nil {
		return fmt.Errorf("validations that are not run: %w", err)
	}
	if c.agentVersion != "" {
		if err := imagename.Full(c.agentVersion); err != nil {
			return fmt.Errorf("--hub-agent-version: %w", err)
		}
	}
	if c.requirements == "" {
		return nil
	}
	table, err := validations.ParseTable([]byte(c.requirements))
	if err != nil {
		return fmt.Errorf("--hub-host-requirements: %w", err)
	}
	o.Requirements = table
	return nil
}

func ids(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}
