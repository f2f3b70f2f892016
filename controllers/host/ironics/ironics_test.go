package ironics_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/ironics"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/test/ironic/pair"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

func TestWhichIronicAHostBelongsTo(t *testing.T) {
	for name, c := range map[string]struct {
		annotation, host, id string
		want                 policy.Assignment
	}{
		"a new host goes where there are fewest nodes":   {host: "new", want: policy.Assignment{Name: "west", Unwritten: true}},
		"a host whose node is known stays there":         {host: "old", want: policy.Assignment{Name: "east", Unwritten: true}},
		"also when only its id says so":                  {host: "renamed", id: "lab~old-uuid", want: policy.Assignment{Name: "east", Unwritten: true}},
		"a host whose node is lost, or detached, is new": {host: "gone", id: "an-id-of-before", want: policy.Assignment{Name: "west", Unwritten: true}},
		"what stands on the host counts":                 {host: "old", annotation: "west", want: policy.Assignment{Name: "west"}},
		"an Ironic that is not configured is a problem": {
			host: "new", annotation: "north",
			want: policy.Assignment{Problem: `the annotation ironflow.io/ironic cannot be followed: unknown Ironic endpoint "north": there are: east, west`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				set, _ := pair.Watched(t, simulator.Options{}, "lab~old", "lab~older")
				h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: c.host}}
				h.Status.Provisioning.ID = c.id
				if c.annotation != "" {
					h.Annotations = map[string]string{names.Ironic: c.annotation}
				}
				all := ironics.Set{Several: set}
				_, got := all.Of(h)
				NewWithT(t).Expect(got).To(Equal(c.want))
			})
		})
	}
}

// TestTheIDOfANodeCountsBeforeItsName has two Ironics with a node of the host's name: the host belongs where the node of
// its status is, also while that Ironic is still to be read.
func TestTheIDOfANodeCountsBeforeItsName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		set, sims := pair.New(t, simulator.Options{})
		for name, id := range map[string]string{"east": "of-before", "west": "of-now"} {
			g.Expect(sims[name].Put(simulator.Seed{Fields: map[string]any{
				"uuid": id, "name": "lab~moved", "driver": "redfish", "provision_state": "active", "power_state": "power on",
			}})).To(Succeed())
		}
		sims["west"].Intercept(func(*http.Request) *simulator.Fault {
			return &simulator.Fault{Status: http.StatusServiceUnavailable, Text: "down"}
		})
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go func() { _ = set.Run(ctx) }()
		endpoints := set.All()
		<-endpoints[0].Watch.Synced()
		h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "moved"}}
		h.Status.Provisioning.ID = "of-now"
		all := ironics.Set{Several: set}
		_, got := all.Of(h)
		g.Expect(got).To(Equal(policy.Assignment{Waiting: true, Unread: "west"}))
		sims["west"].Intercept(nil)
		<-endpoints[1].Watch.Synced()
		_, got = all.Of(h)
		g.Expect(got).To(Equal(policy.Assignment{Name: "west", Unwritten: true}))
	})
}
