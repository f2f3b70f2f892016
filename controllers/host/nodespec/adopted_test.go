package nodespec

import (
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/ironic"
)

// TestWhatTellsThatAMachineWasAdoptedSince has hosts whose node has had a deployment at noon, and is active since three o'clock.
func TestWhatTellsThatAMachineWasAdoptedSince(t *testing.T) {
	at := func(hour int) time.Time { return time.Date(2026, 1, 2, hour, 0, 0, 0, time.UTC) }
	const noon = 12
	wish := WishOf(&metal3.Image{URL: "a"}, nil)
	for name, c := range map[string]struct {
		state          metal3.ProvisioningState
		deployed, back int // when that began by the status; zero for not
		change         func(*ironic.Node)
		since          bool
	}{
		"available":                               {state: metal3.StateAvailable, deployed: noon, back: 13},
		"being deployed":                          {state: metal3.StateProvisioning, deployed: noon, since: true},
		"being deployed, earlier":                 {state: metal3.StateProvisioning, deployed: 9, since: true},
		"being deployed, by another controller":   {state: metal3.StateProvisioning, deployed: 14},
		"provisioned":                             {state: metal3.StateProvisioned, deployed: noon, since: true},
		"provisioned, after another deployment":   {state: metal3.StateProvisioned, deployed: noon, back: 11, since: true},
		"provisioned, by another controller":      {state: metal3.StateProvisioned, deployed: 14},
		"provisioned, and given back before that": {state: metal3.StateProvisioned, deployed: noon, back: 13},
		"provisioned, and never deployed":         {state: metal3.StateProvisioned},
		"provisioned, by a record that is not read": {state: metal3.StateProvisioned, deployed: noon, change: func(n *ironic.Node) {
			n.InstanceUUID, n.InstanceInfo[keyWish] = "uid", "of another version"
		}},
		"provisioned, by a record": {state: metal3.StateProvisioned, deployed: noon, change: func(n *ironic.Node) {
			n.InstanceInfo[keyWish], n.Extra[keyWish] = wish.Digest(), wish
		}},
		"being given back":                                           {state: metal3.StateDeprovisioning, deployed: noon, back: 14, since: true},
		"being given back after it was active":                       {state: metal3.StateDeprovisioning, deployed: noon, back: 16},
		"being given back, which was deployed by another controller": {state: metal3.StateDeprovisioning, deployed: 13, back: 14},
		"of a node of which nothing is known":                        {state: metal3.StateProvisioning, deployed: noon, change: func(n *ironic.Node) { n.Extra = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			h := &metal3.BareMetalHost{}
			h.Status.Provisioning.State = c.state
			for start, hour := range map[*metav1.Time]int{
				&h.Status.OperationHistory.Provision.Start: c.deployed, &h.Status.OperationHistory.Deprovision.Start: c.back,
			} {
				if hour != 0 {
					*start = metav1.NewTime(at(hour))
				}
			}
			n := &ironic.Node{Extra: map[string]any{KeyBegun: at(noon).Format(time.RFC3339)}, InstanceInfo: map[string]any{}}
			n.ProvisionState, n.ProvisionUpdatedAt = ironic.StateActive, at(15)
			if c.change != nil {
				c.change(n)
			}
			NewWithT(t).Expect(AdoptedSince(h, n)).To(Equal(c.since))
		})
	}
}
