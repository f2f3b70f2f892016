package manifests

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// TestItGoesToANodeThatIsShortOfSomething: it alone lets other nodes in, so that the first one may be all there is.
func TestItGoesToANodeThatIsShortOfSomething(t *testing.T) {
	for name, stay := range map[string]bool{"Job": false, "Deployment": true} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			rendered, err := Render(Settings{Image: "registry.example/ironflow-cluster:v1", HubURL: "https://hub.example", ClusterID: "c", Stay: stay})
			g.Expect(err).NotTo(HaveOccurred())
			for _, taint := range []string{"not-ready", "disk-pressure", "memory-pressure", "pid-pressure"} {
				g.Expect(string(rendered)).To(ContainSubstring("node.kubernetes.io/" + taint))
			}
		})
	}
}

// TestItLeavesANodeThatIsLost: who would approve the request of the host that comes in its place?
func TestItLeavesANodeThatIsLost(t *testing.T) {
	for _, stay := range []bool{false, true} {
		g := NewWithT(t)
		raw, err := yaml.Marshal(workload(Settings{Image: "registry.example/ironflow-cluster:v1", HubURL: "https://hub.example", ClusterID: "c", Stay: stay}))
		g.Expect(err).NotTo(HaveOccurred())
		var o struct {
			Spec struct{ Template corev1.PodTemplateSpec }
		}
		g.Expect(yaml.Unmarshal(raw, &o)).To(Succeed())
		tolerates := func(key string, effect corev1.TaintEffect) (times []*int64) {
			for _, t := range o.Spec.Template.Spec.Tolerations {
				if t.Key == key && (t.Effect == "" || t.Effect == effect) {
					times = append(times, t.TolerationSeconds)
				}
			}
			return times
		}
		g.Expect(tolerates("node.kubernetes.io/unreachable", corev1.TaintEffectNoExecute)).To(HaveExactElements(HaveValue(BeNumerically("<=", 300))), "it moves to another node")
		g.Expect(tolerates("node.kubernetes.io/unreachable", corev1.TaintEffectNoSchedule)).To(BeEmpty(), "nor does it go there")
		g.Expect(tolerates("node.kubernetes.io/not-ready", corev1.TaintEffectNoExecute)).To(HaveExactElements(BeNil()), "the first node is Ready late")
	}
}
