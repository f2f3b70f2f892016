package operators_test

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/hub/operators"
	"github.com/ironflow/ironflow/hub/protocol"
	"github.com/ironflow/ironflow/hub/wire"
)

// TestTheBuiltinTableIsTheProtocols: each row has a validation of hosts and of clusters, and
// a support level, and there is no other operator among these.
func TestTheBuiltinTableIsTheProtocols(t *testing.T) {
	g := NewWithT(t)
	models, err := protocol.Models()
	g.Expect(err).NotTo(HaveOccurred())
	table := operators.Builtin()
	features := map[wire.FeatureSupportLevelID]bool{}
	for _, o := range table.Operators {
		g.Expect(models["host-validation-id"].Self.Enum).To(ContainElement(o.ValidationID()), o.Name)
		g.Expect(models["cluster-validation-id"].Self.Enum).To(ContainElement(o.ValidationID()), o.Name)
		g.Expect(models["feature-support-level-id"].Self.Enum).To(ContainElement(string(o.Feature)), o.Name)
		g.Expect(features).NotTo(HaveKey(o.Feature), o.Name)
		features[o.Feature] = true
	}
	g.Expect(table.Operators).To(HaveLen(28), "29 checks of operators, of which ocs is that of a former name of odf")
	g.Expect(table.Names()).To(ContainElements("lso", "lvm", "odf", "cnv", "mce", "mtv", "nvidia-gpu", "amd-gpu", "node-feature-discovery", "nmstate", "metallb"))
}

const more = `
operators:
- name: fleet-agent
  title: Fleet Agent
  namespace: fleet
  package: fleet-agent
  catalog: site-operators
  minutes: 15
  needs: [lso]
  hosts: {roles: {worker: {cpus: 1, memory_mib: 512}}}
- name: lvm
  title: LVM of the site
  feature: LVM
  namespace: openshift-storage
  package: lvms-operator
  channel: stable-4.20
  minutes: 20
`

func TestASitesRowsAreAddedAndReplace(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "operators.yaml")
	g.Expect(os.WriteFile(path, []byte(more), 0o600)).To(Succeed())
	table, err := operators.Load(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(table.Operators).To(HaveLen(29))
	g.Expect(table.Find("fleet-agent")).To(HaveField("Hosts.Roles", HaveKeyWithValue("worker", operators.Amount{CPUs: 1, MemoryMiB: 512})))
	g.Expect(table.Find("fleet-agent").ValidationID()).To(Equal("fleet-agent-requirements-satisfied"))
	g.Expect(table.Find("lvm")).To(And(HaveField("Channel", "stable-4.20"), HaveField("Hosts.Disks", BeNil())), "a row is replaced as a whole")
	g.Expect(operators.Builtin().Find("lvm").Channel).To(BeEmpty())
	_, err = operators.Load(filepath.Join(t.TempDir(), "none.yaml"))
	g.Expect(err).To(MatchError(os.ErrNotExist))
	g.Expect(operators.Load("")).To(Equal(operators.Builtin()))
}

func TestRowsThatNobodyCouldInstall(t *testing.T) {
	row := func(changes string) string {
		return "operators:\n- {name: own, title: Own, namespace: own, package: own, minutes: 10, " + changes + "}\n"
	}
	for name, tc := range map[string]struct{ text, why string }{
		"no rows":          {"operators: []\n", "want a list operators"},
		"unknown member":   {row("colour: red"), "colour"},
		"name":             {"operators:\n- {name: Own!, title: Own, namespace: own, package: own, minutes: 10}\n", "name: want"},
		"no title":         {"operators:\n- {name: own, namespace: own, package: own, minutes: 10}\n", "title: want"},
		"a title of lines": {"operators:\n- {name: own, title: \"a\\nb\", namespace: own, package: own, minutes: 10}\n", "title: want"},
		"no namespace":     {"operators:\n- {name: own, title: Own, package: own, minutes: 10}\n", "namespace: want"},
		"no time":          {"operators:\n- {name: own, title: Own, namespace: own, package: own}\n", "minutes: want"},
		"twice": {
			"operators:\n- {name: own, title: Own, namespace: own, package: own, minutes: 10}\n- {name: own, title: Own, namespace: own, package: own, minutes: 10}\n",
			"own is there twice",
		},
		"text in a channel":       {row(`channel: "a\nb: c"`), "channel: want"},
		"way to watch":            {row("watches: some"), "watches: want own, all or shared"},
		"needs nobody":            {row("needs: [nothing]"), `"nothing"`},
		"needs itself":            {row("needs: [own]"), `"own"`},
		"excludes nobody":         {row("excludes: [nothing]"), `"nothing"`},
		"release":                 {row("since: new"), "since, until: want a release"},
		"architecture":            {row("architectures: [vax]"), `"vax"`},
		"role":                    {row("hosts: {roles: {king: {cpus: 1}}}"), "hosts.roles.king"},
		"negative":                {row("hosts: {roles: {worker: {cpus: -1}}}"), "hosts.roles.worker"},
		"GPU":                     {row("hosts: {gpus: [nvidia]}"), "hosts.gpus: want"},
		"disks of nobody":         {row("hosts: {disks: {min_gb: 5}}"), "hosts.disks: want"},
		"disks twice":             {row("hosts: {disks: {each: true, hosts: 3}}"), "hosts.disks: want"},
		"two groups, a namespace": {"operators:\n- {name: own, title: Own, namespace: openshift-cnv, package: own, minutes: 10, watches: all}\n", "a namespace has one group"},
		"bundle of nobody":        {"bundles:\n- {id: all, title: All, operators: [nothing]}\n", `"nothing"`},
		"empty bundle":            {"bundles:\n- {id: all, title: All, operators: []}\n", "at least one operator"},
		"no YAML":                 {"operators: {", "yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := operators.Builtin().With([]byte(tc.text))
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(tc.why)))
		})
	}
}

func asked(names ...string) operators.Asked {
	var a operators.Asked
	for _, name := range names {
		a.Operators = append(a.Operators, wire.OperatorCreateParams{Name: name})
	}
	return a
}

func TestWhatComesOfAChoice(t *testing.T) {
	virtual := operators.Asked{Bundles: []wire.BundleCreateParams{{ID: "virtualization"}}}
	ai := operators.Asked{Bundles: []wire.BundleCreateParams{{ID: "openshift-ai", OptionalOperators: []string{"amd-gpu"}}}}
	for name, tc := range map[string]struct {
		asked   operators.Asked
		single  bool
		chosen  []string
		needed  []string
		unknown []string
	}{
		"nothing":                       {},
		"one":                           {asked: asked("metallb"), chosen: []string{"metallb"}},
		"with what it needs":            {asked: asked("mtv"), chosen: []string{"cnv", "lso", "mtv"}, needed: []string{"cnv", "lso"}},
		"what is needed and chosen":     {asked: asked("cnv", "lso"), chosen: []string{"cnv", "lso"}},
		"a single node needs otherwise": {asked: asked("cnv"), single: true, chosen: []string{"cnv", "lvm"}, needed: []string{"lvm"}},
		"a bundle": {
			asked: virtual,
			chosen: []string{
				"cluster-observability", "cnv", "fence-agents-remediation", "kube-descheduler", "loki", "lso", "metallb", "mtv", "nmstate", "node-healthcheck",
				"node-maintenance", "numaresources", "oadp", "openshift-logging", "self-node-remediation",
			},
			needed: []string{"lso", "self-node-remediation"},
		},
		"a bundle and more of it": {
			asked:  ai,
			chosen: []string{"amd-gpu", "authorino", "kmm", "lso", "odf", "openshift-ai", "pipelines", "serverless", "servicemesh"},
			needed: []string{"authorino", "kmm", "lso", "odf", "pipelines", "serverless", "servicemesh"},
		},
		"what the table lost": {asked: asked("gone", "lso"), chosen: []string{"lso"}, unknown: []string{"gone"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			chosen, unknown := operators.Builtin().Choose(tc.asked, tc.single)
			var names, needed []string
			for _, c := range chosen {
				names = append(names, c.Name)
				if c.DependencyOnly {
					needed = append(needed, c.Name)
				}
			}
			g.Expect(names).To(Equal(tc.chosen))
			g.Expect(needed).To(Equal(tc.needed))
			g.Expect(unknown).To(Equal(tc.unknown))
		})
	}
	shown := operators.Builtin().Monitored("c", first(operators.Builtin().Choose(ai, false)))
	NewWithT(t).Expect(shown[0]).To(Equal(wire.MonitoredOperator{
		ClusterID: "c", Name: "amd-gpu", OperatorType: wire.OperatorTypeOlm, Namespace: "openshift-amd-gpu", SubscriptionName: "amd-gpu-operator",
		TimeoutSeconds: 1800, Bundles: []string{"openshift-ai"}, SourceBundles: []string{"openshift-ai"},
	}))
}

func first(chosen []operators.Choice, _ []string) []operators.Choice { return chosen }

func TestWhatCannotBeHadIsRefusedByName(t *testing.T) {
	there := operators.Target{Version: "4.20.1"}
	with := func(change func(*operators.Target)) operators.Target {
		out := there
		change(&out)
		return out
	}
	for name, tc := range map[string]struct {
		asked  operators.Asked
		target operators.Target
		why    string
	}{
		"fine":                  {asked("lso", "cnv"), there, ""},
		"several architectures": {asked("odf"), with(func(x *operators.Target) { x.Architecture = "multi" }), ""},
		"unknown":               {asked("odd"), there, `no operator "odd"; this hub offers amd-gpu`},
		"no properties":         {operators.Asked{Operators: []wire.OperatorCreateParams{{Name: "lso", Properties: `{"size":3}`}}}, there, "operator lso has no properties"},
		"empty properties":      {operators.Asked{Operators: []wire.OperatorCreateParams{{Name: "lso", Properties: ` {} `}}}, there, ""},
		"unknown bundle":        {operators.Asked{Bundles: []wire.BundleCreateParams{{ID: "odd"}}}, there, `no bundle "odd"`},
		"no option of the bundle": {
			operators.Asked{Bundles: []wire.BundleCreateParams{{ID: "virtualization", OptionalOperators: []string{"lvm"}}}},
			there,
			`bundle virtualization has no optional operator "lvm"`,
		},
		"release": {
			asked("loki"), with(func(x *operators.Target) { x.Version = "4.16.30" }),
			"operator loki cannot be installed: Loki is there from OpenShift 4.17 on, and the release is 4.16.30",
		},
		"first release": {asked("loki"), with(func(x *operators.Target) { x.Version = "4.17.0-rc.1" }), ""},
		"architecture":  {asked("odf"), with(func(x *operators.Target) { x.Architecture = "aarch64" }), "the architecture is arm64"},
		"of what it needs": {
			asked("openshift-ai"), with(func(x *operators.Target) { x.SingleNode = true }),
			"operator odf cannot be installed: OpenShift Data Foundation needs several hosts, and the cluster is a single node; operator openshift-ai needs it",
		},
		"platform":           {asked("cnv"), with(func(x *operators.Target) { x.Platform = wire.PlatformTypeVsphere }), "does not run on platform vsphere"},
		"single node":        {asked("odf"), with(func(x *operators.Target) { x.SingleNode = true }), "operator odf cannot be installed"},
		"one beside another": {asked("odf", "lvm"), there, "operator lvm cannot be installed beside odf"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			err := operators.Builtin().Refuse(tc.asked, tc.target)
			if tc.why == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(tc.why)))
		})
	}
}

// TestManifestsSubscribe reads back what a cluster would.
func TestManifestsSubscribe(t *testing.T) {
	g := NewWithT(t)
	chosen, _ := operators.Builtin().Choose(asked("cnv", "node-healthcheck", "pipelines", "amd-gpu", "metallb"), false)
	objects := map[string]map[string]any{}
	for _, m := range operators.Manifests(chosen) {
		g.Expect(m.Folder).To(Equal("openshift"))
		g.Expect(objects).NotTo(HaveKey(m.Name))
		var object map[string]any
		g.Expect(yaml.UnmarshalStrict([]byte(m.Content), &object)).To(Succeed(), m.Content)
		objects[m.Name] = object
	}
	var names []string
	for name := range objects {
		names = append(names, name)
	}
	g.Expect(names).To(ConsistOf(
		"50_operator_openshift-cnv_namespace.yaml", "50_operator_openshift-cnv_group.yaml", "50_operator_cnv_subscription.yaml",
		"50_operator_openshift-local-storage_namespace.yaml", "50_operator_openshift-local-storage_group.yaml", "50_operator_lso_subscription.yaml",
		"50_operator_openshift-workload-availability_namespace.yaml", "50_operator_openshift-workload-availability_group.yaml",
		"50_operator_node-healthcheck_subscription.yaml", "50_operator_self-node-remediation_subscription.yaml",
		"50_operator_pipelines_subscription.yaml",
		"50_operator_openshift-amd-gpu_namespace.yaml", "50_operator_openshift-amd-gpu_group.yaml", "50_operator_amd-gpu_subscription.yaml",
		"50_operator_openshift-kmm_namespace.yaml", "50_operator_openshift-kmm_group.yaml", "50_operator_kmm_subscription.yaml",
		"50_operator_metallb-system_namespace.yaml", "50_operator_metallb-system_group.yaml", "50_operator_metallb_subscription.yaml",
	))
	g.Expect(objects["50_operator_cnv_subscription.yaml"]).To(Equal(map[string]any{
		"apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription",
		"metadata": map[string]any{"name": "hco-operatorhub", "namespace": "openshift-cnv"},
		"spec": map[string]any{
			"name": "kubevirt-hyperconverged", "source": "redhat-operators", "sourceNamespace": "openshift-marketplace", "installPlanApproval": "Automatic",
		},
	}))
	g.Expect(objects["50_operator_amd-gpu_subscription.yaml"]["spec"]).To(And(HaveKeyWithValue("channel", "alpha"), HaveKeyWithValue("source", "certified-operators")))
	g.Expect(objects["50_operator_openshift-cnv_group.yaml"]["spec"]).To(HaveKeyWithValue("targetNamespaces", ConsistOf("openshift-cnv")))
	g.Expect(objects["50_operator_openshift-kmm_group.yaml"]["spec"]).To(BeEmpty(), "it watches all namespaces")
	g.Expect(objects["50_operator_openshift-cnv_namespace.yaml"]["metadata"]).To(HaveKeyWithValue("labels", HaveKey("openshift.io/cluster-monitoring")))
	g.Expect(objects["50_operator_metallb-system_namespace.yaml"]["metadata"]).NotTo(HaveKey("labels"))
}
