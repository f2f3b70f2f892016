package main

import (
	"strings"
	"testing"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/controllers/host/view/render"
	"github.com/ironflow/ironflow/test/pages"
)

// doing has a host do what the note says.
func doing(state metal3v1.ProvisioningState, n view.Note) func(*metal3v1.BareMetalHost) {
	return func(h *metal3v1.BareMetalHost) {
		h.Status.Provisioning.State = state
		meta.SetStatusCondition(&h.Status.Conditions, metav1.Condition{Type: metal3v1.ProgressingCondition, Status: metav1.ConditionTrue, Reason: "Provisioning", Message: n.Message()})
	}
}

func trouble(reason, message string) func(*metal3v1.BareMetalHost) {
	return func(h *metal3v1.BareMetalHost) {
		h.Status.Provisioning.State = metal3v1.StateProvisioned
		meta.SetStatusCondition(&h.Status.Conditions, metav1.Condition{Type: metal3v1.ManageableCondition, Status: metav1.ConditionFalse, Reason: reason, Message: message})
	}
}

// deploying has it fail with this reason.
func deploying(reason string) func(*metal3v1.BareMetalHost) {
	return func(h *metal3v1.BareMetalHost) {
		h.Status.Provisioning.State = metal3v1.StateProvisioning
		failed(reason)(h)
	}
}

// TestWhyHost: one answer for each situation, all in one golden file.
func TestWhyHost(t *testing.T) {
	late := doing(metal3v1.StateInspecting, view.Note{Step: "inspecting", WaitingFor: "the BMC to read the live image"})
	var all strings.Builder
	for _, c := range []struct {
		name string
		edit func(*metal3v1.BareMetalHost)
	}{
		{"new", func(*metal3v1.BareMetalHost) {}},
		{"without a BMC", func(h *metal3v1.BareMetalHost) { h.Status.Provisioning.State = metal3v1.StateUnmanaged }},
		{"free", func(h *metal3v1.BareMetalHost) { h.Status.Provisioning.State = metal3v1.StateAvailable }},
		{"as wanted", isReady},
		{"at work", doing(metal3v1.StateProvisioning, view.Note{Step: "install_coreos", Percent: 40, Text: "Writing image to disk"})},
		{"waiting for a machine", doing(metal3v1.StateInspecting, view.Note{Step: "inspecting", WaitingFor: "the BMC to read the live image"})},
		{"waiting for a person", doing(metal3v1.StateProvisioned, view.Note{Step: "firmware changes wait", WaitingFor: "somebody to allow power-off and to reboot the host, or to take the wish back"})},
		{"later than usual", func(h *metal3v1.BareMetalHost) {
			late(h)
			h.Status.OperationHistory.Inspect.Start = metav1.NewTime(noon.Add(-2 * 3600e9))
		}},
		{"failed, tried again", deploying("ProvisioningError")},
		{"failed, mended by a person", deploying("InvalidSpec")},
		{"failed, an image that may come", deploying("LiveImageError")},
		{"failed, given up", deploying("RetryLimitReached")},
		{"Ironic away", trouble("IronicUnavailable", "Ironic is not available; the host keeps its state: connection refused. Next: check Ironic; the host goes on by itself when it answers")},
		{"in maintenance", trouble("Maintenance", "the node is in maintenance in Ironic: disk swap. Next: take it out of maintenance there")},
		{"on hold", func(h *metal3v1.BareMetalHost) { h.Annotations = map[string]string{names.Hold: ""} }},
		{"paused", func(h *metal3v1.BareMetalHost) { h.Annotations = map[string]string{names.Paused: ""} }},
	} {
		h := &metal3v1.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: "site", Name: "node-1"}}
		c.edit(h)
		all.WriteString("# " + c.name + "\n")
		NewWithT(t).Expect(render.Tree(&all, hostWhy(h, noon).node())).To(Succeed())
	}
	golden(t, "why/hosts.txt", all.String())
}

// TestThePageShowsAnAnswer: one of those that are tested.
func TestThePageShowsAnAnswer(t *testing.T) {
	h := &metal3v1.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: "site", Name: "node-1"}}
	deploying("ProvisioningError")(h)
	var text strings.Builder
	NewWithT(t).Expect(render.Tree(&text, hostWhy(h, noon).node())).To(Succeed())
	pages.Generated{Root: "../..", Page: "kubectl.md", Package: "./cmd/kubectl-ironflow", Update: *update}.Hold(t, "why", "```\n$ kubectl ironflow why node-1\n"+text.String()+"```\n")
}

// TestWhyCluster: the same text as its condition.
func TestWhyCluster(t *testing.T) {
	var all strings.Builder
	for _, name := range []string{"installing", "finalizing", "waiting-for-a-person", "insufficient", "failed", "installed"} {
		c, err := findCluster(t.Context(), kube(t, situations()[name]...), "site", "prod")
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		all.WriteString("# " + name + "\n")
		NewWithT(t).Expect(render.Tree(&all, clusterWhy(c).node())).To(Succeed())
	}
	all.WriteString("# nobody installs it\n")
	NewWithT(t).Expect(render.Tree(&all, clusterWhy(cluster{deployment: prod()}).node())).To(Succeed())
	golden(t, "why/clusters.txt", all.String())
}

// TestWhyAgent: the most urgent of its conditions.
func TestWhyAgent(t *testing.T) {
	is := func(kind, status, reason, message string) agentv1.Condition {
		return agentv1.Condition{Type: kind, Status: "False", Reason: reason, Message: message}
	}
	var all strings.Builder
	for _, c := range []struct {
		name, state string
		conditions  []agentv1.Condition
		approved    bool
	}{
		{"new", "", nil, false},
		{
			"refused", "known",
			[]agentv1.Condition{
				is("SpecSynced", "False", "InputError", "role: there is no role queen; take master or worker"),
				is("RequirementsMet", "False", "AgentIsNotApproved", "set spec.approved"),
			},
			false,
		},
		{
			"silent", "disconnected",
			[]agentv1.Condition{
				is("Connected", "False", "AgentIsDisconnected", "the agent has not been heard of for too long"),
				is("Validated", "False", "ValidationsFailing", "x"),
			},
			true,
		},
		{"checks fail", "insufficient", []agentv1.Condition{is("Validated", "False", "ValidationsFailing", "2 checks fail")}, true},
		{"unbound", "known-unbound", []agentv1.Condition{is("Bound", "False", "Unbound", "the host belongs to no cluster; set spec.clusterDeploymentName")}, true},
		{"not approved", "known", []agentv1.Condition{is("RequirementsMet", "False", "AgentIsNotApproved", "set spec.approved to let it be installed")}, false},
		{"ready", "known", []agentv1.Condition{{Type: "RequirementsMet", Status: "True", Reason: "AgentIsReady"}, is("Installed", "False", "InstallationNotStarted", "x")}, true},
		{"installing", "installing-in-progress", []agentv1.Condition{is("Installed", "False", "InstallationInProgress", "Writing image to disk")}, true},
		{"failed", "error", []agentv1.Condition{is("Installed", "False", "InstallationFailed", "disk sda: write error")}, true},
		{"installed", "installed", []agentv1.Condition{{Type: "Installed", Status: "True", Reason: "InstallationCompleted", Message: "done"}}, true},
	} {
		a := &agentv1.Agent{ObjectMeta: metav1.ObjectMeta{Namespace: "site", Name: "0000-a"}}
		a.Spec.Hostname, a.Spec.Approved, a.Status.DebugInfo.State, a.Status.Conditions = "node-1", c.approved, c.state, c.conditions
		if c.name == "ready" {
			a.Spec.ClusterDeploymentName = &agentv1.ClusterReference{Name: "prod", Namespace: "site"}
		}
		if c.name == "checks fail" {
			a.Status.ValidationsInfo = map[string][]agentv1.ValidationResult{
				"hardware": {failing("has-cpu-cores-for-role", "The host has 2 CPUs, 4 are needed; use a larger machine"), failing("ntp-synced", "The clock is 40 s off; set an NTP server")},
			}
		}
		if c.state == "installing-in-progress" {
			since := metav1.NewTime(noon.Add(-72e9))
			a.Status.DebugInfo.StateInfo = "Writing image to disk"
			a.Status.Progress = &agentv1.HostProgressInfo{CurrentStage: "Writing image to disk", ProgressInfo: "45%", InstallationPercentage: 33, StageStartTime: &since}
		}
		all.WriteString("# " + c.name + "\n")
		NewWithT(t).Expect(render.Tree(&all, agentWhy(a, noon).node())).To(Succeed())
	}
	golden(t, "why/agents.txt", all.String())
}

// TestWhyFindsWhatIsMeant by the kind that comes before the name, or is part of it.
func TestWhyFindsWhatIsMeant(t *testing.T) {
	s := shown(t)
	for args, want := range map[string]string{
		"a":                "BareMetalHost/a: provisioning",
		"host a":           "BareMetalHost/a: provisioning",
		"bmh/b":            "who ends it: a person\n└─ next: correct the field of the spec",
		"cluster prod":     "AgentClusterInstall/prod-install: insufficient",
		"cluster/prod":     "who ends it: a person; status.validationsInfo says of each check what to do",
		"aci/prod-install": "AgentClusterInstall/prod-install: insufficient",
		"agent node-0":     "next: correct the spec of the Agent",
		"agent/node-0":     "Agent/0000-node-0 (node-0): insufficient",
	} {
		out, _, err := s.run("", append([]string{"why"}, strings.Fields(args)...)...)
		s.Expect(err).NotTo(HaveOccurred(), args)
		s.Expect(out).To(ContainSubstring(want), args)
	}
	for args, want := range map[string]string{
		"nobody": "host site/nobody is not there", "cluster none": "no cluster none in namespace site",
		"agent none": "agent none is not there", "secret/x": `"secret/x" is no host`,
	} {
		_, _, err := s.run("", append([]string{"why"}, strings.Fields(args)...)...)
		s.Expect(err).To(MatchError(ContainSubstring(want)), args)
	}
}
