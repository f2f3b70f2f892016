package machine

import (
	"time"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/test/machine/ipa"
)

// Status is what can be seen of a machine at one moment.
type Status struct {
	// UUID is the id of the BMC's system, Name the scenario's name.
	UUID string
	Name string
	// State is what the machine does, Since when it began to.
	State State
	Since time.Time
	// Reason says why the machine is stuck, or what its agent last complained about.
	Reason string
	// Boots counts the times that the firmware came to boot something.
	Boots int
	// BootID is the live system's boot id, empty before the first.
	BootID string
	// Agent is the phase of IPA, empty unless the state is Live.
	Agent ipa.Phase
	// ReadBytes and MediumBytes tell how far the medium was read.
	ReadBytes   int64
	MediumBytes int64
	// Step is the step that IPA runs, empty between steps; the next three are
	// what the step program said last.
	Step    string
	Stage   string
	Percent int
	Text    string
	// Disk is what an installation wrote, nil for an empty machine.
	Disk *hostfile.Installed
}
