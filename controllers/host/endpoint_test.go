package host

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/ironic/simulator"
)

// twoIronics are two endpoints, the first of which has nodes already.
func twoIronics(t *testing.T, busy ...string) (*ironic.Endpoints, map[string]*simulator.Server) {
	t.Helper()
	g := NewWithT(t)
	ctx, stop := context.WithCancel(t.Context())
	set, sims := ironic.NewEndpoints(), map[string]*simulator.Server{}
	for _, name := range []string{"east", "west"} {
		sims[name] = simulator.New(simulator.Options{Delays: delays})
		t.Cleanup(sims[name].Close)
		gateway, err := ironic.New(ctx, ironic.Config{Name: name, URL: "http://" + name + ".test", Transport: sims[name].Transport()})
		g.Expect(err).NotTo(HaveOccurred())
		_, err = set.Add(gateway, ironic.WatchOptions{})
		g.Expect(err).NotTo(HaveOccurred())
	}
	for i, name := range busy {
		g.Expect(sims["east"].Put(simulator.Seed{Fields: map[string]any{
			"uuid": name + "-uuid", "name": name, "driver": "redfish", "provision_state": "manageable", "power_state": "power off",
		}})).To(Succeed(), "seed %d", i)
	}
	go func() { _ = set.Run(ctx) }()
	t.Cleanup(stop)
	for _, e := range set.All() {
		<-e.Watch.Synced()
	}
	return set, sims
}

func TestWhichIronicAHostBelongsTo(t *testing.T) {
	for name, c := range map[string]struct {
		annotation, host, id string
		want                 Assignment
	}{
		"a new host goes where there are fewest nodes":   {host: "new", want: Assignment{Name: "west", Unwritten: true}},
		"a host whose node is known stays there":         {host: "old", want: Assignment{Name: "east", Unwritten: true}},
		"also when only its id says so":                  {host: "renamed", id: "lab~old-uuid", want: Assignment{Name: "east", Unwritten: true}},
		"a host whose node is lost, or detached, is new": {host: "gone", id: "an-id-of-before", want: Assignment{Name: "west", Unwritten: true}},
		"what stands on the host counts":                 {host: "old", annotation: "west", want: Assignment{Name: "west"}},
		"an Ironic that is not configured is a problem":  {host: "new", annotation: "north", want: Assignment{Problem: `the annotation ironflow.io/ironic cannot be followed: unknown Ironic endpoint "north": there are: east, west`}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				set, _ := twoIronics(t, "lab~old", "lab~older")
				h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: c.host}}
				h.Status.Provisioning.ID = c.id
				if c.annotation != "" {
					h.Annotations = map[string]string{names.Ironic: c.annotation}
				}
				r := &Reconciler{options: Options{Ironics: set}}
				_, got := r.ironicOf(h)
				NewWithT(t).Expect(got).To(Equal(c.want))
			})
		})
	}
}

// TestTheAssignmentIsWrittenBeforeTheNode assigns a host, and follows it when the
// policy would choose otherwise by now.
func TestTheAssignmentIsWrittenBeforeTheNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		set, sims := twoIronics(t, "lab~old")
		w := newWorldWith(t, simulator.Options{}, Options{Ironics: set}, nil)
		defer w.stop()
		let(10 * time.Second)
		g.Expect(w.host().Annotations).To(HaveKeyWithValue(names.Ironic, "west"))
		g.Expect(sims["west"].Nodes()).To(HaveLen(1))
		for range 3 {
			_, err := set.All()[1].Enrol(t.Context(), ironic.Enrolment{Driver: "redfish"})
			g.Expect(err).NotTo(HaveOccurred())
		}
		let(10 * time.Second)
		g.Expect(sims["east"].Nodes()).To(HaveLen(1), "the host stays where it is")
		w.edit(func(h *metal3.BareMetalHost) { h.Annotations[names.Ironic] = "north" })
		let(10 * time.Second)
		g.Expect(condition(w.host(), "Stalled")).To(And(HaveField("Reason", causeEndpoint), HaveField("Message", ContainSubstring("east, west"))))
		w.edit(func(h *metal3.BareMetalHost) { h.Annotations[names.Ironic] = "west" })
		let(10 * time.Second)
		g.Expect(w.host().Status.ErrorType).To(BeEmpty())
	})
}
