package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/cluster/view"
	"github.com/ironflow/ironflow/controllers/host/view/render"
	"github.com/ironflow/ironflow/test/pages"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func kube(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, metal3v1.AddToScheme, agentv1.AddToScheme, hivev1.AddToScheme, hiveextv1.AddToScheme} {
		NewWithT(t).Expect(add(scheme)).To(Succeed())
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
}

func prod() *hivev1.ClusterDeployment {
	cd := &hivev1.ClusterDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "site", Name: "prod"}}
	cd.Spec.ClusterName, cd.Spec.BaseDomain = "prod", "lab.example"
	return cd
}

// prodInstall installs it with three hosts, and says what stands in the condition.
func prodInstall(state, kind, reason, message string) *hiveextv1.AgentClusterInstall {
	aci := &hiveextv1.AgentClusterInstall{ObjectMeta: metav1.ObjectMeta{Namespace: "site", Name: "prod-install"}}
	aci.Spec.ClusterDeploymentRef.Name = "prod"
	aci.Spec.ProvisionRequirements.ControlPlaneAgents = 3
	aci.Status.DebugInfo.State = state
	aci.Status.Conditions = []hiveextv1.Condition{
		{Type: "SpecSynced", Status: "True", Reason: "SyncOK", Message: "the hub has what the spec says"},
		{Type: kind, Status: "True", Reason: reason, Message: message},
	}
	return aci
}

// member is a host of the cluster with its machine.
func member(name, state, stage, info string, percent int64, change ...func(*agentv1.Agent, *metal3v1.BareMetalHost)) []client.Object {
	a := &agentv1.Agent{ObjectMeta: metav1.ObjectMeta{Namespace: "site", Name: "0000-" + name, Labels: map[string]string{names.AgentHostLabel: name}}}
	a.Spec.ClusterDeploymentName, a.Spec.Approved, a.Spec.Hostname = &agentv1.ClusterReference{Namespace: "site", Name: "prod"}, true, name
	a.Status.Role, a.Status.DebugInfo.State = "master", state
	if stage != "" {
		since := metav1.NewTime(noon.Add(-72 * time.Second))
		a.Status.Progress = &agentv1.HostProgressInfo{CurrentStage: stage, ProgressInfo: info, InstallationPercentage: percent, StageStartTime: &since}
	}
	host := &metal3v1.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: "site", Name: name, Labels: map[string]string{names.InfraEnvLabel: "edge"}}}
	host.Status.Provisioning.State = metal3v1.StateProvisioned
	for _, c := range change {
		c(a, host)
	}
	return []client.Object{a, host}
}

func failing(id, message string) agentv1.ValidationResult {
	return agentv1.ValidationResult{ID: id, Status: "failure", Message: message}
}

// situations are clusters as their resources show them.
func situations() map[string][]client.Object {
	ourEnv := &agentv1.InfraEnv{ObjectMeta: metav1.ObjectMeta{Namespace: "site", Name: "edge"}}
	ourEnv.Spec.ClusterRef = &agentv1.ClusterReference{Namespace: "site", Name: "prod"}
	wait := func(what, who string) string { return view.Wait{For: what, Ends: who}.String() }
	out := map[string][]client.Object{}
	add := func(name string, aci *hiveextv1.AgentClusterInstall, hosts ...[]client.Object) {
		out[name] = []client.Object{prod(), aci, ourEnv}
		for _, h := range hosts {
			out[name] = append(out[name], h...)
		}
	}

	aci := prodInstall("installing", "Reconciling", "InstallationInProgress", wait("2 of 3 hosts to be installed", "the hosts"))
	aci.Status.Progress, aci.Status.APIVIPs = &hiveextv1.ClusterProgressInfo{TotalPercentage: 41}, []string{"192.0.2.5"}
	writing := func(_ *agentv1.Agent, h *metal3v1.BareMetalHost) {
		h.Status.Provisioning.State = metal3v1.StateProvisioning
	}
	add("installing", aci,
		member("node-0", "installing-in-progress", "Waiting for bootkube", "", 60, writing, func(a *agentv1.Agent, _ *metal3v1.BareMetalHost) { a.Status.Bootstrap = true }),
		member("node-1", "installing-in-progress", "Writing image to disk", "45%", 33, writing), member("node-2", "installing-in-progress", "Joined", "", 90))

	aci = prodInstall("finalizing", "Reconciling", "Finalizing",
		wait("the cluster to come up, stage Waiting for cluster operators; 1 of 3 operators are available", "what runs inside the cluster"))
	aci.Status.Progress = &hiveextv1.ClusterProgressInfo{TotalPercentage: 85}
	aci.Spec.ClusterMetadata = &hiveextv1.ClusterMetadata{AdminKubeconfigSecretRef: corev1.LocalObjectReference{Name: "prod-admin-kubeconfig"}}
	aci.Status.Conditions = append(aci.Status.Conditions, hiveextv1.Condition{
		Type: "OperatorsAvailable", Status: "False", Reason: "OperatorFailed",
		Message: "1 of 3 operators are available\nconsole: progressing: its route is not admitted\ncvo: failed: \x1b[31mno space left on device",
	})
	add("finalizing", aci, member("node-0", "installed", "Done", "", 100), member("node-1", "installed", "Done", "", 100), member("node-2", "installing-in-progress", "Joined", "", 90))

	aci = prodInstall("installing-pending-user-action", "Reconciling", "WaitingForUser",
		wait("a person: node-1 (The host booted the live image again; correct its boot order)", "a person, at these machines"))
	add("waiting-for-a-person", aci, member("node-0", "installed", "Done", "", 100),
		member("node-1", "installing-pending-user-action", "Rebooting", "", 80, func(a *agentv1.Agent, h *metal3v1.BareMetalHost) {
			a.Status.DebugInfo.StateInfo = "The host booted the live image again; correct its boot order, and reboot it"
			h.Status.ErrorType, h.Status.ErrorMessage = metal3v1.PowerManagementError, "the BMC does not answer"
		}), member("node-2", "installed", "Done", "", 100))

	aci = prodInstall("insufficient", "Reconciling", "ValidationsFailing",
		wait("the checks of the cluster to pass: API addresses are missing; set them", "a person; status.validationsInfo says of each check what to do"))
	aci.Status.ValidationsInfo = map[string][]hiveextv1.ValidationResult{
		"network": {{ID: "api-vips-defined", Status: "failure", Message: "API addresses are missing; set them"}, {ID: "ntp-server-configured", Status: "success", Message: "fine"}},
		"hosts-data": {
			{ID: "all-hosts-are-ready-to-install", Status: "failure", Message: "Hosts are not ready: node-0 is insufficient; see their validations"},
			{ID: "sufficient-masters-count", Status: "pending", Message: "the hosts are not known yet"},
		},
	}
	add("insufficient", aci, member("node-0", "insufficient", "", "", 0, func(a *agentv1.Agent, _ *metal3v1.BareMetalHost) {
		a.Spec.Approved = false
		a.Status.DebugInfo.StateInfo = "The host has 2 CPUs, 4 are needed"
		a.Status.ValidationsInfo = map[string][]agentv1.ValidationResult{"hardware": {
			failing("has-cpu-cores-for-role", "The host has 2 CPUs, 4 are needed for a master; use a larger machine"), failing("has-min-valid-disks", "No disk can be installed to; add one of at least 100 GB"),
		}}
		a.Status.Conditions = []agentv1.Condition{{Type: "SpecSynced", Status: "False", Reason: "InputError", Message: "installation_disk_id: there is no such disk; take one of status.inventory"}}
	}), member("node-1", "", "", "", 0)[1:]) // its Agent has not come yet

	add("failed", prodInstall("error", "Stalled", "InstallationFailed", "Too few hosts are left to finish the cluster. Next: give back all of its hosts"),
		member("node-0", "error", "Writing image to disk", "12%", 20, func(a *agentv1.Agent, _ *metal3v1.BareMetalHost) {
			a.Status.DebugInfo.StateInfo = "disk sda: write error at sector 204800"
		}), member("node-1", "cancelled", "", "", 0))

	aci = prodInstall("adding-hosts", "Ready", "InstallationCompleted", "The cluster is installed")
	aci.Status.Progress = &hiveextv1.ClusterProgressInfo{TotalPercentage: 100}
	aci.Spec.ClusterMetadata = &hiveextv1.ClusterMetadata{AdminKubeconfigSecretRef: corev1.LocalObjectReference{Name: "prod-admin-kubeconfig"}}
	aci.Status.Conditions = append(aci.Status.Conditions, hiveextv1.Condition{Type: "OperatorsAvailable", Status: "True", Reason: "OperatorsAvailable", Message: "34 of 34 operators are available"})
	add("installed", aci, member("node-0", "installed", "Done", "", 100), member("node-1", "installed", "Done", "", 100), member("node-2", "installed", "Done", "", 100))
	return out
}

// TestDescribeCluster: what a person sees of a cluster, on a wide and on a narrow terminal.
func TestDescribeCluster(t *testing.T) {
	for name, objects := range situations() {
		for suffix, width := range map[string]int{"": 0, "-narrow": 60} {
			t.Run(name+suffix, func(t *testing.T) {
				g := NewWithT(t)
				cl := kube(t, objects...)
				c, err := findCluster(t.Context(), cl, "site", "prod")
				g.Expect(err).NotTo(HaveOccurred())
				var out strings.Builder
				g.Expect(render.TreeWithin(&out, clusterTree(c, gatherHosts(t.Context(), cl, "site", c), noon), width)).To(Succeed())
				file := filepath.Join("testdata", "cluster", name+suffix+".txt")
				if *update {
					g.Expect(os.MkdirAll(filepath.Dir(file), 0o755)).To(Succeed())
					g.Expect(os.WriteFile(file, []byte(out.String()), 0o644)).To(Succeed())
				}
				want, err := os.ReadFile(file)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(out.String()).To(Equal(string(want)), "run with -update, and look at the difference")
			})
		}
	}
}

// TestThePageShowsATree: the one that is tested.
func TestThePageShowsATree(t *testing.T) {
	tree, err := os.ReadFile(filepath.Join("testdata", "cluster", "waiting-for-a-person.txt"))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	pages.Generated{Root: "../..", Page: "kubectl.md", Package: "./cmd/kubectl-ironflow", Update: *update}.Hold(t, "tree", "```\n$ kubectl ironflow describe cluster prod\n"+string(tree)+"```\n")
}

// TestAClusterThatNobodyInstalls, and one that was not looked at yet, are said to be that.
func TestAClusterThatNobodyInstalls(t *testing.T) {
	g := NewWithT(t)
	show := func(objects ...client.Object) string {
		root, err := describeCluster(t.Context(), kube(t, objects...), "site", "prod")
		g.Expect(err).NotTo(HaveOccurred())
		var out strings.Builder
		g.Expect(render.Tree(&out, root)).To(Succeed())
		return out.String()
	}
	g.Expect(show(prod())).To(ContainSubstring("no AgentClusterInstall names it"))
	alone := &hiveextv1.AgentClusterInstall{ObjectMeta: metav1.ObjectMeta{Namespace: "site", Name: "prod"}}
	alone.Spec.ClusterDeploymentRef.Name = "elsewhere"
	g.Expect(show(alone)).To(And(ContainSubstring("ClusterDeployment elsewhere is not there"), ContainSubstring("not registered at the hub yet")))
}

func TestWhichClusterIsMeant(t *testing.T) {
	install := func(name, of string) *hiveextv1.AgentClusterInstall {
		aci := &hiveextv1.AgentClusterInstall{ObjectMeta: metav1.ObjectMeta{Namespace: "site", Name: name}}
		aci.Spec.ClusterDeploymentRef.Name = of
		return aci
	}
	other := prod()
	other.Name, other.Spec.ClusterName = "b", "paris"
	objects := []client.Object{prod(), install("b", "prod"), other, install("c", "b")}
	for name, tc := range map[string]struct{ want, says string }{
		"prod":     {want: "cd/prod with aci/b"},
		"cd/b":     {want: "cd/b with aci/c"},
		"aci/b":    {want: "cd/prod with aci/b"},
		"paris":    {want: "cd/b with aci/c"},
		"b":        {says: "several clusters of namespace site match b: cd/b with aci/c, cd/prod with aci/b; name one as cd/NAME or aci/NAME"},
		"rome":     {says: "no cluster rome in namespace site"},
		"pod/prod": {says: "want NAME, cd/NAME or aci/NAME"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c, err := findCluster(t.Context(), kube(t, objects...), "site", name)
			if tc.says != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.says)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(c.String()).To(Equal(tc.want))
		})
	}
}
