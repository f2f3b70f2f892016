package config_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/config"
	"github.com/ironflow/ironflow/test/crdpaths"
)

// TestPrinterColumns: what `kubectl get` shows of the kinds that hosts and clusters are installed by. Scripts
// read the first ones by name; each kind has its age besides.
func TestPrinterColumns(t *testing.T) {
	type column struct {
		path     string
		priority int32
	}
	for kind, want := range map[string]map[string]column{
		"InfraEnv": {"ISO Created At": {".status.createdTime", 0}, "ISO URL": {".status.isoDownloadURL", 1}, "Image": {`.status.conditions[?(@.type=="ImageCreated")].reason`, 0}},
		"Agent": {
			"Cluster": {".spec.clusterDeploymentName.name", 0}, "Approved": {".spec.approved", 0}, "Role": {".status.role", 0}, "Stage": {".status.progress.currentStage", 0},
			"Hostname": {".status.inventory.hostname", 1}, "Requested Hostname": {".spec.hostname", 1}, "State": {".status.debugInfo.state", 0},
		},
		"NMStateConfig":       {"MAC": {".spec.interfaces[0].macAddress", 0}},
		"AgentClassification": {"Matched": {".status.matchedCount", 0}, "Errors": {".status.errorCount", 0}, "Reason": {`.status.conditions[?(@.type=="QueryErrors")].reason`, 0}},
		"AgentClusterInstall": {
			"Cluster": {".spec.clusterDeploymentRef.name", 0}, "State": {".status.debugInfo.state", 0}, "Reason": {`.status.conditions[?(@.type=="RequirementsMet")].reason`, 0},
		},
		"ClusterDeployment": {"Cluster": {".spec.clusterName", 0}},
		"ClusterImageSet":   {"Release": {".spec.releaseImage", 0}},
	} {
		t.Run(kind, func(t *testing.T) {
			g := NewWithT(t)
			have := crdpaths.Columns(t, kind)
			for name, c := range want {
				g.Expect(have).To(HaveKeyWithValue(name, And(HaveField("JSONPath", c.path), HaveField("Priority", c.priority))))
			}
			g.Expect(have).To(HaveKeyWithValue("Age", HaveField("JSONPath", ".metadata.creationTimestamp")))
		})
	}
}

// TestNamesOfTheKinds: scope, plural and short names, as tools write them.
func TestNamesOfTheKinds(t *testing.T) {
	g := NewWithT(t)
	crds, err := config.CRDs()
	g.Expect(err).NotTo(HaveOccurred())
	found := map[string]string{}
	for _, crd := range crds {
		words := append([]string{string(crd.Spec.Scope), crd.Spec.Names.Plural}, crd.Spec.Names.ShortNames...)
		found[crd.Spec.Names.Kind] = strings.Join(words, " ")
	}
	for kind, want := range map[string]string{
		"InfraEnv": "Namespaced infraenvs", "Agent": "Namespaced agents", "NMStateConfig": "Namespaced nmstateconfigs", "AgentClassification": "Namespaced agentclassifications",
		"AgentClusterInstall": "Namespaced agentclusterinstalls aci", "ClusterDeployment": "Namespaced clusterdeployments cd", "ClusterImageSet": "Cluster clusterimagesets imgset",
	} {
		g.Expect(found).To(HaveKeyWithValue(kind, want))
	}
}
