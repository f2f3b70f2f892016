package agentlabels

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
)

// machine is an Agent whose inventory is known.
func machine(change ...func(*agentv1.Agent)) *agentv1.Agent {
	now := metav1.Now()
	a := &agentv1.Agent{ObjectMeta: metav1.ObjectMeta{Namespace: "site", Name: "host-1"}}
	a.Status.Inventory = agentv1.HostInventory{
		ReportTime: &now, Hostname: "node-1", Cpu: agentv1.HostCPU{Count: 16, Architecture: "x86_64", Flags: []string{"sse", "vmx"}},
		Memory: agentv1.HostMemory{PhysicalBytes: 64 << 30}, Disks: []agentv1.HostDisk{{ID: "a", DriveType: "HDD"}, {ID: "b", DriveType: "SSD"}},
		SystemVendor: agentv1.HostSystemVendor{Manufacturer: "Dell Inc.", ProductName: "PowerEdge R640 (SKU=0716)"},
	}
	for _, c := range change {
		c(a)
	}
	return a
}

func classification(name, key, value, query string) agentv1.AgentClassification {
	return agentv1.AgentClassification{
		ObjectMeta: metav1.ObjectMeta{Namespace: "site", Name: name}, Spec: agentv1.AgentClassificationSpec{LabelKey: key, LabelValue: value, Query: query},
	}
}

// TestWhatAnInventorySays: the labels that existing tools select hosts by.
func TestWhatAnInventorySays(t *testing.T) {
	g := NewWithT(t)
	labels, err := labelsOf(t.Context(), machine(), nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(labels).To(Equal(map[string]string{
		"inventory.agent-install.openshift.io/storage-hasnonrotationaldisk": "true", "inventory.agent-install.openshift.io/cpu-architecture": "x86_64",
		"inventory.agent-install.openshift.io/cpu-virtenabled": "true", "inventory.agent-install.openshift.io/host-manufacturer": "DellInc",
		"inventory.agent-install.openshift.io/host-productname": "PowerEdgeR640SKU0716", "inventory.agent-install.openshift.io/host-isvirtual": "false",
	}))

	labels, err = labelsOf(t.Context(), machine(func(a *agentv1.Agent) {
		a.Spec.ClusterDeploymentName = &agentv1.ClusterReference{Namespace: "clusters", Name: "prod"}
		a.Status.Inventory.Cpu.Flags, a.Status.Inventory.Disks, a.Status.Inventory.SystemVendor.Virtual = nil, nil, true
		a.Status.Inventory.SystemVendor.ProductName = strings.Repeat("very-long-", 10)
	}), nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(labels).To(And(HaveKeyWithValue(names.AgentClusterNamespace, "clusters"), HaveKeyWithValue(HasNonRotationalDisk, "false"),
		HaveKeyWithValue(CPUVirtEnabled, "false"), HaveKeyWithValue(HostIsVirtual, "true")))
	for _, value := range labels {
		g.Expect(validation.IsValidLabelValue(value)).To(BeEmpty(), value)
	}

	labels, err = labelsOf(t.Context(), &agentv1.Agent{}, []agentv1.AgentClassification{classification("all", "all", "yes", "true")})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(labels).To(BeEmpty(), "nothing is said of a machine that has not reported")
}

// TestWhichClassificationsFit: one label for a key, whichever order the objects come in.
func TestWhichClassificationsFit(t *testing.T) {
	const size = names.ClassificationPrefix + "size"
	long := strings.Repeat("v", 63)
	for name, tc := range map[string]struct {
		all  []agentv1.AgentClassification
		want map[string]string
	}{
		"fits":          {[]agentv1.AgentClassification{classification("l", "size", "large", ".cpu.count >= 16 and .memory.physicalBytes > 32*1024*1024*1024")}, map[string]string{size: "large"}},
		"does not fit":  {[]agentv1.AgentClassification{classification("s", "size", "small", ".cpu.count < 8")}, map[string]string{}},
		"first by name": {[]agentv1.AgentClassification{classification("b", "size", "second", "true"), classification("a", "size", "first", "true")}, map[string]string{size: "first"}},
		"one fails":     {[]agentv1.AgentClassification{classification("a", "size", "broken", `.cpu + 1 == 2`), classification("b", "size", "large", "true")}, map[string]string{size: "large"}},
		"all fail":      {[]agentv1.AgentClassification{classification("b", "size", "b", `"text"`), classification("a", "size", "a", `error("no")`)}, map[string]string{size: "QUERYERROR-a"}},
		"not jq":        {[]agentv1.AgentClassification{classification("a", "size", "a", "((")}, map[string]string{size: "QUERYERROR-a"}},
		"nothing":       {[]agentv1.AgentClassification{classification("a", "size", "a", "empty")}, map[string]string{size: "QUERYERROR-a"}},
		"without end":   {[]agentv1.AgentClassification{classification("a", "size", "a", "def f: f; f")}, map[string]string{size: "QUERYERROR-a"}},
		"environment":   {[]agentv1.AgentClassification{classification("a", "size", "a", `env | length == 0`)}, map[string]string{size: "a"}},
		"long value":    {[]agentv1.AgentClassification{classification("a", "size", long, "1")}, map[string]string{size: ("QUERYERROR-" + long)[:63]}},
		"no label":      {[]agentv1.AgentClassification{classification("a", "not a key", "a", "true"), classification("b", "key", "not a value", "true")}, map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			labels, err := labelsOf(t.Context(), machine(), tc.all)
			g.Expect(err).NotTo(HaveOccurred())
			for key := range labels {
				if !strings.HasPrefix(key, names.ClassificationPrefix) {
					delete(labels, key)
				}
			}
			g.Expect(labels).To(Equal(tc.want))
		})
	}
}
