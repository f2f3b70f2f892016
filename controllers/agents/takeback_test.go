package agents

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// wrongly are settings that the hub cannot take, each refused by another part of it.
var wrongly = map[string]func(*agentv1.Agent){
	"a name that is none":           func(a *agentv1.Agent) { a.Spec.Hostname = "Not a name" },
	"arguments that are no list":    func(a *agentv1.Agent) { a.Spec.InstallerArgs = "--quiet" },
	"Ignition that is none":         func(a *agentv1.Agent) { a.Spec.IgnitionConfigOverrides = "{" },
	"a setting that nobody acts on": func(a *agentv1.Agent) { a.Spec.FencingCredentialsSecretRef = "bmc" },
}

// TestAnApprovalIsTakenBackWhateverElseIsWrong: who does not want a machine to be installed any more is heard at once.
func TestAnApprovalIsTakenBackWhateverElseIsWrong(t *testing.T) {
	for name, spoil := range wrongly {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, service.InfraEnvSpec{})
			w.register(testhub.Inventory(1))
			w.change(func(a *agentv1.Agent) { a.Spec.Approved = true })
			w.pass()
			view, _ := w.view()
			w.Expect(view.Approved).To(BeTrue())

			w.change(func(a *agentv1.Agent) {
				spoil(a)
				a.Spec.Approved = false
			})
			w.pass()
			view, _ = w.view()
			w.Expect(view.Approved).To(BeFalse())
			w.Expect(w.condition(agentv1.ConditionSpecSynced).Reason).To(Equal(agentv1.ReasonInputError))
		})
	}
}

// TestAHostLeavesItsClusterWhateverElseIsWrong: settings of a host that is installed cannot change, and the way out stays open.
func TestAHostLeavesItsClusterWhateverElseIsWrong(t *testing.T) {
	for name, spoil := range wrongly {
		t.Run(name, func(t *testing.T) {
			w := inItsCluster(t)
			w.change(func(a *agentv1.Agent) {
				spoil(a)
				a.Spec.ClusterDeploymentName = nil
			})
			w.pass()
			view, _ := w.view()
			w.Expect(view.ClusterID).To(BeEmpty())
			w.Expect(w.condition(agentv1.ConditionBound).Reason).To(HavePrefix(agentv1.ReasonUnbinding))
			w.Expect(w.condition(agentv1.ConditionSpecSynced).Reason).To(Equal(agentv1.ReasonInputError))
		})
	}
}

// TestAnApprovedHostWhoseSettingsAreRefusedIsNotInstalled as its Agent said before: nobody wants that machine any more.
func TestAnApprovedHostWhoseSettingsAreRefusedIsNotInstalled(t *testing.T) {
	for name, spoil := range wrongly {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, service.InfraEnvSpec{})
			spec := service.ClusterSpec{ID: string(w.cd.UID), Name: "prod", Masters: 1, Hold: true}
			_, err := w.hub.EnsureCluster(t.Context(), spec)
			w.Expect(err).NotTo(HaveOccurred())
			w.register(testhub.Inventory(1))
			w.change(func(a *agentv1.Agent) {
				a.Spec.Approved = true
				a.Spec.ClusterDeploymentName = &agentv1.ClusterReference{Namespace: "site", Name: "prod"}
			})
			w.pass()
			agent := w.register(testhub.Inventory(1))
			for _, step := range agent.Poll(t, w.host).Instructions {
				agent.Answer(t, w.host, step, testhub.Inventory(1))
			}
			w.pass()
			_, record := w.view()
			w.Expect(record.Status).To(Equal(wire.HostStatusKnown), record.StatusInfo)

			w.change(spoil)
			w.pass()
			w.Expect(w.condition(agentv1.ConditionSpecSynced).Reason).To(Equal(agentv1.ReasonInputError))
			spec.Hold = false
			begun := func() string {
				c, err := w.hub.EnsureCluster(t.Context(), spec)
				w.Expect(err).NotTo(HaveOccurred())
				return c.Status
			}
			w.Expect(begun()).To(Equal(wire.ClusterStatusReady), "the installation does not begin")
			w.pass()
			w.Expect(w.condition(agentv1.ConditionRequirementsMet)).To(And(HaveField("Status", corev1.ConditionFalse), HaveField("Message", ContainSubstring("SpecSynced"))))

			w.change(func(a *agentv1.Agent) {
				a.Spec.Hostname, a.Spec.InstallerArgs, a.Spec.IgnitionConfigOverrides, a.Spec.FencingCredentialsSecretRef = "", "", "", ""
			})
			w.pass()
			w.Expect(begun()).To(Equal(wire.ClusterStatusPreparingForInstallation), "it begins once the settings are right")
		})
	}
}

// TestAnApprovalWaitsForWhatTheHostSays: an Agent that is made approved is not installed before its BareMetalHost has had its say.
func TestAnApprovalWaitsForWhatTheHostSays(t *testing.T) {
	w := newWorld(t, service.InfraEnvSpec{})
	w.register(testhub.Inventory(1))
	w.change(func(a *agentv1.Agent) { a.Spec.Approved = true })
	host := "node-0"
	w.r.behind = func(context.Context, *agentv1.Agent) (string, error) { return host, nil }
	w.Expect(w.pass().RequeueAfter).To(Equal(lookAgain))
	view, _ := w.view()
	w.Expect(view.Approved).To(BeFalse())
	w.Expect(w.condition(agentv1.ConditionSpecSynced)).To(And(HaveField("Reason", agentv1.ReasonBackendError), HaveField("Message", ContainSubstring("BareMetalHost site/node-0"))))

	host = ""
	w.pass()
	view, _ = w.view()
	w.Expect(view.Approved).To(BeTrue())

	host = "node-0"
	w.pass()
	view, _ = w.view()
	w.Expect(view.Approved).To(BeTrue(), "what was approved stays")
	w.Expect(w.condition(agentv1.ConditionSpecSynced).Reason).To(Equal(agentv1.ReasonSyncOK))
}
