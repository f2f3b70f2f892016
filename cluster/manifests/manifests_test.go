package manifests

import (
	"testing"

	. "github.com/onsi/gomega"
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
