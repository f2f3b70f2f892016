package validations

import (
	"encoding/json"
	"slices"

	"github.com/ironflow/ironflow/hub/wire"
)

// HostInput is all that the checks of a host may know.
type HostInput struct {
	*HostFacts
	// Cluster is nil for an unbound host.
	Cluster *ClusterFacts
	// Needs are those of the host's role, Minimum those of any role. Release is what Needs
	// are without the operators of the cluster, see [HostInput.WithOperators].
	Needs, Minimum, Release Requirements
	// Connected and MediaConnected tell whether the agent polls and reads its medium.
	Connected, MediaConnected bool
	// AgentImage is the only agent that the hub wants; empty accepts any.
	AgentImage string
	// Twin tells of another machine that says that it is this host; empty for none.
	Twin string
}

// Lists say which checks are treated differently.
type Lists struct {
	// Ignored are shown, but nothing waits for them; "all" stands for every id
	// that can be ignored.
	Ignored []string
	// Disabled are not run at all.
	Disabled []string
}

func (l Lists) ignores(id string, never bool) bool {
	return !never && (slices.Contains(l.Ignored, id) || slices.Contains(l.Ignored, All))
}

// All in a list of ignored checks stands for all that can be ignored.
const All = "all"

// Group says what a failure of a host's check means for the host's status.
type Group int

// The groups, in the order in which the host machine looks at them.
const (
	// Presence: the host is disconnected or still being discovered.
	Presence Group = iota
	// Hardware: the host is insufficient, whatever its cluster.
	Hardware
	// Network: something is missing in the cluster's settings.
	Network
	// Other: the host is insufficient for its cluster.
	Other
	// Warning: shown, but nothing waits for it.
	Warning
)

// Categories of the protocol.
const (
	hardware       = "hardware"
	network        = "network"
	operatorChecks = "operators"
	configuration  = "configuration"
	hostsData      = "hosts-data"
)

// HostRow is one check of a host.
type HostRow struct {
	ID       wire.HostValidationID
	Category string
	Group    Group
	// When tells which hosts the check applies to; the others pass, and do not show it.
	When Condition[HostInput]
	// NeedsInventory answers pending until there is one.
	NeedsInventory bool
	// Essential checks cannot be ignored.
	Essential bool
	// MildWithoutRelease only warns in clusters without a release.
	MildWithoutRelease bool
	// Checks and Do are for the documentation: what is looked at, and what a
	// person does about a failure.
	Checks, Do string

	check func(HostInput) verdict
}

// Condition tells when a check applies.
type Condition[T any] struct {
	Name  string
	holds func(T) bool
}

// HostOutcome is what all checks of a host come to.
type HostOutcome struct {
	// Results by category, in the table's order.
	Results map[string][]Result
	// HasInventory, MinimumHardware, NetworkDefined and Others sum the groups up.
	HasInventory, MinimumHardware, NetworkDefined, Others bool
	// Failures are the messages of checks that something waits for.
	Failures []string
}

// JSON is the outcome as the host's validations_info.
func (o HostOutcome) JSON() (string, error) {
	raw, err := json.Marshal(o.Results)
	return string(raw), err
}

// Host runs the table.
func Host(in HostInput, lists Lists) HostOutcome {
	out := HostOutcome{
		Results:      map[string][]Result{},
		HasInventory: in.Inventory != nil && !truncated(in.Inventory, wire.InventoryTruncationTypeFull),

		// Of two machines with one id, neither is a host that can be installed.
		MinimumHardware: in.Twin == "", NetworkDefined: true, Others: true,
	}
	rows := HostRows
	if in.Cluster != nil {
		for _, id := range in.Cluster.ownOperators() {
			rows = append(rows[:len(rows):len(rows)], hostOperatorRow(id))
		}
	}
	for _, row := range rows {
		if !row.When.holds(in) {
			continue
		}
		result := row.run(in, lists)
		out.Results[row.Category] = append(out.Results[row.Category], result)
		group := row.Group
		if row.MildWithoutRelease && in.Cluster != nil && !in.Cluster.Release() {
			group = Warning
		}
		if group == Warning || result.Status == Success || result.Status == Disabled || lists.ignores(result.ID, row.Essential) {
			continue
		}
		switch group {
		case Hardware:
			out.MinimumHardware = false
		case Network:
			out.NetworkDefined = false
		case Other:
			out.Others = false
		default: // Presence is read from the facts themselves
		}
		if result.Status != Pending {
			out.Failures = append(out.Failures, result.Message)
		}
	}
	return out
}

func (row HostRow) run(in HostInput, lists Lists) Result {
	var v verdict
	switch {
	case slices.Contains(lists.Disabled, string(row.ID)):
		v = verdict{Disabled, "The hub was told not to check this"}
	case row.NeedsInventory && in.Inventory == nil && in.unread(theInventory):
		v = unreadable(theInventory)
	case row.NeedsInventory && in.Inventory == nil:
		v = wait("Waiting for the host's inventory")
	default:
		v = row.check(in)
	}
	return v.result(string(row.ID))
}
