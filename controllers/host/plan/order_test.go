package plan

import (
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/ironic"
)

func TestUnsureVolumes(t *testing.T) {
	asked := metal3.RAIDConfig{HardwareRAIDVolumes: mirror.HardwareRAIDVolumes}
	past := noon.Add(-time.Minute)
	for name, c := range map[string]struct {
		order *Order
		want  []raidPart
	}{
		"no order":                         {nil, nil},
		"not started":                      {&Order{Part: hardwareVolumes, Since: noon}, nil},
		"done":                             {&Order{Part: hardwareVolumes, Since: past}, nil},
		"failed":                           {&Order{Part: hardwareVolumes, Since: past, Failed: true}, []raidPart{hardwareVolumes}},
		"failed, replaced, not started":    {&Order{Part: hardwareVolumes, Since: noon, Unsure: []raidPart{hardwareVolumes}}, []raidPart{hardwareVolumes}},
		"failed, replaced, done":           {&Order{Part: hardwareVolumes, Since: past, Unsure: []raidPart{hardwareVolumes}}, nil},
		"failed, another kind done":        {&Order{Part: softwareVolumes, Since: past, Unsure: []raidPart{hardwareVolumes}}, []raidPart{hardwareVolumes}},
		"failed, but only settings":        {&Order{Since: past, Failed: true, Settings: map[string]any{"a": 1}}, nil},
		"nobody knows":                     {&Order{Part: hardwareVolumes, Since: past, TakenIsRecorded: true}, []raidPart{hardwareVolumes}},
		"somebody else's cleaning, failed": {&Order{Since: past, Failed: true}, []raidPart{hardwareVolumes}},
	} {
		t.Run(name, func(t *testing.T) {
			n := &ironic.Node{Row: ironic.Row{ProvisionState: ironic.StateManageable, ProvisionUpdatedAt: noon}}
			g := NewWithT(t)
			h := &metal3.BareMetalHost{}
			unsure := c.order.unsure(asked, c.order.Done(h, n), c.order.Unknown(h, n, time.Time{}))
			if c.want == nil {
				g.Expect(unsure).To(BeEmpty())
				return
			}
			g.Expect(unsure).To(Equal(c.want))
		})
	}
}

func TestOrdersKeepTheirNumbers(t *testing.T) {
	g := NewWithT(t)
	w := Order{Since: noon, Settings: map[string]any{"Limit": 12000000, "Mode": "x"}}
	read := OrderOf(&ironic.Node{Extra: map[string]any{KeyOrder: w.Value()}})
	g.Expect(read.Same(&w)).To(BeTrue())
	g.Expect(ignored(read.Settings, w.Settings)).To(Equal("Limit=12000000, Mode=x"))
	g.Expect(OrderOf(&ironic.Node{Extra: map[string]any{KeyOrder: "by hand"}}).Failed).To(BeTrue(), "what cannot be read is unsure")
}

// TestAbortedServicingIsNotDone: Ironic takes a node whose servicing was aborted
// straight back to active, where only its last error tells.
func TestAbortedServicingIsNotDone(t *testing.T) {
	for name, c := range map[string]struct {
		word string
		done bool
	}{
		"aborted":            {"By request, the service operation was aborted", false},
		"done":               {"", true},
		"done, power failed": {"Failed to change power state to 'power on'", true},
	} {
		t.Run(name, func(t *testing.T) {
			past := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			node := &ironic.Node{Row: ironic.Row{ProvisionState: ironic.StateActive, ProvisionUpdatedAt: past.Add(time.Minute), LastError: c.word}}
			NewWithT(t).Expect((&Order{Service: true, Since: past}).Done(&metal3.BareMetalHost{}, node)).To(Equal(c.done))
		})
	}
}

var (
	noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

	mirror   = &metal3.RAIDConfig{HardwareRAIDVolumes: []metal3.HardwareRAIDVolume{{Level: "1", Name: "root"}}}
	noVolume = &metal3.RAIDConfig{HardwareRAIDVolumes: []metal3.HardwareRAIDVolume{}}
	softRAID = &metal3.RAIDConfig{SoftwareRAIDVolumes: []metal3.SoftwareRAIDVolume{{Level: "1"}}}
)
