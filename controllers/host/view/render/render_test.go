package render_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/controllers/host/view/render"
)

func TestTable(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	hosts := []view.View{
		{Name: "node-0", Phase: "provisioning", Note: view.Note{Step: "start_assisted_install", Percent: 40, Text: "Writing image to disk"}, Since: now.Add(-72 * time.Second)},
		{Name: "node-1", Phase: "inspecting", Note: view.Note{Step: "inspecting", WaitingFor: "the BMC to read the live image"}, Since: now.Add(-5 * time.Second)},
		{Name: "node-2", Phase: "provisioning", Reason: "disk full"},
	}
	for name, tc := range map[string]struct {
		options render.TableOptions
		want    string
	}{
		"plain": {render.TableOptions{}, `
HOST    PHASE         STEP                    PROGRESS  IN PHASE  REASON
node-0  provisioning  start_assisted_install  40%       1m12s     Writing image to disk
node-1  inspecting    inspecting              -         5s        waiting for the BMC to read the live image
node-2  provisioning  -                       -         -         disk full
`},
		"cut to the terminal, with bars": {render.TableOptions{Bar: true, Width: 60}, `
HOST    PHASE         STEP                    PROGRESS     …
node-0  provisioning  start_assisted_install  ████░░░░░░  4…
node-1  inspecting    inspecting              -            …
node-2  provisioning  -                       -            …
`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var out strings.Builder
			g.Expect(render.Table(&out, hosts, now, tc.options)).To(Succeed())
			g.Expect("\n" + out.String()).To(Equal(tc.want))
		})
	}
}

func TestTree(t *testing.T) {
	g := NewWithT(t)
	var out strings.Builder
	g.Expect(render.Tree(&out, render.Node{Title: "BareMetalHost/node-0", Children: []render.Node{
		render.Leaf("phase", "provisioning"),
		render.Leaf("error", ""),
		{Title: "Agent", Children: []render.Node{render.Leaff("stage: %s", "Rebooting")}},
		{Title: "reason: one\ntwo"},
	}})).To(Succeed())
	g.Expect("\n" + out.String()).To(Equal(`
BareMetalHost/node-0
├─ phase: provisioning
├─ Agent
│  └─ stage: Rebooting
└─ reason: one
   two
`))
}

func TestATreeThatIsWrapped(t *testing.T) {
	g := NewWithT(t)
	var out strings.Builder
	g.Expect(render.TreeWithin(&out, render.Node{Title: "ClusterDeployment/prod", Children: []render.Node{
		{Title: "waiting for: the checks of the cluster to pass", Children: []render.Node{render.Leaff("next: set api_vips of the cluster")}},
		{Title: "https://registry.example/ocp/release-with-a-long-name"},
	}}, 30)).To(Succeed())
	g.Expect("\n" + out.String()).To(Equal(`
ClusterDeployment/prod
├─ waiting for: the checks of
│  the cluster to pass
│  └─ next: set api_vips of
│     the cluster
└─ https://registry.example/oc
   p/release-with-a-long-name
`))
}

// TestHostsDoNotSteerTheTerminal: a tree has what they say in it.
func TestHostsDoNotSteerTheTerminal(t *testing.T) {
	g := NewWithT(t)
	var out strings.Builder
	g.Expect(render.Tree(&out, render.Node{Title: "host", Children: []render.Node{{Title: "info: \x1b[2J\u202egone\r\xff"}}})).To(Succeed())
	g.Expect(out.String()).To(Equal("host\n└─ info: ·[2J·gone··\n"))
}

func TestElapsed(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"": 0, "59s": 59 * time.Second, "1m00s": time.Minute, "3h05m": 3*time.Hour + 5*time.Minute, "3d02h": 74 * time.Hour,
	} {
		NewWithT(t).Expect(render.Elapsed(d)).To(Equal(want))
	}
}
