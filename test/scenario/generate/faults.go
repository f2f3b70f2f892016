package generate

import (
	"fmt"
	"slices"

	"github.com/ironflow/ironflow/agent/scenario"
)

// StageWriting is the stage at which the faults of an installation happen.
const StageWriting = "Writing image to disk"

// faults are the ready-made ones by their kind.
var faults = map[scenario.FaultKind]scenario.Fault{
	scenario.FaultNoBoot:        {Kind: scenario.FaultNoBoot, Text: "no boot device found"},
	scenario.FaultTruncatedRead: {Kind: scenario.FaultTruncatedRead, Text: "the virtual medium ends too early"},
	scenario.FaultAgentDies:     {Kind: scenario.FaultAgentDies, Stage: StageWriting},
	scenario.FaultInstall:       {Kind: scenario.FaultInstall, Stage: StageWriting, Text: "disk write failed: input/output error at sector 4242"},
	scenario.FaultCleanStep:     {Kind: scenario.FaultCleanStep, Text: "disk refuses to be erased: it is frozen"},
	scenario.FaultRestart:       {Kind: scenario.FaultRestart, Stage: StageWriting},
}

// Faults lists the kinds that [AddFault] knows.
func Faults() []scenario.FaultKind {
	var kinds []scenario.FaultKind
	for kind := range faults {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	return kinds
}

// AddFault adds the ready-made fault of the kind, which happens once.
func AddFault(s *scenario.Scenario, kind scenario.FaultKind) error {
	fault, ok := faults[kind]
	if !ok {
		return fmt.Errorf("unknown fault %q; there are: %v", kind, Faults())
	}
	s.Faults = append(s.Faults, fault)
	return nil
}
