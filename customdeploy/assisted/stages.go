package assisted

import "time"

const (
	minute = time.Minute
	// stageGrace is added to each stage's own limit, so that the hub, which
	// knows more, is the first to give up.
	stageGrace = 10 * time.Minute
	// otherStage is the limit of a stage that is not in the table.
	otherStage = 60 * time.Minute
)

// stageLimits holds the stages whose limit differs from otherStage: the hub's
// own time limits of the installation stages, and a day where the protocol
// waits for other machines.
var stageLimits = map[string]time.Duration{
	"Starting installation":         30 * minute,
	"Writing image to disk":         30 * minute,
	"Rebooting":                     40 * minute,
	"Copying registry data to disk": 90 * minute,
	"Waiting for control plane":     24 * time.Hour,
	"Waiting for controller":        24 * time.Hour,
	"Waiting for ignition":          24 * time.Hour,
}

// stageLimit is how long the step lets a stage take.
func stageLimit(stage string) time.Duration {
	if limit, ok := stageLimits[stage]; ok {
		return limit + stageGrace
	}
	return otherStage + stageGrace
}

// waitsForOthers tells whether the stage's time depends on other machines; it
// does not count towards the total then.
func waitsForOthers(stage string) bool { return stageLimits[stage] == 24*time.Hour }
