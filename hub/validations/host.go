package validations

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/ironflow/ironflow/hub/wire"
)

// Input is all that the policies may know.
type Input struct {
	Host *wire.Host
	// Inventory is the host's, or nil before the first one (or an unreadable one).
	Inventory *wire.Inventory
	// Cluster is nil for an unbound host.
	Cluster *wire.Cluster
	// OtherNames are the names of the cluster's other hosts.
	OtherNames []string
	Needs      Requirements
	// Connected and MediaConnected tell whether the agent polls and reads its medium.
	Connected, MediaConnected bool
	// Now is the hub's clock.
	Now time.Time
}

// Status of a check.
const (
	Success  = "success"
	Failure  = "failure"
	Pending  = "pending"
	Disabled = "disabled"
)

// Result of one check, as clients see it.
type Result struct {
	ID      string `json:"id"`
	Status  string `json:"status"`
	Message string `json:"message"`
}

// Group says what a failure of a check means for the host's status.
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

type policy struct {
	id       wire.HostValidationID
	category string
	group    Group
	// needsInventory answers pending until there is one.
	needsInventory bool
	// bound leaves the check out for unbound hosts.
	bound bool
	check func(Input) (ok bool, message string)
}

// policies is the table; a host's status depends on nothing else.
var policies = []policy{
	{wire.HostValidationIDConnected, "network", Presence, false, false, connected},
	{wire.HostValidationIDMediaConnected, "network", Presence, false, false, mediaConnected},
	{wire.HostValidationIDHasInventory, "hardware", Presence, false, false, hasInventory},
	{wire.HostValidationIDInventoryNotFullyTruncated, "hardware", Presence, true, false, notFullyTruncated},
	{wire.HostValidationIDInventoryNotPartiallyTruncated, "hardware", Warning, true, false, notPartiallyTruncated},
	{wire.HostValidationIDHasMinCPUCores, "hardware", Hardware, true, false, enoughCPUs},
	{wire.HostValidationIDHasMinMemory, "hardware", Hardware, true, false, enoughMemory},
	{wire.HostValidationIDHasMinValidDisks, "hardware", Hardware, true, false, hasDisk},
	{wire.HostValidationIDHostnameValid, "hardware", Other, true, false, hostnameValid},
	{wire.HostValidationIDHostnameUnique, "hardware", Other, true, true, hostnameUnique},
	{wire.HostValidationIDSufficientInstallationDiskSpeed, "hardware", Other, true, true, diskFast},
	{wire.HostValidationIDTimeSyncedBetweenHostAndService, "network", Other, true, false, clockNear},
	{wire.HostValidationIDHasDefaultRoute, "network", Warning, true, true, defaultRoute},
	{wire.HostValidationIDNTPSynced, "network", Warning, true, true, ntpSynced},
}

// Outcome of all checks of a host.
type Outcome struct {
	// Results by category, in the table's order.
	Results map[string][]Result
	// HasInventory, MinimumHardware, NetworkDefined and Others sum the groups up.
	HasInventory, MinimumHardware, NetworkDefined, Others bool
	// Failures are the messages of failed checks that something waits for.
	Failures []string
}

// JSON is the outcome as the host's validations_info.
func (o Outcome) JSON() (string, error) {
	raw, err := json.Marshal(o.Results)
	return string(raw), err
}

// Host runs the table. Ids in ignored are counted as passed, though shown.
func Host(in Input, ignored ...string) Outcome {
	out := Outcome{
		Results:      map[string][]Result{},
		HasInventory: in.Inventory != nil && !truncated(in.Inventory, wire.InventoryTruncationTypeFull),

		MinimumHardware: true, NetworkDefined: true, Others: true,
	}
	for _, p := range policies {
		if p.bound && in.Cluster == nil {
			continue
		}
		result := p.run(in)
		out.Results[p.category] = append(out.Results[p.category], result)
		if result.Status == Success || p.group == Warning || slices.Contains(ignored, string(p.id)) {
			continue
		}
		switch p.group {
		case Hardware:
			out.MinimumHardware = false
		case Network:
			out.NetworkDefined = false
		case Other:
			out.Others = false
		default: // Presence is read from the facts themselves, and nothing waits for a Warning
		}
		if result.Status == Failure {
			out.Failures = append(out.Failures, result.Message)
		}
	}
	return out
}

func (p policy) run(in Input) Result {
	r := Result{ID: string(p.id), Status: Success}
	if p.needsInventory && in.Inventory == nil {
		r.Status, r.Message = Pending, "Waiting for the host's inventory"
		return r
	}
	ok, message := p.check(in)
	if r.Message = message; !ok {
		r.Status = Failure
	}
	return r
}
