package plan

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/ironic"
)

// KeyOrder is the key of a node's extra that holds the order.
const KeyOrder = "ironflow_order"

// Order is what Ironic was, or is about to be, asked to change on a machine. It
// is kept on the node from before the request until its result is recorded on
// the host, so that a controller that dies at any moment neither repeats work
// that is done nor takes work for done that is not. Since is the node's own
// provision_updated_at, which any request for cleaning or servicing moves; but others
// move it as well, so that the host records which order Ironic has taken: see [Order.Take].
type Order struct {
	// Service tells servicing from preparing.
	Service bool `json:"service,omitempty"`
	// Since is the node's provision_updated_at when the order was written.
	Since time.Time `json:"since"`
	// TakenIsRecorded means that the host's status says whether Ironic has taken the order. Those of
	// older versions were taken if the node has moved since.
	TakenIsRecorded bool `json:"taken_is_recorded,omitempty"`
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

// OrderOf reads the order on a node; nil for none. One that cannot be read is a
// failed one of unknown content.
func OrderOf(n *ironic.Node) *Order {
	raw, there := n.Extra[KeyOrder]
	if !there {
		return nil
	}
	var o Order
	text, err := json.Marshal(raw)
	if err == nil {
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber() // settings are compared as they are written
		err = decoder.Decode(&o)
	}
	if err != nil {
		return &Order{Failed: true}
	}
	return &o
}

// Value is the order as the node keeps it.
func (o *Order) Value() any {
	raw, err := json.Marshal(o)
	if err != nil {
		return map[string]any{"failed": true} // not reached: an order holds plain values
	}
	var value map[string]any
	_ = json.Unmarshal(raw, &value) // what was just written
	return value
}

// Moved reports whether the node has moved since the order was written: for the order, or
// for somebody else.
func (o *Order) Moved(n *ironic.Node) bool { return !o.Since.Equal(n.ProvisionUpdatedAt) }

// TakenCondition is on hosts for which Ironic has taken an order. Its message says which.
const TakenCondition = "WorkAccepted"

// reasonTaken is the condition's one reason.
const reasonTaken = "AcceptedByIronic"

// takenText is the condition's message.
func (o *Order) takenText() string {
	return "Ironic has accepted the work that the node records as of " + o.Since.UTC().Format(time.RFC3339Nano)
}

// Taken reports whether it is known that Ironic has taken the order.
func (o *Order) Taken(s *metal3.BareMetalHostStatus) bool {
	if o == nil {
		return false
	}
	c := meta.FindStatusCondition(s.Conditions, TakenCondition)
	return !o.TakenIsRecorded || c != nil && c.Message == o.takenText()
}

// Take has the host's status record that Ironic has taken the order.
func (o *Order) Take(s *metal3.BareMetalHostStatus, generation int64, now time.Time) {
	meta.SetStatusCondition(&s.Conditions, metav1.Condition{
		Type: TakenCondition, Status: metav1.ConditionTrue, Reason: reasonTaken, Message: o.takenText(),
		ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(now).Rfc3339Copy(),
	})
}

// rests reports whether the node has moved since the order was written, and rests now: it
// is not failed, and neither is the order. Servicing that was aborted leaves the node where
// servicing that was done does, with Ironic's word on it.
func (o *Order) rests(n *ironic.Node) bool {
	if o == nil || o.Failed || o.Service && strings.Contains(n.LastError, serviceAborted) {
		return false
	}
	return o.Moved(n) && !n.ProvisionState.Busy() && !n.ProvisionState.Failed()
}

// Done reports whether the order was carried out: Ironic has taken it, and is done without
// a failure.
func (o *Order) Done(h *metal3.BareMetalHost, n *ironic.Node) bool {
	return o.rests(n) && o.Taken(&h.Status)
}

// Unknown reports whether nobody can tell whether the order was carried out: the node has
// moved, and it is neither known that Ironic has taken the order nor that it has not.
// unasked is the order that it is known not to have taken.
func (o *Order) Unknown(h *metal3.BareMetalHost, n *ironic.Node, unasked time.Time) bool {
	return o.rests(n) && !o.Taken(&h.Status) && !o.Since.Equal(unasked)
}

// serviceAborted is Ironic's word on servicing that was aborted.
const serviceAborted = "service operation was aborted"

// unsure are the kinds of volumes whose state is unknown: a change of them has
// failed, and none has succeeded since. A failed order of unknown content makes all
// that is asked for unsure. done means that the order was carried out, unknown that nobody can tell.
func (o *Order) unsure(asked metal3.RAIDConfig, done, unknown bool) []raidPart {
	if o == nil {
		return nil
	}
	parts := slices.Clone(o.Unsure)
	switch {
	case !o.Failed && !unknown:
	case o.Part != "":
		parts = append(parts, o.Part)
	case len(o.Settings)+len(o.Updates) == 0:
		if asked.HardwareRAIDVolumes != nil {
			parts = append(parts, hardwareVolumes)
		}
		if len(asked.SoftwareRAIDVolumes) > 0 {
			parts = append(parts, softwareVolumes)
		}
	}
	slices.Sort(parts)
	return slices.DeleteFunc(slices.Compact(parts), func(p raidPart) bool { return p == o.Part && done })
}

// Same reports whether two orders ask for the same at the same moment.
func (o *Order) Same(other *Order) bool {
	return o != nil && other != nil && reflect.DeepEqual(o.Value(), other.Value())
}

// desiredOrder is what a node's extra shall hold in this phase: the order that
// is about to be carried out, its failure, or nothing once it is recorded. p is the
// plan; complete means that the node was read in full just now.
func desiredOrder(o Input, p Plan, complete bool) ironic.Fields {
	have, state := OrderOf(o.Node), o.Host.Status.Provisioning.State
	failed := o.Node.ProvisionState == ironic.StateCleanFailed && state == metal3.StatePreparing ||
		o.Node.ProvisionState == ironic.StateServiceFailed && nodespec.InUse(o.Host)
	switch {
	case failed && have == nil && o.Node.ProvisionState == ironic.StateCleanFailed:
		return ironic.Fields{KeyOrder: (&Order{Failed: true, Since: o.Node.ProvisionUpdatedAt}).Value()}
	case failed && have != nil && !have.Failed && have.Moved(o.Node):
		marked := *have
		marked.Failed = true
		return ironic.Fields{KeyOrder: marked.Value()}
	case failed, !complete:
		return nil
	case p.Is == ToDo && mayOrder(o):
		return ironic.Fields{KeyOrder: p.Work.Order.Value()}
	case have != nil && (p.Is == AllDone && !nodespec.InUse(o.Host) || outOfUse(o)):
		return ironic.Fields{KeyOrder: ironic.Remove}
	}
	return nil
}

// mayOrder reports whether the node is in the state from which the work is asked
// for, and nothing is left to be waited for: what happens to the node after the order
// was written may be the work.
func mayOrder(o Input) bool {
	if o.Host.Status.Provisioning.State == metal3.StatePreparing {
		return o.Node.ProvisionState == ironic.StateManageable && o.Turn
	}
	return o.Node.ProvisionState == ironic.StateActive && o.Host.Status.OperationalStatus == metal3.OperationalStatusServicing && InReboot(o.Host, o.Node)
}

// outOfUse reports a host in use that is not being serviced, so that an order on
// its node has nothing to say any more.
func outOfUse(o Input) bool {
	return nodespec.InUse(o.Host) && o.Node.ProvisionState == ironic.StateActive && o.Host.Status.OperationalStatus != metal3.OperationalStatusServicing
}

// AddOrder puts the order and the interface that it needs into what the node
// shall look like. complete means that the node was read in full just now.
func AddOrder(o Input, complete bool, d *ironic.Desired) {
	p := Of(o)
	if fields := desiredOrder(o, p, complete); fields != nil {
		if d.Extra == nil {
			d.Extra = ironic.Fields{}
		}
		maps.Copy(d.Extra, fields)
	}
	if p.Is == ToDo && p.Work.raid != "" {
		d.Interfaces.RAID = p.Work.raid
	} else if o.Node.Interfaces.RAID == raidAgent {
		d.Interfaces.RAID = "" // stays as the software RAID was made
	}
}

// InReboot reports whether the machine is off and about to be on: no client keeps it off.
func InReboot(h *metal3.BareMetalHost, n *ironic.Node) bool {
	return n.PowerState == ironic.PowerOff && h.Spec.Online && KeptOffBy(h) == ""
}

// KeptOffBy names an annotation by which a client keeps the machine of a host in use off; empty for none.
func KeptOffBy(h *metal3.BareMetalHost) string {
	for _, key := range slices.Sorted(maps.Keys(h.Annotations)) {
		if strings.HasPrefix(key, names.RebootPrefix) {
			return key
		}
	}
	return ""
}
