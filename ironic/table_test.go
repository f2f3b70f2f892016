package ironic

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// TestAListOfTheInstantOfACallIsOfBeforeIt: a list that was asked for at the instant of our own call may have been
// answered before it. It says nothing of what the call has changed; the next one does.
func TestAListOfTheInstantOfACallIsOfBeforeIt(t *testing.T) {
	g := NewWithT(t)
	at := time.Now()
	known := newTable()
	known.learn(Row{UUID: "node", ProvisionState: StateDeploying}, at)
	before := Row{UUID: "node", ProvisionState: StateAvailable}
	_, changed := known.merge(before, true, at)
	g.Expect(changed).To(BeFalse(), "what Ironic has taken is forgotten")
	g.Expect(known.rows["node"].row.ProvisionState).To(Equal(StateDeploying))
	_, changed = known.merge(before, true, at.Add(time.Nanosecond))
	g.Expect(changed).To(BeTrue())
}
