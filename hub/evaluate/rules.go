package evaluate

import (
	"time"

	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/operators"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// Rules are the settings that hosts and clusters are evaluated by.
type Rules struct {
	// Timers must have their defaults, see [Timers.WithDefaults].
	Timers Timers
	// Needs are the requirements of clusters with a release.
	Needs validations.Table
	// Operators are those that clusters of OpenShift can get beside their release.
	Operators operators.Table
	Checks    Checks
	// Images of an installation; a cluster with a release has its own one of that.
	Images instructions.Images
	// Reclaim tells that agents run inside installed clusters: a host that leaves one
	// is booted back into its live image by them.
	Reclaim bool
	// NodeZero is the host that the hub runs on; the zero value for a hub outside.
	NodeZero NodeZero
}

// Checks change the validations of hosts and clusters.
type Checks struct {
	// DisabledHost and DisabledCluster are ids of checks that are not run.
	DisabledHost, DisabledCluster []string
	// DisabledSteps are never asked of hosts.
	DisabledSteps []wire.StepType
	// AgentImage is the only agent that hosts may run; empty accepts any.
	AgentImage string
}

// Moment is when something is evaluated.
type Moment struct {
	Now time.Time
	// Started is when agents could first reach this hub; until then nobody could be heard.
	Started time.Time
}

// Silent is how long a host could have polled since then and did not: while the
// hub was away, nobody could.
func (m Moment) Silent(since time.Time) time.Duration {
	if since.Before(m.Started) {
		since = m.Started
	}
	return m.Now.Sub(since)
}

// Evaluator evaluates by rules at a moment.
type Evaluator struct {
	*Rules
	Moment
}

// Connected tells whether the agent polls. From the reboot on nobody expects it to.
func (e Evaluator) Connected(h *store.Host) bool {
	return PastReboot(h.Stage()) || e.Silent(h.API.CheckedInAt.Time) <= e.Timers.Silence(h.API.Bootstrap)
}

// ageOf is the time that counts against a limit; an unset time has no age. What
// began before the hub's start has none either, until every living agent has had
// the time to tell what it did while the hub was away.
func (e Evaluator) ageOf(t wire.DateTime) time.Duration {
	if t.IsZero() || t.Before(e.Started) && e.Now.Sub(e.Started) <= e.Timers.Silence(true) {
		return 0
	}
	return e.Now.Sub(t.Time)
}

func (e Evaluator) logsTimedOut(h *store.Host) bool {
	return waitsForLogs(h) && e.ageOf(h.API.LogsStartedAt) > e.Timers.Logs
}

func waitsForLogs(h *store.Host) bool {
	return h.API.LogsInfo == wire.LogsStateRequested || h.API.LogsInfo == wire.LogsStateCollecting
}

// clusterLogsLimits are how long the hub waits for logs from inside a cluster, by how
// far they are.
var clusterLogsLimits = map[wire.LogsState]time.Duration{
	wire.LogsStateRequested: 10 * time.Minute, wire.LogsStateCollecting: time.Hour,
}

func (e Evaluator) clusterLogsTimedOut(c *store.Cluster) bool {
	limit := clusterLogsLimits[c.API.LogsInfo]
	return limit > 0 && e.ageOf(c.API.ControllerLogsStartedAt) > limit
}

func (e Evaluator) clusterLogsOver(c *store.Cluster) time.Time {
	return e.over(c.API.ControllerLogsStartedAt, clusterLogsLimits[c.API.LogsInfo])
}

// MayRepeat tells that a preparation is not tried again too soon.
func (e Evaluator) MayRepeat(c *store.Cluster) bool {
	return c.PreparedAt.IsZero() || e.Now.Sub(c.PreparedAt) >= e.RepeatAfter(c.Preparations)
}

// longestRepeat bounds the pause before something is prepared again.
const longestRepeat = 10 * time.Minute

// RepeatAfter is the pause before something is prepared again that was prepared so many
// times in a row: it doubles, since what a person has to change is not changed sooner by
// trying. A person who asks for it does not wait.
func (e Evaluator) RepeatAfter(times int) time.Duration {
	pause := e.Timers.Repeat
	for range min(times, 16) - 1 {
		pause *= 2
	}
	return max(e.Timers.Repeat, min(pause, longestRepeat))
}
