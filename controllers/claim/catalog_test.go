package claim

import (
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/deployowner"
	"github.com/ironflow/ironflow/test/catalog"
)

const kind = "HostClaim"

// theReasonOfAnother stands for the reasons that Ready takes from the others.
const theReasonOfAnother = "the reason of the first that is not"

// inputs are situations in which conditions differ.
func inputs() []Input {
	claim := func(change func(*metal3.HostClaim)) *metal3.HostClaim {
		c := &metal3.HostClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "mine", Generation: 3}}
		if change != nil {
			change(c)
		}
		return c
	}
	host := func(change func(*metal3.BareMetalHost)) *metal3.BareMetalHost {
		return freeHost("host-1", func(h *metal3.BareMetalHost) {
			h.Spec.ConsumerRef = consumerRef(claim(nil))
			if change != nil {
				change(h)
			}
		})
	}
	gone := func(c *metal3.HostClaim) { now := metav1.Now(); c.DeletionTimestamp = &now }
	bound := func(c *metal3.HostClaim) {
		c.Status.BareMetalHost = &metal3.ObjectReference{Namespace: "hosts", Name: "host-1"}
	}
	recorded := func(c *metal3.HostClaim) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, names.BoundHost, "hosts/host-1")
	}
	all := []Input{
		{Claim: claim(recorded)},
		{Claim: claim(nil)},
		{Claim: claim(nil), Unreadable: "what?"},
		{Claim: claim(nil), Admitted: []string{"hosts"}},
		{Claim: claim(bound)},
		{Claim: claim(bound), Host: host(func(h *metal3.BareMetalHost) { h.Spec.ConsumerRef = nil })},
		{Claim: claim(nil), Host: host(nil)},
		{Claim: claim(recorded), Host: host(nil)},
		{Claim: claim(func(c *metal3.HostClaim) { recorded(c); c.Spec.PoweredOn = true }), Host: host(nil)},
		{Claim: claim(nil), Host: host(func(h *metal3.BareMetalHost) { h.Annotations = map[string]string{names.Hold: ""} })},
		{Claim: claim(nil), Host: host(func(h *metal3.BareMetalHost) {
			h.Annotations = map[string]string{names.DeployOwner: deployowner.InfraEnvValue}
		})},
		{Claim: claim(gone), Host: host(func(h *metal3.BareMetalHost) { h.Status.Provisioning.State = metal3.StateDeprovisioning })},
		{Claim: claim(gone), Host: host(func(h *metal3.BareMetalHost) {
			h.Status.Provisioning.State, h.Status.ErrorMessage = metal3.StateDeprovisioning, "no power"
		})},
		{Claim: claim(recorded), Host: host(func(h *metal3.BareMetalHost) {
			h.Status.Conditions = []metav1.Condition{{Type: metal3.ProvisionedCondition, Status: "True"}}
		})},
	}
	for _, secret := range kindsOfSecrets {
		all = append(all, Input{Claim: claim(nil), Host: host(nil), Secrets: Secrets{Problem: &Condition{Reason: secret.reason}}})
	}
	for _, reason := range []string{"Inspecting", "Preparing", "Provisioning", "Deprovisioning"} {
		all = append(all, Input{Claim: claim(recorded), Host: host(func(h *metal3.BareMetalHost) {
			h.Status.Conditions = []metav1.Condition{{Type: metal3.ProgressingCondition, Status: "True", Reason: reason}}
		})})
	}
	return all
}

// TestConditionsAreThoseOfTheCatalogue computes the conditions of every situation:
// what they say is listed, and all that is listed is said in one of them.
func TestConditionsAreThoseOfTheCatalogue(t *testing.T) {
	g := NewWithT(t)
	said := map[catalog.Condition]bool{}
	for _, in := range inputs() {
		v := Decide(in)
		report(in, v)
		others := map[string]bool{}
		for _, c := range in.Claim.Status.Conditions {
			row := catalog.Condition{Kind: kind, Type: c.Type, Status: string(c.Status), Reason: c.Reason}
			if c.Type == metal3.ReadyCondition && c.Status == "False" {
				g.Expect(others).To(HaveKey(c.Reason), "Ready names the reason of another")
				row.Reason = theReasonOfAnother
			}
			g.Expect(catalog.Has(kind, row.Type, row.Status, row.Reason)).To(BeTrue(), "%+v", row)
			g.Expect(c.ObservedGeneration).To(BeEquivalentTo(3))
			said[row], others[c.Reason] = true, true
		}
	}
	for c := range catalog.Of(kind) {
		c.Means = ""
		g.Expect(said).To(HaveKey(c), "never said")
	}
}
