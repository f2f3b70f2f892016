package subscription

import (
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/ironic"
)

// given is a subscription without an id on a registered host.
func given(changes ...func(*Input)) Input {
	h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "host-1"}}
	h.Status.Provisioning.ID = "node-1"
	h.Status.GoodCredentials.Reference = &corev1.SecretReference{Name: "bmc"}
	in := Input{Host: h, Object: &metal3.BMCEventSubscription{
		ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "events"},
		Spec:       metal3.BMCEventSubscriptionSpec{HostName: "host-1", Destination: "https://events.test/x", Context: "c"},
	}}
	for _, change := range changes {
		change(&in)
	}
	return in
}

func has(id string) func(*Input) { return func(in *Input) { in.Object.Status.SubscriptionID = id } }

func gone(in *Input) {
	now := metav1.NewTime(time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC))
	in.Object.DeletionTimestamp = &now
}

func there(list ...ironic.Subscription) func(*Input) {
	return func(in *Input) { in.There = &list }
}

func TestDecide(t *testing.T) {
	ours := ironic.Subscription{ID: "7", Destination: "https://events.test/x", Context: "c"}
	other := ironic.Subscription{ID: "9", Destination: "https://events.test/y"}
	detached := func(in *Input) { in.Host.Status.OperationalStatus = metal3.OperationalStatusDetached }
	noHost := func(in *Input) { in.Host = nil }
	for name, c := range map[string]struct {
		in    Input
		do    Action
		id    string
		drop  bool
		lost  bool
		error string
		wait  string
	}{
		"a new one is made":                         {in: given(), do: Create},
		"one with an id is proven once":             {in: given(has("7")), do: List},
		"and found":                                 {in: given(has("7"), there(other, ours))},
		"and not asked about again":                 {in: given(has("7"), func(in *Input) { in.Node = "node-1" })},
		"but on another node it is":                 {in: given(has("7"), func(in *Input) { in.Node = "node-0" }), do: List},
		"one that the BMC lost is made again":       {in: given(has("7"), there(other)), do: Create, lost: true},
		"no host":                                   {in: given(noHost), error: "BareMetalHost lab/host-1 does not exist", wait: "the host"},
		"a host that is not registered":             {in: given(func(in *Input) { in.Host.Status.Provisioning.ID = "" }), wait: "registered"},
		"a host whose BMC was not verified":         {in: given(func(in *Input) { in.Host.Status.GoodCredentials.Reference = nil }), wait: "registered"},
		"a detached host":                           {in: given(detached), wait: "attach the host"},
		"a node that Ironic lost":                   {in: given(has("7"), func(in *Input) { in.Gone = true }), wait: "in Ironic again"},
		"headers that cannot be read":               {in: given(func(in *Input) { in.Problem = "no Secret" }), error: "no Secret", wait: "Secret"},
		"headers do not matter any more once made":  {in: given(has("7"), func(in *Input) { in.Node, in.Problem = "node-1", "no Secret" })},
		"two that ask for the same":                 {in: given(func(in *Input) { in.Twin = "older" }), error: "BMCEventSubscription older"},
		"a deleted one is looked for":               {in: given(gone, has("7")), do: List},
		"and removed":                               {in: given(gone, has("7"), there(other, ours)), do: Remove, id: "7"},
		"and gone":                                  {in: given(gone, has("7"), there(other)), drop: true},
		"and still there":                           {in: given(gone, has("7"), there(ours), func(in *Input) { in.Removed = true }), error: "still has subscription 7", wait: "the BMC"},
		"one without an id is found by its content": {in: given(gone, there(ours)), do: Remove, id: "7"},
		"unless an older one has it":                {in: given(gone, there(ours), func(in *Input) { in.Twin = "older" }), drop: true},
		"a deleted one without host":                {in: given(gone, has("7"), noHost), drop: true},
		"a deleted one without node":                {in: given(gone, has("7"), func(in *Input) { in.Gone = true }), drop: true},
		"a deleted one of a detached host":          {in: given(gone, has("7"), detached), drop: true},
		"a deleted one is released on request": {in: given(gone, has("7"), func(in *Input) {
			in.Object.Annotations = map[string]string{names.ForceDelete: "events"}
		}), drop: true},
		"a request with another name does not count": {in: given(gone, has("7"), func(in *Input) {
			in.Object.Annotations = map[string]string{names.ForceDelete: "evens"}
		}), do: List},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			v := Decide(c.in)
			g.Expect(v.Do.String()).To(Equal(c.do.String()))
			g.Expect(v.ID).To(Equal(c.id))
			g.Expect(v.Drop).To(Equal(c.drop))
			g.Expect(v.Lost).To(Equal(c.lost))
			g.Expect(v.Wait).To(ContainSubstring(c.wait))
			if c.error == "" {
				g.Expect(v.Error).To(BeEmpty())
			}
			g.Expect(v.Error).To(ContainSubstring(c.error))
		})
	}
}
