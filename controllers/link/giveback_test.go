package link_test

import (
	"testing"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/link"
	"github.com/ironflow/ironflow/hub/wire"
)

// unbound is an Agent whose installed machine was taken out of its cluster.
func unbound(a *agentv1.Agent) {
	linked(a)
	inHub(wire.HostStatusUnbindingPendingUserAction)(a)
	agentv1.SetCondition(&a.Status.Conditions, agentv1.Condition{
		Type: agentv1.ConditionBound, Status: "False", Reason: agentv1.ReasonUnbindingPendingUserAction,
	}, metav1.Now())
}

// installedHost is one that this controller has had installed and detached.
func installedHost(change ...func(*metal3v1.BareMetalHost)) *metal3v1.BareMetalHost {
	return host(metal3v1.StateProvisioned, append([]func(*metal3v1.BareMetalHost){asked, annotated(names.Detached, link.Owner), func(h *metal3v1.BareMetalHost) {
		h.Status.Provisioning.CustomDeploy = &metal3v1.CustomDeploy{Method: names.StartAssistedInstall}
	}}, change...)...)
}

// TestWhoAsksForAHostBack: each way is an explicit wish, and none is a conclusion from something that is missing.
func TestWhoAsksForAHostBack(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	deletedAgent := agent(linked, func(a *agentv1.Agent) { stamp := metav1.Now(); a.DeletionTimestamp = &stamp })
	for name, c := range map[string]struct {
		in    link.Input
		given bool
		says  string // the reason of the condition
		tells string
	}{
		"it was taken out of its cluster": {link.Input{Host: installedHost(), Agent: agent(unbound)}, true, link.ReasonGivingBack, "taken out of its cluster"},
		"its Agent is being deleted":      {link.Input{Host: installedHost(), Agent: deletedAgent, AgentDeleted: true}, true, link.ReasonGivingBack, "was deleted"},
		"its Agent was deleted":           {link.Input{Host: installedHost(), AgentDeleted: true}, true, link.ReasonGivingBack, "was deleted"},
		"the annotation with its name":    {link.Input{Host: installedHost(annotated(names.GiveBack, "node-0")), Agent: agent(linked)}, true, link.ReasonGivingBack, names.GiveBack},
		"the annotation, and the label goes in the same edit": {
			link.Input{Host: installedHost(annotated(names.GiveBack, "node-0"), unlabelled), Agent: agent(linked)}, true, link.ReasonGivingBack, names.GiveBack,
		},
		"while it is being installed": {
			link.Input{Host: host(metal3v1.StateProvisioning, asked, annotated(names.GiveBack, "node-0"))}, true, link.ReasonGivingBack, names.GiveBack,
		},

		"the annotation with another name": {link.Input{Host: installedHost(annotated(names.GiveBack, "node-1")), Agent: agent(linked)}, false, link.ReasonLinked, ""},
		"it says so while it is deployed, on its way into its live image": {
			link.Input{Host: host(metal3v1.StateProvisioning, asked), Agent: agent(unbound, func(a *agentv1.Agent) { a.Spec.Approved = true })}, false, link.ReasonLinked, "",
		},
		"the annotation that a person misspelt": {link.Input{Host: installedHost(annotated(names.GiveBack, "Node-0")), Agent: agent(linked)}, false, link.ReasonLinked, ""},
		"an Agent that is missing":              {link.Input{Host: installedHost()}, false, link.ReasonWaitingForAgent, ""},
		"an Agent that goes along with its InfraEnv": {
			link.Input{Host: installedHost(), Agent: deletedAgent}, false, link.ReasonWaitingForAgent, "",
		},
		"its Agent is deleted while it registers": {
			link.Input{Host: host(metal3v1.StateProvisioning, asked), Agent: deletedAgent, AgentDeleted: true}, false, link.ReasonWaitingForAgent, "",
		},
		"a person has detached it": {
			link.Input{Host: installedHost(annotated(names.Detached, "by hand")), Agent: agent(unbound)}, false, link.ReasonGiveBackRefused, "baremetalhost.metal3.io/detached-",
		},
		"it runs what a person has written": {
			link.Input{Host: host(metal3v1.StateProvisioned, unrecorded, func(h *metal3v1.BareMetalHost) {
				h.Spec.Image = &metal3v1.Image{URL: "http://images.example/os.raw"}
				h.Annotations = map[string]string{names.GiveBack: "node-0"}
			})}, false, link.ReasonGiveBackRefused, "spec.image",
		},
		"a claim has it": {
			link.Input{Host: host(metal3v1.StateProvisioned, unrecorded, asked, func(h *metal3v1.BareMetalHost) {
				h.Spec.ConsumerRef = &corev1.ObjectReference{Kind: "HostClaim", Namespace: "team-a", Name: "mine"}
			}), Agent: agent(unbound)}, false, link.ReasonGiveBackRefused, "claim",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c.in.Now = now
			plan := link.Decide(c.in)
			g.Expect(plan.Says).To(And(HaveField("Reason", c.says), HaveField("Message", ContainSubstring(c.tells))))
			g.Expect(plan.DeleteAgent).To(BeFalse(), "it tells of what runs")
			if !c.given {
				if plan.Host != nil {
					g.Expect(plan.Host.Spec).To(Equal(c.in.Host.Spec))
				}
				return
			}
			g.Expect(plan.Host.Spec.CustomDeploy).To(BeNil())
			g.Expect(plan.Host.Annotations).NotTo(HaveKey(names.Detached), "it could not be cleaned")
			g.Expect(plan.Host.Annotations).To(HaveKeyWithValue(names.GivingBack, HavePrefix("2026-03-01T12:00:00Z ")))
			g.Expect(plan.Says.Message).To(ContainSubstring("by 2026-03-01T13:00:00Z"))
			g.Expect(plan.After).To(Equal(time.Hour))
		})
	}
}

// TestGivingBackGoesOnToItsEnd: it is recorded, so that neither a restart nor a label that goes stops it halfway.
func TestGivingBackGoesOnToItsEnd(t *testing.T) {
	begun := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	giving := func(h *metal3v1.BareMetalHost) {
		h.Annotations[names.GivingBack] = begun.Format(time.RFC3339) + " its Agent was taken out of its cluster"
		h.Status.Provisioning.CustomDeploy = &metal3v1.CustomDeploy{Method: names.StartAssistedInstall}
	}
	for name, c := range map[string]struct {
		host  *metal3v1.BareMetalHost
		after time.Duration
		says  string
		gone  bool // the Agent
		done  bool
	}{
		"it is not attached yet":         {host(metal3v1.StateProvisioned, giving), time.Minute, link.ReasonGivingBack, false, false},
		"the label goes":                 {host(metal3v1.StateProvisioned, giving, unlabelled), time.Minute, link.ReasonGivingBack, false, false},
		"it is being cleaned":            {host(metal3v1.StateDeprovisioning, giving), time.Minute, link.ReasonGivingBack, true, false},
		"its status was lost":            {host(metal3v1.StateNone, giving), time.Minute, link.ReasonGivingBack, false, false},
		"it is registered anew":          {host(metal3v1.StateRegistering, giving), time.Minute, link.ReasonGivingBack, false, false},
		"it takes long":                  {host(metal3v1.StateDeprovisioning, giving), 2 * time.Hour, link.ReasonGiveBackLate, true, false},
		"somebody writes the wish again": {host(metal3v1.StateProvisioned, giving, asked), time.Minute, link.ReasonGiveBackRefused, false, false},
		"it is clean":                    {host(metal3v1.StateAvailable, giving, annotated(names.GiveBack, "node-0")), time.Minute, link.ReasonGivenBack, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			plan := link.Decide(link.Input{Host: c.host, Agent: agent(unbound), Now: begun.Add(c.after)})
			g.Expect(plan.Says.Reason).To(Equal(c.says))
			g.Expect(plan.DeleteAgent).To(Equal(c.gone))
			g.Expect(plan.Agent).To(BeNil())
			if c.done {
				g.Expect(plan.Host.Annotations).NotTo(Or(HaveKey(names.GivingBack), HaveKey(names.GiveBack)))
				return
			}
			g.Expect(plan.Host).To(BeNil(), "nothing is written twice, so that nobody is fought with")
		})
	}
	for _, state := range []metal3v1.ProvisioningState{metal3v1.StateExternallyProvisioned, metal3v1.StateProvisioned} {
		t.Run("somebody says that its machine is installed: "+string(state), func(t *testing.T) {
			g := NewWithT(t)
			plan := link.Decide(link.Input{Host: host(state, giving, func(h *metal3v1.BareMetalHost) { h.Spec.ExternallyProvisioned = true })})
			g.Expect(plan.Says).To(And(HaveField("Reason", link.ReasonGiveBackRefused), HaveField("Message", ContainSubstring("is not cleaned"))))
			g.Expect(plan.Host.Annotations).NotTo(HaveKey(names.GivingBack), "it would wait for ever")
		})
	}
}
