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

// TestWhichNodesAreOfAMachine: a node is found by each key that it keeps, until it keeps another or is gone.
func TestWhichNodesAreOfAMachine(t *testing.T) {
	g := NewWithT(t)
	w := NewWatch(nil, WatchOptions{})
	w.Learn(Row{UUID: "b", Machine: "bmc one\nsystem one 1"})
	w.Learn(Row{UUID: "a", Machine: "bmc one\nsystem one 2"})
	w.Learn(Row{UUID: "nobody's"})
	g.Expect(w.OfMachine("bmc one", "system one 2")).To(Equal([]string{"a", "b"}), "each once")
	g.Expect(w.OfMachine("system one 1")).To(Equal([]string{"b"}))
	g.Expect(w.OfMachine("")).To(BeEmpty())
	g.Expect(w.OfMachine()).To(BeEmpty())
	w.Learn(Row{UUID: "b", Machine: "bmc two"})
	g.Expect(w.OfMachine("bmc one")).To(Equal([]string{"a"}))
	g.Expect(w.OfMachine("bmc two")).To(Equal([]string{"b"}))
	w.Forget("a")
	w.Forget("b")
	g.Expect(w.table.machines).To(BeEmpty())
}
