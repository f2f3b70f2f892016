package ironic

import (
	"context"
	"encoding/json"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Row is what the watch knows of a node: the fields that are cheap to list, and,
// while a deployment waits for the ramdisk, how far it is. It is part of [Node].
type Row struct {
	UUID string
	Name string

	ProvisionState       ProvisionState
	TargetProvisionState ProvisionState
	PowerState           PowerState
	TargetPowerState     PowerState

	Maintenance bool
	Fault       string // FaultPower, "clean failure" …; empty when none
	Reservation string // conductor that holds the node's lock; empty when free
	LastError   string // cut at 4,096 characters, and erased in some failures: see Gateway.FailureReason

	ProvisionUpdatedAt time.Time
	Health             string // "OK", "Warning", "Critical"; empty below API 1.109

	// Wish is the digest of what the host controller had the node keep of its deployment, in
	// extra; empty for nothing: see WishDigest.
	Wish string
	// Credentials is the digest of the BMC's username and password that the host controller
	// has sent last, as it has the node keep it, in extra; empty for nothing.
	Credentials string
	// Machine is what the host controller has the node keep of the machine that it is of, in extra: one
	// key for each line; empty for nothing.
	Machine string
	// Told is what the host controller has the node keep of what it was told of the spec, in extra; empty for
	// nothing.
	Told string

	DeployStep Step
	Agent      AgentInfo
}

// KeyWish is the entry of extra that Row.Wish is the digest of.
const KeyWish = "ironflow_wish"

// KeyCredentials is the entry of extra that Row.Credentials is.
const KeyCredentials = "ironflow_credentials" //nolint:gosec // the name of a digest

// KeyMachine is the entry of extra that Row.Machine is.
const KeyMachine = "ironflow_machine"

// KeyTold is the entry of extra that Row.Told is.
const KeyTold = "ironflow_told"

// WishDigest names a value of KeyWish, as it was sent or as Ironic gives it back; empty for none.
func WishDigest(wish any) string {
	var plain any
	raw, err := json.Marshal(wish)
	if err != nil || json.Unmarshal(raw, &plain) != nil || plain == nil {
		return ""
	}
	if raw, err = json.Marshal(plain); err != nil { // the members in one order
		return ""
	}
	sum := fnv.New64a()
	_, _ = sum.Write(raw) // a hash takes everything
	return strconv.FormatUint(sum.Sum64(), 16)
}

// rowFields are the fields of every list that the watch asks for. All are
// columns of one table, so that Ironic answers without a join.
var rowFields = []string{
	"uuid", "name", "provision_state", "target_provision_state", "power_state", "target_power_state", "maintenance",
	"fault", "reservation", "provision_updated_at", "last_error", "extra",
}

// progressFields are asked for besides, in the one state that needs them.
var progressFields = []string{"deploy_step", "driver_internal_info"}

// listedFields is the fields parameter of a list in a state; empty: any state. An
// Ironic that does not know a field refuses the whole list.
func (g *Gateway) listedFields(ctx context.Context, state ProvisionState) string {
	fields := slices.Clone(rowFields)
	if _, err := g.service(ctx); err == nil && g.Supports(FeatureHealth) {
		fields = append(fields, "health")
	}
	if state == StateDeployWait {
		fields = append(fields, progressFields...)
	}
	return strings.Join(fields, ",")
}

// wireRow is an entry of a list: the fields of a node that lists are asked for, and a node in full has too.
// Lists are long, and read often.
type wireRow struct {
	UUID                 string         `json:"uuid"`
	Name                 string         `json:"name"`
	ProvisionState       ProvisionState `json:"provision_state"`
	TargetProvisionState ProvisionState `json:"target_provision_state"`
	PowerState           PowerState     `json:"power_state"`
	TargetPowerState     PowerState     `json:"target_power_state"`
	Maintenance          bool           `json:"maintenance"`
	Fault                string         `json:"fault"`
	Reservation          string         `json:"reservation"`
	ProvisionUpdatedAt   time.Time      `json:"provision_updated_at"`
	LastError            string         `json:"last_error"`
	Health               string         `json:"health"`
	DeployStep           Step           `json:"deploy_step"`
	DriverInternalInfo   map[string]any `json:"driver_internal_info"`
	Extra                wireExtra      `json:"extra"`
}

// wireExtra is what lists are read for of extra, where others keep things as well.
type wireExtra struct {
	Wish        any `json:"ironflow_wish"`
	Credentials any `json:"ironflow_credentials"`
	Machine     any `json:"ironflow_machine"`
	Told        any `json:"ironflow_told"`
}

// row keeps of a list entry what the watch compares.
func (w *wireRow) row() Row {
	r := Row{
		UUID: w.UUID, Name: w.Name, ProvisionState: w.ProvisionState, TargetProvisionState: w.TargetProvisionState,
		PowerState: w.PowerState, TargetPowerState: w.TargetPowerState, Maintenance: w.Maintenance, Fault: w.Fault, Reservation: w.Reservation,
		ProvisionUpdatedAt: w.ProvisionUpdatedAt, LastError: Redact(w.LastError), Health: w.Health, Wish: WishDigest(w.Extra.Wish),
	}
	r.Credentials, _ = w.Extra.Credentials.(string)
	r.Machine, _ = w.Extra.Machine.(string)
	r.Told, _ = w.Extra.Told.(string)
	if w.DriverInternalInfo != nil {
		r.DeployStep, r.Agent = w.DeployStep, agentInfo(w.DriverInternalInfo)
	}
	return r
}

// inFlight reports whether the node is in a busy state, or changes its power.
func (r Row) inFlight() bool { return r.ProvisionState.Busy() || r.TargetPowerState != "" }

// UnderWay reports whether Ironic does something to the node that ends by itself: it
// is in a busy state, changes its power, or holds its lock. What needs attention
// all the same, a fault or maintenance, is not.
func (r Row) UnderWay() bool {
	return (r.inFlight() || r.Reservation != "") && !r.Maintenance && r.Fault == ""
}

// sameFields compares the fields of every list.
func (r Row) sameFields(o Row) bool {
	return r.UUID == o.UUID && r.Name == o.Name && r.ProvisionState == o.ProvisionState &&
		r.TargetProvisionState == o.TargetProvisionState && r.PowerState == o.PowerState &&
		r.TargetPowerState == o.TargetPowerState &&
		r.Maintenance == o.Maintenance && r.Fault == o.Fault && r.Reservation == o.Reservation &&
		r.ProvisionUpdatedAt.Equal(o.ProvisionUpdatedAt) && r.LastError == o.LastError && r.Health == o.Health && r.Wish == o.Wish && r.Credentials == o.Credentials &&
		r.Machine == o.Machine && r.Told == o.Told
}

// sameProgress compares how far a deployment is; heartbeats alone do not count.
func (r Row) sameProgress(o Row) bool {
	return r.DeployStep.String() == o.DeployStep.String() && r.Agent.equal(o.Agent)
}
