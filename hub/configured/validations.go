package configured

import (
	"fmt"
	"strings"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/api/imagename"
	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// Validations change what the hub asks of hosts and clusters.
type Validations v1alpha1.HubValidations

// Apply reads the settings into the hub's options, and refuses ids that do not exist.
func (c Validations) Apply(o *service.Options) error {
	o.Checks = service.Checks{DisabledHost: ids(c.DisabledHost), DisabledCluster: ids(c.DisabledCluster), AgentImage: c.AgentVersion}
	for _, step := range ids(c.DisabledSteps) {
		if !instructions.IsStep(wire.StepType(step)) {
			return fmt.Errorf("--hub-disabled-steps: there is no step %q", step)
		}
		o.Checks.DisabledSteps = append(o.Checks.DisabledSteps, wire.StepType(step))
	}
	if err := validations.CheckIDs(o.Checks.DisabledHost, o.Checks.DisabledCluster); err != nil {
		return fmt.Errorf("validations that are not run: %w", err)
	}
	if c.AgentVersion != "" {
		if err := imagename.Full(c.AgentVersion); err != nil {
			return fmt.Errorf("--hub-agent-version: %w", err)
		}
	}
	if c.HostRequirements == "" {
		return nil
	}
	table, err := validations.ParseTable([]byte(c.HostRequirements))
	if err != nil {
		return fmt.Errorf("--hub-host-requirements: %w", err)
	}
	o.Requirements = table
	return nil
}

// ids may also be separated by spaces.
func ids(list []string) []string {
	return strings.Fields(strings.Join(list, " "))
}
