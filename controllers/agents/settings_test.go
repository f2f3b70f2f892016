package agents

import (
	"encoding/json"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"
	gomegatypes "github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/crdpaths"
	"github.com/ironflow/ironflow/test/hub/testhub"
	"github.com/ironflow/ironflow/test/pages"
)

var update = flag.Bool("update", false, "write the table of docs/host-fields.md")

// setting is what becomes of a path of an Agent's spec. Without has and gone the hub
// refuses it.
type setting struct {
	path, spec string
	// has is true of the record where the spec asks for it, gone when it asks no more.
	has, gone gomegatypes.GomegaMatcher
	// becomes is for the table: a member of the REST API, or why it is refused.
	becomes string
}

var settings = []setting{
	{
		"spec.clusterDeploymentName.name", `{"clusterDeploymentName":{"name":"prod","namespace":"site"}}`, HaveField("ClusterID", Not(BeNil())),
		HaveField("ClusterID", BeNil()), "the host's cluster: bound, or unbound where it goes",
	},
	{
		"spec.clusterDeploymentName.namespace", `{"clusterDeploymentName":{"name":"far","namespace":"elsewhere"}}`, HaveField("ClusterID", Not(BeNil())),
		HaveField("ClusterID", BeNil()), "where the ClusterDeployment is; nothing without its name",
	},
	{"spec.role", `{"role":"worker"}`, HaveField("Role", wire.HostRoleWorker), HaveField("Role", wire.HostRoleAutoAssign), "`host_role`; `auto-assign` leaves it to the hub"},
	{"spec.hostname", `{"hostname":"edge-1"}`, HaveField("RequestedHostname", "edge-1"), HaveField("RequestedHostname", ""), "`host_name`; the host's own name where it goes"},
	{"spec.machineConfigPool", `{"machineConfigPool":"infra"}`, HaveField("MachineConfigPoolName", "infra"), HaveField("MachineConfigPoolName", ""), "`machine_config_pool_name`"},
	{"spec.approved", `{"approved":true}`, nil, nil, "whether the host may be installed"},
	{
		"spec.installation_disk_id", `{"installation_disk_id":"/dev/disk/by-id/second"}`, HaveField("InstallationDiskPath", "/dev/sdb"),
		HaveField("InstallationDiskPath", "/dev/sda"), "`disks_selected_config`; the hub's own choice where it goes",
	},
	{
		"spec.installation_disk_path", `{"installation_disk_path":"/dev/sdb"}`, HaveField("InstallationDiskPath", "/dev/sdb"),
		HaveField("InstallationDiskPath", "/dev/sda"), "as `installation_disk_id`, which it excludes",
	},
	{"spec.installerArgs", `{"installerArgs":"[\"--append-karg\",\"quiet\"]"}`, HaveField("InstallerArgs", `["--append-karg","quiet"]`), HaveField("InstallerArgs", ""), "installer-args"},
	{
		"spec.ignitionConfigOverrides", `{"ignitionConfigOverrides":"{\"ignition\":{\"version\":\"3.2.0\"}}"}`,
		HaveField("IgnitionConfigOverrides", ContainSubstring("3.2.0")), HaveField("IgnitionConfigOverrides", ""), "merged last into the host's Ignition",
	},
	{
		"spec.ignitionEndpointTokenReference.name", `{"ignitionEndpointTokenReference":{"name":"token","namespace":"site"}}`, HaveField("IgnitionEndpointTokenSet", true),
		HaveField("IgnitionEndpointTokenSet", false), "`ignition_endpoint_token`: what key `ignition-token` of the Secret holds, read again when the Secret changes",
	},
	{
		"spec.ignitionEndpointTokenReference.namespace", `{"ignitionEndpointTokenReference":{"name":"far","namespace":"elsewhere"}}`,
		HaveField("IgnitionEndpointTokenSet", true), HaveField("IgnitionEndpointTokenSet", false), "where that Secret is",
	},
	{"spec.ignitionEndpointHTTPHeaders{}", `{"ignitionEndpointHTTPHeaders":{"X-Pool":"p"}}`, nil, nil, "`ignition_endpoint_http_headers`"},
	{"spec.nodeLabels{}", `{"nodeLabels":{"zone":"a"}}`, HaveField("NodeLabels", `{"zone":"a"}`), HaveField("NodeLabels", "{}"), "`node_labels`; labels that the REST API has set go"},
	{"spec.fencingCredentialsSecretRef", `{"fencingCredentialsSecretRef":"bmc"}`, nil, nil, "refused: the hub makes no clusters with fencing"},
}

// TestEverySettingOfAnAgentHasItsRow: nothing that a user can write is forgotten.
func TestEverySettingOfAnAgentHasItsRow(t *testing.T) {
	var rows []string
	var b strings.Builder
	b.WriteString("| setting of an Agent | becomes |\n|---|---|\n")
	for _, s := range settings {
		rows = append(rows, s.path)
		fmt.Fprintf(&b, "| `%s` | %s |\n", s.path, s.becomes)
	}
	crdpaths.Leaves(t, "Agent", rows)
	pages.Generated{Root: "../..", Page: "host-fields.md", Package: "./controllers/agents", Update: *update}.Hold(t, "settings of an Agent", b.String())
}

// twoDisks is a machine that can be installed to either disk.
func twoDisks() wire.Inventory {
	inventory := testhub.Inventory(1)
	second := inventory.Disks[0]
	second.ID, second.Path, second.Name, second.ByPath = "/dev/disk/by-id/second", "/dev/sdb", "sdb", "/dev/disk/by-path/pci-2"
	inventory.Disks = append(inventory.Disks, second)
	return inventory
}

func (w *world) secret(token string) {
	w.t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "site", Name: "token"}, Data: map[string][]byte{tokenKey: []byte(token)}}
	if err := w.kube.Create(w.t.Context(), secret); err != nil {
		w.Expect(w.kube.Get(w.t.Context(), types.NamespacedName{Namespace: "site", Name: "token"}, secret)).To(Succeed())
		secret.Data[tokenKey] = []byte(token)
		w.Expect(w.kube.Update(w.t.Context(), secret)).To(Succeed())
	}
}

// elsewhere has a cluster and a token, both called far, in a namespace that the Agents are not in.
func (w *world) elsewhere() {
	w.t.Helper()
	far := metav1.ObjectMeta{Namespace: "elsewhere", Name: "far", UID: types.UID(uuid.NewString())}
	cd := &hivev1.ClusterDeployment{ObjectMeta: far}
	w.Expect(w.kube.Create(w.t.Context(), cd)).To(Succeed())
	w.Expect(w.kube.Create(w.t.Context(), &corev1.Secret{ObjectMeta: far, Data: map[string][]byte{tokenKey: []byte("t")}})).To(Succeed())
	_, err := w.hub.EnsureCluster(w.t.Context(), service.ClusterSpec{ID: hubid.Cluster(cd), Name: "far", Masters: 1})
	w.Expect(err).NotTo(HaveOccurred())
}

// TestWhatIsEmptiedIsTakenBack: each setting reaches the hub's record, and goes from it
// when it goes from the spec.
func TestWhatIsEmptiedIsTakenBack(t *testing.T) {
	for _, s := range settings {
		if s.has == nil {
			continue // a test of its own
		}
		t.Run(s.path, func(t *testing.T) {
			w := newWorld(t, service.InfraEnvSpec{})
			w.ensureCluster()
			w.secret("s3cret")
			w.elsewhere()
			w.register(twoDisks())
			w.pass()
			empty := w.agent().Spec
			w.change(func(a *agentv1.Agent) { w.Expect(json.Unmarshal([]byte(s.spec), &a.Spec)).To(Succeed()) })
			w.pass()
			_, record := w.view()
			w.Expect(record).To(s.has)
			w.Expect(w.condition(agentv1.ConditionSpecSynced).Reason).To(Equal(agentv1.ReasonSyncOK))

			w.change(func(a *agentv1.Agent) { a.Spec = empty })
			w.pass()
			_, record = w.view()
			w.Expect(record).To(s.gone)
			w.Expect(w.condition(agentv1.ConditionSpecSynced).Reason).To(Equal(agentv1.ReasonSyncOK))
		})
	}
}

// TestWhatOthersHaveSetStays: an Agent that never asked for it takes nothing back, and one
// that did takes back its own only.
func TestWhatOthersHaveSetStays(t *testing.T) {
	w := newWorld(t, service.InfraEnvSpec{})
	w.register(twoDisks())
	w.pass()
	_, err := w.hub.UpdateHost(t.Context(), w.host, wire.HostUpdateParams{HostName: new("by-rest"), HostRole: new("worker")})
	w.Expect(err).NotTo(HaveOccurred())
	w.pass()
	_, record := w.view()
	w.Expect(record).To(And(HaveField("RequestedHostname", "by-rest"), HaveField("Role", wire.HostRoleWorker)))

	w.change(func(a *agentv1.Agent) {
		a.Spec.Hostname, a.Spec.InstallationDiskID = "by-agent", "/dev/disk/by-path/pci-2"
	})
	w.pass()
	_, err = w.hub.UpdateHost(t.Context(), w.host, wire.HostUpdateParams{HostName: new("by-rest-again")})
	w.Expect(err).NotTo(HaveOccurred())
	w.change(func(a *agentv1.Agent) { a.Spec.Hostname = "" })
	w.pass()
	_, record = w.view()
	w.Expect(record).To(And(HaveField("RequestedHostname", "by-rest-again"), HaveField("InstallationDiskPath", "/dev/sdb")))
}

// TestAnAgentThatIsMadeAnewAsksForTheSame: one that was lost is no wish to have everything
// taken back.
func TestAnAgentThatIsMadeAnewAsksForTheSame(t *testing.T) {
	w := newWorld(t, service.InfraEnvSpec{})
	w.secret("s3cret")
	agent := w.register(twoDisks())
	w.change(func(a *agentv1.Agent) {
		a.Spec.Hostname, a.Spec.Role, a.Spec.MachineConfigPool, a.Spec.InstallationDiskPath = "edge-1", "worker", "infra", "/dev/sdb"
		a.Spec.IgnitionEndpointTokenReference = &agentv1.NamespacedReference{Namespace: "site", Name: "token"}
		a.Spec.IgnitionEndpointHTTPHeaders = map[string]string{"X-Pool": "p"}
	})
	w.pass()
	_, before := w.view()
	lost := w.agent()
	lost.Finalizers = nil
	w.Expect(w.kube.Update(t.Context(), lost)).To(Succeed())
	w.Expect(w.kube.Delete(t.Context(), lost)).To(Succeed())
	agent.Poll(t, w.host)
	w.feed.host(t.Context(), w.host)
	<-w.woken
	w.pass()
	w.Expect(w.agent().Spec).To(And(HaveField("Hostname", "edge-1"), HaveField("Role", "worker"), HaveField("MachineConfigPool", "infra"), HaveField("InstallationDiskID", "/dev/sdb"),
		HaveField("IgnitionEndpointTokenReference", HaveField("Name", "token")), HaveField("IgnitionEndpointHTTPHeaders", HaveKeyWithValue("X-Pool", "p"))))
	_, after := w.view()
	w.Expect(after).To(And(HaveField("RequestedHostname", before.RequestedHostname), HaveField("Role", before.Role), HaveField("InstallationDiskPath", "/dev/sdb"),
		HaveField("IgnitionEndpointTokenSet", true)))
}

// TestWhatCannotBeHandedOverIsNotInstalled: a host is not approved while part of its
// settings is missing, and the condition says what to do.
func TestWhatCannotBeHandedOverIsNotInstalled(t *testing.T) {
	for name, tc := range map[string]struct {
		spec, says string
		mend       func(*world)
	}{
		"fencing": {`{"fencingCredentialsSecretRef":"bmc"}`, "spec.fencingCredentialsSecretRef: the hub makes no clusters with fencing; take it away", func(w *world) {
			w.change(func(a *agentv1.Agent) { a.Spec.FencingCredentialsSecretRef = "" })
		}},
		"two disks": {`{"installation_disk_id":"/dev/sda","installation_disk_path":"/dev/sdb"}`, "spec.installation_disk_id and spec.installation_disk_path exclude each other", func(w *world) {
			w.change(func(a *agentv1.Agent) { a.Spec.InstallationDiskPath = "" })
		}},
		"a Secret that is not there": {
			`{"ignitionEndpointTokenReference":{"name":"token","namespace":"site"}}`,
			"Secret site/token does not exist: create it, or correct the reference", func(w *world) { w.secret("s3cret") },
		},
		"a Secret without the key": {`{"ignitionEndpointTokenReference":{"name":"other","namespace":"site"}}`, "Secret site/other has no key ignition-token: add it", func(w *world) {
			w.secret("s3cret")
			w.change(func(a *agentv1.Agent) { a.Spec.IgnitionEndpointTokenReference.Name = "token" })
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, service.InfraEnvSpec{})
			w.Expect(w.kube.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "site", Name: "other"}})).To(Succeed())
			w.register(testhub.Inventory(1))
			w.change(func(a *agentv1.Agent) {
				w.Expect(json.Unmarshal([]byte(tc.spec), &a.Spec)).To(Succeed())
				a.Spec.Approved = true
			})
			w.Expect(w.pass().RequeueAfter).To(Equal(lookAgain))
			view, _ := w.view()
			w.Expect(view.Approved).To(BeFalse())
			w.Expect(w.condition(agentv1.ConditionSpecSynced)).To(And(
				HaveField("Status", BeEquivalentTo("False")), HaveField("Reason", agentv1.ReasonInputError), HaveField("Message", ContainSubstring(tc.says))))
			tc.mend(w)
			w.pass()
			view, _ = w.view()
			w.Expect(view.Approved).To(BeTrue())
			w.Expect(w.condition(agentv1.ConditionSpecSynced).Reason).To(Equal(agentv1.ReasonSyncOK))
		})
	}
}

// TestAHostThatJoinsSendsItsToken: what the Agent names is what the check of the Ignition
// endpoint sends, and a Secret that changes changes it.
func TestAHostThatJoinsSendsItsToken(t *testing.T) {
	w := newWorld(t, service.InfraEnvSpec{})
	_, err := w.hub.EnsureCluster(t.Context(), service.ClusterSpec{
		ID: hubid.Cluster(w.cd), Name: "prod", BaseDomain: "example.com", Masters: 1, Was: wire.ClusterStatusInstalled, IgnitionEndpoint: &wire.IgnitionEndpoint{URL: new("https://ign.example/config")},
	})
	w.Expect(err).NotTo(HaveOccurred())
	w.secret("s3cret")
	w.register(testhub.Inventory(1))
	w.change(func(a *agentv1.Agent) {
		a.Spec.ClusterDeploymentName = &agentv1.ClusterReference{Namespace: "site", Name: "prod"}
		a.Spec.IgnitionEndpointTokenReference = &agentv1.NamespacedReference{Namespace: "site", Name: "token"}
		a.Spec.IgnitionEndpointHTTPHeaders = map[string]string{"X-Pool": "p"}
	})
	w.pass()
	agent := w.register(testhub.Inventory(1))
	sent := func() string {
		for _, step := range agent.Poll(t, w.host).Instructions {
			if step.StepType == wire.StepTypeAPIVIPConnectivityCheck {
				return step.Args[0]
			}
		}
		return ""
	}
	w.Expect(sent()).To(And(ContainSubstring(`"ignition_endpoint_token":"s3cret"`), ContainSubstring(`{"key":"X-Pool","value":"p"}`)))

	w.secret("another")
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "site", Name: "token"}}
	w.Expect(w.r.agentsOfSecret(t.Context(), secret)).To(ConsistOf(HaveField("Name", w.host.HostID)), "the Secret wakes its Agents")
	w.change(func(a *agentv1.Agent) { a.Spec.IgnitionEndpointHTTPHeaders = nil })
	w.pass()
	w.Expect(sent()).To(And(ContainSubstring(`"ignition_endpoint_token":"another"`), Not(ContainSubstring("X-Pool"))))
	w.Expect(w.hub.Timeline(t)).NotTo(Or(ContainSubstring("s3cret"), ContainSubstring("another")))
}
