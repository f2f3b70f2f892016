package host

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/ironic"
)

// keyOrder is the key of a node's extra that holds the order.
const keyOrder = "ironflow_order"

// order is what Ironic was, or is about to be, asked to change on a machine. It
// is kept on the node from before the request until its result is recorded on
// the host, so that a controller that dies at any moment neither repeats work
// that is done nor takes work for done that is not: Since is the node's own
// provision_updated_at, which any request for cleaning or servicing moves.
type order struct {
	// Service tells servicing from preparing.
	Service bool `json:"service,omitempty"`
	// Since is the node's provision_updated_at when the order was written.
	Since time.Time `json:"since"`
	// Failed means that it was started and did not end well: what it was about is
	// in an unknown state.
	Failed bool `json:"failed,omitempty"`
	// Part is the kind of RAID volumes that it changes, empty for none.
	Part raidPart `json:"part,omitempty"`
	// Unsure are the kinds that an earlier, failed order has left in an unknown state.
	Unsure []raidPart `json:"unsure,omitempty"`
	// RAID is what the machine has afterwards; nil without Part.
	RAID *metal3.RAIDConfig `json:"raid,omitempty"`
	// Settings are the BIOS settings to apply.
	Settings map[string]any `json:"settings,omitempty"`
	// Updates are all updates that are on the machine afterwards, nil for no change.
	Updates []metal3.FirmwareUpdate `json:"updates,omitempty"`
}

// orderOf reads the order on a node; nil for none. One that cannot be read is a
// failed one of unknown content.
func orderOf(n *ironic.Node) *order {
	raw, there := n.Extra[keyOrder]
	if !there {
		return nil
	}
	var o order
	text, err := json.Marshal(raw)
	if err == nil {
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber() // settings are compared as they are written
		err = decoder.Decode(&o)
	}
	if err != nil {
		return &order{Failed: true}
	}
	return &o
}

// value is the order as the node keeps it.
func (o *order) value() any {
	raw, err := json.Marshal(o)
	if err != nil {
		return map[string]any{"failed": true} // not reached: an order holds plain values
	}
	var value map[string]any
	_ = json.Unmarshal(raw, &value) // what was just written
	return value
}

// started reports whether the node has moved since the order was written.
func (o *order) started(n *ironic.Node) bool { return !o.Since.Equal(n.ProvisionUpdatedAt) }

// done reports whether the order was carried out: it is over, and not failed.
// Servicing that was aborted leaves the node where servicing that was done does,
// with Ironic's word on it.
func (o *order) done(n *ironic.Node) bool {
	if o == nil || o.Failed || o.Service && strings.Contains(n.LastError, serviceAborted) {
		return false
	}
	return o.started(n) && !n.ProvisionState.Busy() && !n.ProvisionState.Failed()
}

// serviceAborted is Ironic's word on servicing that was aborted.
const serviceAborted = "service operation was aborted"

// unsure are the kinds of volumes whose state is unknown: a change of them has
// failed, and none has succeeded since. A failed order of unknown content makes all
// that is asked for unsure.
func (o *order) unsure(n *ironic.Node, asked metal3.RAIDConfig) []raidPart {
	if o == nil {
		return nil
	}
	parts := slices.Clone(o.Unsure)
	switch {
	case !o.Failed:
	case o.Part != "":
		parts = append(parts, o.Part)
	case len(o.Settings)+len(o.Updates) == 0:
		if asked.HardwareRAIDVolumes != nil {
			parts = append(parts, raidHardware)
		}
		if len(asked.SoftwareRAIDVolumes) > 0 {
			parts = append(parts, raidSoftware)
		}
	}
	slices.Sort(parts)
	return slices.DeleteFunc(slices.Compact(parts), func(p raidPart) bool { return p == o.Part && o.done(n) })
}

// same reports whether two orders ask for the same at the same moment.
func (o *order) same(other *order) bool {
	return o != nil && other != nil && reflect.DeepEqual(o.value(), other.value())
}

// desiredOrder is what a node's extra shall hold in this phase: the order that
// is about to be carried out, its failure, or nothing once it is recorded.
func desiredOrder(o *Observed) ironic.Fields {
	have, p := orderOf(o.Node), planOf(o)
	failed := o.Node.ProvisionState == ironic.StateCleanFailed && o.state() == metal3.StatePreparing ||
		o.Node.ProvisionState == ironic.StateServiceFailed && inUse(o.Host)
	switch {
	case failed && have == nil && o.Node.ProvisionState == ironic.StateCleanFailed:
		return ironic.Fields{keyOrder: (&order{Failed: true, Since: o.Node.ProvisionUpdatedAt}).value()}
	case failed && have != nil && !have.Failed && have.started(o.Node):
		marked := *have
		marked.Failed = true
		return ironic.Fields{keyOrder: marked.value()}
	case failed, o.Sight != Seen:
		return nil
	case p.is == toDo && mayOrder(o):
		return ironic.Fields{keyOrder: p.work.order.value()}
	case have != nil && (p.is == allDone && !inUse(o.Host) || outOfUse(o)):
		return ironic.Fields{keyOrder: ironic.Remove}
	}
	return nil
}

// mayOrder reports whether the node is in the state from which the work is asked
// for: a change of state on the way there would look like work that was done.
func mayOrder(o *Observed) bool {
	if o.state() == metal3.StatePreparing {
		return o.Node.ProvisionState == ironic.StateManageable
	}
	return o.Node.ProvisionState == ironic.StateActive && o.Host.Status.OperationalStatus == metal3.OperationalStatusServicing && inReboot(o)
}

// outOfUse reports a host in use that is not being serviced, so that an order on
// its node has nothing to say any more.
func outOfUse(o *Observed) bool {
	return inUse(o.Host) && o.Node.ProvisionState == ironic.StateActive && o.Host.Status.OperationalStatus != metal3.OperationalStatusServicing
}

// addOrder puts the order and the interface that it needs into what the node
// shall look like.
func addOrder(o *Observed, d *ironic.Desired) {
	if fields := desiredOrder(o); fields != nil {
		if d.Extra == nil {
			d.Extra = ironic.Fields{}
		}
		maps.Copy(d.Extra, fields)
	}
	if p := planOf(o); p.is == toDo && p.work.raid != "" {
		d.Interfaces.RAID = p.work.raid
	} else if o.Node.Interfaces.RAID == raidAgent {
		d.Interfaces.RAID = "" // stays as the software RAID was made
	}
}
