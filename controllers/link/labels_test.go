package link_test

import (
	"maps"
	"testing"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/link"
)

// TestLabelsByAnnotations reach the Node and the Agent, or are refused by name.
func TestLabelsByAnnotations(t *testing.T) {
	for name, tc := range map[string]struct {
		annotation, value string
		node, agent       map[string]string
		says              string
	}{
		"of the Node":          {annotation: names.BMACNodeLabel + "example.com/rack", value: "7", node: map[string]string{"example.com/rack": "7"}},
		"of the Agent":         {annotation: names.BMACAgentLabel + "rack", value: "7", node: map[string]string{"was": "there"}, agent: map[string]string{"rack": "7"}},
		"a value of no label":  {annotation: names.BMACNodeLabel + "rack", value: "row 7", node: map[string]string{"was": "there"}, says: "node-label.rack cannot be a label"},
		"a name of no label":   {annotation: names.BMACAgentLabel + "-rack", value: "7", node: map[string]string{"was": "there"}, says: "cannot be a label"},
		"one of the hub's own": {annotation: names.BMACAgentLabel + names.AgentHostLabel, value: "other", node: map[string]string{"was": "there"}, says: "finds the Agent's host by this label"},
		"fencing":              {annotation: names.BMACFencing, value: "bmc", node: map[string]string{"was": "there"}, says: "no clusters with fencing"},
		"fencing with a Secret that is to be made": {annotation: names.BMACMakeFencing, value: "", node: map[string]string{"was": "there"}, says: "no clusters with fencing"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			in := link.Input{
				Host:  host(metal3v1.StateProvisioning, asked, annotated(tc.annotation, tc.value)),
				Agent: agent(linked, func(a *agentv1.Agent) { a.Spec.NodeLabels = map[string]string{"was": "there"} }),
			}
			plan := link.Decide(in)
			g.Expect(plan.Agent).NotTo(BeNil())
			g.Expect(plan.Agent.Spec.NodeLabels).To(Equal(tc.node))
			want := map[string]string{names.AgentHostLabel: "node-0"}
			maps.Copy(want, tc.agent)
			g.Expect(plan.Agent.Labels).To(Equal(want))
			g.Expect(plan.Says.Message).To(ContainSubstring(tc.says))
			if tc.says != "" {
				g.Expect(plan.Says.Reason).To(Equal(link.ReasonBadAnnotation))
			}
		})
	}
}

// TestLabelsOfTheHostLeaveThoseOfTheInfraEnv, but for one that both have: it is the host's then.
func TestLabelsOfTheHostLeaveThoseOfTheInfraEnv(t *testing.T) {
	g := NewWithT(t)
	in := link.Input{
		Host: host(metal3v1.StateProvisioning, asked, annotated(names.BMACNodeLabel+"rack", "7"), annotated(names.BMACNodeLabel+"zone", "north")),
		Agent: agent(linked, func(a *agentv1.Agent) {
			a.Spec.NodeLabels = map[string]string{"site": "a", "zone": "b", "was": "there"}
			a.Annotations = map[string]string{names.InheritedNodeLabels: "site,zone"}
		}),
	}
	plan := link.Decide(in)
	g.Expect(plan.Agent.Spec.NodeLabels).To(Equal(map[string]string{"rack": "7", "zone": "north", "site": "a"}))
	g.Expect(plan.Agent.Annotations).To(HaveKeyWithValue(names.InheritedNodeLabels, "site"))
	in.Agent = plan.Agent
	in.Agent.Spec.Approved = true
	g.Expect(link.Decide(in).Agent).To(BeNil(), "nothing is left to do")
}
