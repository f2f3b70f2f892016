package operators_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/hub/operators"
	"github.com/ironflow/ironflow/hub/wire"
)

// site is a file whose first row brings all that goes into a cluster with it, and whose second brings its namespace alone.
const site = `
operators:
- name: fleet-agent
  title: Fleet Agent
  namespace: fleet
  package: fleet-agent
  catalog: site-catalog
  minutes: 15
  hosts: {roles: {master: {cpus: 1}}}
  manifests:
  - apiVersion: v1
    kind: Namespace
    metadata: {name: fleet, labels: {pod-security.kubernetes.io/enforce: privileged}}
  - apiVersion: operators.coreos.com/v1
    kind: OperatorGroup
    metadata: {name: fleets, namespace: fleet}
    spec: {targetNamespaces: [fleet, work]}
  - apiVersion: operators.coreos.com/v1alpha1
    kind: Subscription
    metadata: {name: fleet-agent, namespace: fleet}
    spec: {name: fleet-agent, source: site-catalog, sourceNamespace: openshift-marketplace, startingCSV: fleet-agent.v1.2.3}
  - apiVersion: operators.coreos.com/v1alpha1
    kind: CatalogSource
    metadata: {name: site-catalog, namespace: openshift-marketplace}
    spec: {sourceType: grpc, image: "registry.example/catalog:1"}
  - apiVersion: fleet.example/v1
    kind: Fleet
    metadata: {name: fleet, namespace: fleet}
    spec: {bytes: 10000000, note: "a: b\nc"}
- name: fleet-console
  title: Fleet Console
  namespace: console
  package: fleet-console
  catalog: site-catalog
  minutes: 15
  needs: [fleet-agent]
  manifests:
  - apiVersion: v1
    kind: Namespace
    metadata: {name: console, annotations: {site: a}}
  - apiVersion: operators.coreos.com/v1alpha1
    kind: CatalogSource
    metadata: {name: site-catalog, namespace: openshift-marketplace}
    spec: {sourceType: grpc, image: "registry.example/catalog:1"}
`

func read(t *testing.T, raw string) operators.Table {
	t.Helper()
	path := filepath.Join(t.TempDir(), "operators.yaml")
	NewWithT(t).Expect(os.WriteFile(path, []byte(raw), 0o600)).To(Succeed())
	table, err := operators.Load(path)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return table
}

// TestARowBringsItsManifests: they take the place of those that follow from the row, or are added, and what several rows
// bring is there once.
func TestARowBringsItsManifests(t *testing.T) {
	g := NewWithT(t)
	table := read(t, site)
	chosen, _ := table.Choose(asked("fleet-console"), false)
	texts, objects := map[string]string{}, map[string]map[string]any{}
	for _, m := range operators.Manifests(chosen) {
		g.Expect(m.Folder).To(Equal("openshift"))
		var object map[string]any
		g.Expect(yaml.UnmarshalStrict([]byte(m.Content), &object)).To(Succeed(), m.Content)
		texts[m.Name], objects[m.Name] = m.Content, object
	}
	g.Expect(objects).To(And(HaveLen(8),
		HaveKeyWithValue("50_operator_fleet_namespace.yaml", HaveKeyWithValue("metadata", HaveKeyWithValue("labels", HaveKey("pod-security.kubernetes.io/enforce")))),
		HaveKeyWithValue("50_operator_fleet_group.yaml", And(HaveKeyWithValue("metadata", HaveKeyWithValue("name", "fleets")),
			HaveKeyWithValue("spec", HaveKeyWithValue("targetNamespaces", ConsistOf("fleet", "work"))))),
		HaveKeyWithValue("50_operator_fleet-agent_subscription.yaml", HaveKeyWithValue("spec", HaveKeyWithValue("startingCSV", "fleet-agent.v1.2.3"))),
		HaveKeyWithValue("50_operator_fleet-agent_04_catalogsource.yaml", HaveKeyWithValue("metadata", HaveKeyWithValue("namespace", "openshift-marketplace"))),
		HaveKeyWithValue("50_operator_fleet-agent_05_fleet.yaml", HaveKeyWithValue("spec", HaveKeyWithValue("note", "a: b\nc"))),
		HaveKeyWithValue("50_operator_console_namespace.yaml", HaveKeyWithValue("metadata", HaveKeyWithValue("annotations", HaveKey("site")))),
		HaveKeyWithValue("50_operator_console_group.yaml", HaveKeyWithValue("spec", HaveKeyWithValue("targetNamespaces", ConsistOf("console")))),
		HaveKeyWithValue("50_operator_fleet-console_subscription.yaml", HaveKeyWithValue("spec", HaveKeyWithValue("source", "site-catalog"))),
	))
	g.Expect(texts["50_operator_fleet-agent_05_fleet.yaml"]).To(ContainSubstring("bytes: 10000000\n"), "a whole number stays one")

	shown := table.Monitored("c", chosen)
	g.Expect(shown).To(HaveLen(2))
	g.Expect(shown[0]).To(Equal(wire.MonitoredOperator{
		ClusterID: "c", Name: "fleet-agent", OperatorType: wire.OperatorTypeOlm, Namespace: "fleet", SubscriptionName: "fleet-agent",
		TimeoutSeconds: 900, DependencyOnly: true, Bundles: []string{}, SourceBundles: []string{},
	}), "what follows it looks for the subscription that the row brings")
}

func TestManifestsThatNoClusterCouldGet(t *testing.T) {
	const subscription = "apiVersion: operators.coreos.com/v1alpha1, kind: Subscription, metadata: {name: own, namespace: own}"
	const group = "{apiVersion: operators.coreos.com/v1, kind: OperatorGroup, metadata: {name: a, namespace: own}}"
	const spec = "name: own, source: site, sourceNamespace: openshift-marketplace"
	for name, tc := range map[string]struct{ row, manifest, why string }{
		"no object":                  {"", `text`, "manifests[1]: want an object"},
		"no version":                 {"", `{kind: A, metadata: {name: a}}`, "manifests[1].apiVersion: want"},
		"a version that is none":     {"", `{apiVersion: "v1: x", kind: A, metadata: {name: a}}`, "manifests[1].apiVersion: want"},
		"no kind":                    {"", `{apiVersion: v1, metadata: {name: a}}`, "manifests[1].kind: want"},
		"a kind in another spelling": {"", `{apiVersion: v1, Kind: A, metadata: {name: a}}`, "manifests[1].kind: want"},
		"a list":                     {"", `{apiVersion: v1, kind: List, metadata: {name: a}, items: []}`, "manifests[1].kind: want the kind of one object"},
		"no name":                    {"", `{apiVersion: v1, kind: A, metadata: {}}`, "manifests[1].metadata.name: want"},
		"a name that is made":        {"", `{apiVersion: v1, kind: A, metadata: {generateName: a-}}`, "manifests[1].metadata.generateName: want a name"},
		"a name with a slash":        {"", `{apiVersion: v1, kind: A, metadata: {name: a/b}}`, "manifests[1].metadata.name: want"},
		"a namespace that is none":   {"", `{apiVersion: v1, kind: A, metadata: {name: a, namespace: "a b"}}`, "manifests[1].metadata.namespace: want"},
		"twice":                      {"", `{apiVersion: v1, kind: ConfigMap, metadata: {name: first, namespace: own}}`, "manifests[1]: ConfigMap own/first is there twice"},
		"two groups":                 {"", group + ", " + strings.Replace(group, "name: a", "name: b", 1), "manifests[2]: the OperatorGroup of namespace own is there twice"},
		"the group of another":       {"", `{apiVersion: operators.coreos.com/v1, kind: OperatorGroup, metadata: {name: a, namespace: other}}`, "manifests[1].metadata.namespace: want own"},
		"a group and watches":        {"watches: own, ", group, "manifests[1].kind: want either an OperatorGroup"},
		"a group where there is one": {"watches: shared, ", group, "manifests[1].kind: want no Namespace"},
		"a shared namespace":         {"watches: shared, ", `{apiVersion: v1, kind: Namespace, metadata: {name: own}}`, "manifests[1].kind: want no Namespace"},
		"another's subscription": {
			"", `{apiVersion: operators.coreos.com/v1alpha1, kind: Subscription, metadata: {name: other, namespace: own}}`,
			"manifests[1].metadata: want the row's own subscription, own/own",
		},
		"another package":              {"", `{` + subscription + `, spec: {name: other, source: site, sourceNamespace: a}}`, "manifests[1].spec.name: want the row's package, own"},
		"another channel":              {"channel: stable, ", `{` + subscription + `, spec: {` + spec + `}}`, "manifests[1].spec.channel: want the row's channel, stable"},
		"another catalog":              {"catalog: theirs, ", `{` + subscription + `, spec: {` + spec + `}}`, "manifests[1].spec.source: want"},
		"no catalog":                   {"", `{` + subscription + `, spec: {name: own}}`, "manifests[1].spec.source: want"},
		"a catalog of no namespace":    {"", `{` + subscription + `, spec: {name: own, source: site}}`, "manifests[1].spec.sourceNamespace: want"},
		"a plan that nobody approves":  {"", `{` + subscription + `, spec: {` + spec + `, installPlanApproval: Manual}}`, "manifests[1].spec.installPlanApproval: want Automatic"},
		"a subscription without words": {"", `{` + subscription + `, spec: all}`, "manifests[1].spec: "},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			path := filepath.Join(t.TempDir(), "operators.yaml")
			row := "operators:\n- {name: first, title: First, namespace: first, package: first, minutes: 1}\n- {name: own, title: Own, namespace: own, package: own, minutes: 10, " + tc.row +
				"manifests: [{apiVersion: v1, kind: ConfigMap, metadata: {name: first, namespace: own}}, " + tc.manifest + "]}\n"
			g.Expect(os.WriteFile(path, []byte(row), 0o600)).To(Succeed())
			_, err := operators.Load(path)
			g.Expect(err).To(MatchError(HavePrefix(path + `: operators[1] ("own"): ` + tc.why)))
		})
	}
}

// TestAnErrorNamesFileRowAndMember: also of what Go's type lacks, and of values of another type.
func TestAnErrorNamesFileRowAndMember(t *testing.T) {
	for name, tc := range map[string]struct{ text, why string }{
		"a member that is none":       {"operators:\n- {name: a, colour: red}\n", `operators[0] ("a"): unknown field "colour"`},
		"below another":               {"operators:\n- {name: a, hosts: {roles: {worker: {cpuz: 1}}}}\n", `operators[0] ("a"): unknown field "hosts.roles.worker.cpuz"`},
		"in another spelling":         {"operators:\n- {Name: a}\n", `operators[0] (""): unknown field "Name"`},
		"a number that is a text":     {"operators:\n- {name: a, minutes: many}\n", `operators[0] ("a"): json: cannot unmarshal string into Go struct field Operator.minutes`},
		"a release that is a number":  {"operators:\n- {name: a, since: 4.20}\n", `operators[0] ("a"): json: cannot unmarshal number into Go struct field Operator.since`},
		"twice":                       {"operators:\n- {name: a, title: A, title: B}\n", `key "title" already set`},
		"of a bundle":                 {"bundles:\n- {id: a, operators: [lso]}\n- {id: b, colour: red}\n", `bundles[1] ("b"): unknown field "colour"`},
		"a bundle without operators":  {"bundles:\n- {id: a}\n", `bundles[0] ("a"): operators: want at least one operator`},
		"no list of the table":        {"operator: []\n", `unknown field "operator"`},
		"a value that is wrong":       {"operators:\n- {name: a, title: A, namespace: a, package: a, minutes: 0}\n", `operators[0] ("a"): minutes: want`},
		"a row that excludes nobody":  {"operators:\n- {name: a, title: A, namespace: a, package: a, minutes: 1, excludes: [b]}\n", `operator a: needs or excludes "b"`},
		"a bundle of an unknown name": {"bundles:\n- {id: a, operators: [b]}\n", `bundle a: "b" is no operator of the table`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			path := filepath.Join(t.TempDir(), "operators.yaml")
			g.Expect(os.WriteFile(path, []byte(tc.text), 0o600)).To(Succeed())
			_, err := operators.Load(path)
			g.Expect(err).To(MatchError(And(HavePrefix(path+": "), ContainSubstring(tc.why))))
		})
	}
}

// TestRowsThatWantOneObjectInTwoWays: a cluster that gets both would have one of them, and nobody could say which.
func TestRowsThatWantOneObjectInTwoWays(t *testing.T) {
	row := func(name, more, manifests string) string {
		return "- {name: " + name + ", title: T, namespace: fleet, package: " + name + ", minutes: 1, " + more + "manifests: [" + manifests + "]}\n"
	}
	const group = "{apiVersion: operators.coreos.com/v1, kind: OperatorGroup, metadata: {name: fleet, namespace: fleet}, spec: {targetNamespaces: [x]}}"
	config := func(data string) string {
		return "{apiVersion: v1, kind: ConfigMap, metadata: {name: all, namespace: fleet}, data: {a: " + data + "}}"
	}
	for name, tc := range map[string]struct{ rows, why string }{
		"the same":              {row("a", "", config("x")) + row("b", "", config("x")), ""},
		"another":               {row("a", "", config("x")) + row("b", "", config("y")), "operators a and b: their manifests have ConfigMap fleet/all in two ways"},
		"never together":        {row("a", "excludes: [b], ", config("x")) + row("b", "", config("y")), ""},
		"a group of one alone":  {row("a", "", group) + row("b", "", ""), "operators a and b: both are in namespace fleet, and their groups differ"},
		"one group of both":     {row("a", "", group) + row("b", "", group), ""},
		"one check of both":     {row("a", "check: lso, ", ""), "operators lso and a: both are judged by check lso-requirements-satisfied"},
		"one check, apart":      {row("a", "check: lso, excludes: [lso], ", ""), ""},
		"one feature of both":   {row("a", "feature: LSO, ", ""), "operators lso and a: both have feature LSO"},
		"a feature of others":   {row("a", "feature: SNO, ", ""), `operators[0] ("a"): feature: want that of an operator of the hub's own table`},
		"another's check":       {row("openshift-ai-gpu", "", ""), "name, check: want none that another check has"},
		"groups never together": {row("a", "", group) + row("b", "excludes: [a], ", ""), ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := operators.Builtin().With([]byte("operators:\n" + tc.rows))
			if tc.why == "" {
				NewWithT(t).Expect(err).NotTo(HaveOccurred())
				return
			}
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(tc.why)))
		})
	}
}
