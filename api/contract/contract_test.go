// Package contract checks that the Go types of our kinds offer exactly the
// fields of the published contract (testdata/hub-crds.tsv).
package contract

import (
	"bufio"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
)

// kinds are the kinds of the table that this repository serves.
var kinds = map[string]any{
	"InfraEnv":            agentv1.InfraEnv{},
	"Agent":               agentv1.Agent{},
	"NMStateConfig":       agentv1.NMStateConfig{},
	"AgentClassification": agentv1.AgentClassification{},
	"AgentClusterInstall": hiveextv1.AgentClusterInstall{},
	"ClusterDeployment":   hivev1.ClusterDeployment{},
	"ClusterImageSet":     hivev1.ClusterImageSet{},
}

// leaves are types whose own fields are not part of the table's paths.
var leaves = []reflect.Type{
	reflect.TypeFor[metav1.Time](),
	reflect.TypeFor[agentv1.NetConfig](),
	reflect.TypeFor[hivev1.ClusterDeploymentStatus](),
	reflect.TypeFor[hivev1.ClusterImageSetStatus](),
}

func TestTypesHaveTheFieldsOfTheContract(t *testing.T) {
	want := readTable(t)
	for kind, sample := range kinds {
		t.Run(kind, func(t *testing.T) {
			g := NewWithT(t)
			got := map[string]bool{}
			for _, part := range []string{"Spec", "Status"} {
				if f, ok := reflect.TypeOf(sample).FieldByName(part); ok {
					collect(f.Type, jsonName(f), got)
				}
			}
			for path := range want[kind] {
				g.Expect(got).To(HaveKey(path), "field of the contract is missing in the Go type")
			}
			if kind == "ClusterDeployment" || kind == "ClusterImageSet" {
				delete(got, "status")
			}
			for path := range got {
				g.Expect(want[kind]).To(HaveKey(path), "Go field that the contract does not have")
			}
		})
	}
}

func TestSchemesRegisterEveryKind(t *testing.T) {
	g := NewWithT(t)
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{agentv1.AddToScheme, hiveextv1.AddToScheme, hivev1.AddToScheme} {
		g.Expect(add(s)).To(Succeed())
	}
	for kind := range kinds {
		known := slices.ContainsFunc([]bool{
			s.Recognizes(agentv1.GroupVersion.WithKind(kind)),
			s.Recognizes(hiveextv1.GroupVersion.WithKind(kind)),
			s.Recognizes(hivev1.GroupVersion.WithKind(kind)),
		}, func(b bool) bool { return b })
		g.Expect(known).To(BeTrue(), kind)
	}
}

func TestConditionTransitionTimeMovesOnlyWithTheStatus(t *testing.T) {
	g := NewWithT(t)
	first, later := metav1.Unix(1000, 0), metav1.Unix(2000, 0)
	var conditions []agentv1.Condition
	set := func(status corev1.ConditionStatus, message string, now metav1.Time) bool {
		return agentv1.SetCondition(&conditions, agentv1.Condition{Type: agentv1.ConditionBound, Status: status, Message: message}, now)
	}
	g.Expect(set(corev1.ConditionTrue, "a", first)).To(BeTrue())
	g.Expect(set(corev1.ConditionTrue, "a", later)).To(BeFalse())
	g.Expect(set(corev1.ConditionTrue, "b", later)).To(BeTrue())
	g.Expect(agentv1.FindCondition(conditions, agentv1.ConditionBound).LastTransitionTime).To(Equal(first))
	g.Expect(set(corev1.ConditionFalse, "b", later)).To(BeTrue())
	g.Expect(agentv1.FindCondition(conditions, agentv1.ConditionBound).LastTransitionTime).To(Equal(later))
}

func readTable(t *testing.T) map[string]map[string]bool {
	t.Helper()
	f, err := os.Open("testdata/hub-crds.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table := map[string]map[string]bool{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		cols := strings.Split(lines.Text(), "\t")
		if strings.HasPrefix(cols[1], "metadata.") {
			continue
		}
		if table[cols[0]] == nil {
			table[cols[0]] = map[string]bool{}
		}
		table[cols[0]][strings.ReplaceAll(cols[1], "[]", "")] = true
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return table
}

// collect adds path and the paths of all fields below it. Lists do not show in
// a path, maps show as {}.
func collect(typ reflect.Type, path string, into map[string]bool) {
	into[path] = true
	for slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Map}, typ.Kind()) {
		if typ.Kind() == reflect.Map {
			if typ.Elem().Kind() == reflect.String {
				return
			}
			path += "{}"
		}
		typ = typ.Elem()
	}
	// Hive's table ends at the selector and at references.
	if typ.Kind() != reflect.Struct || slices.Contains(leaves, typ) || strings.HasSuffix(path, "agentSelector") {
		return
	}
	for field := range typ.Fields() {
		collect(field.Type, path+"."+jsonName(field), into)
	}
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
