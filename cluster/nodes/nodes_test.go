package nodes_test

import (
	"net/netip"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/cluster/facts"
	"github.com/ironflow/ironflow/cluster/nodes"
	"github.com/ironflow/ironflow/hub/wire"
)

const controlPlane = "node-role.kubernetes.io/control-plane"

func host(role wire.HostRole, stage wire.HostStage) facts.Host {
	return facts.Host{ID: "h", Name: "a", Role: role, Status: wire.HostStatusInstallingInProgress, Stage: stage, Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.1")}}
}

func TestReports(t *testing.T) {
	ready, labelled := facts.Node{Name: "a", Ready: true}, map[string]string{"node-role.kubernetes.io/worker": ""}
	for name, tc := range map[string]struct {
		host    facts.Host
		node    *facts.Node
		plain   bool
		refused bool
		reports []wire.HostStage
		patched bool
	}{
		"no node yet":                       {host: host(wire.HostRoleWorker, wire.HostStageRebooting)},
		"a node":                            {host: host(wire.HostRoleWorker, wire.HostStageRebooting), node: &facts.Node{Name: "a"}, reports: []wire.HostStage{wire.HostStageJoined}},
		"a node that is Ready":              {host: host(wire.HostRoleWorker, wire.HostStageConfiguring), node: &ready, reports: []wire.HostStage{wire.HostStageJoined, wire.HostStageDone}},
		"Joined and Ready":                  {host: host(wire.HostRoleWorker, wire.HostStageJoined), node: &ready, reports: []wire.HostStage{wire.HostStageDone}},
		"a node of an earlier installation": {host: host(wire.HostRoleWorker, wire.HostStageWritingImageToDisk), node: &ready},
		"Done":                              {host: host(wire.HostRoleWorker, wire.HostStageDone), node: &ready},
		"no role yet":                       {host: host(wire.HostRoleWorker, wire.HostStageJoined), node: &ready, plain: true, patched: true},
		"its role": {
			host: host(wire.HostRoleWorker, wire.HostStageJoined), node: &facts.Node{Name: "a", Ready: true, Labels: labelled}, plain: true,
			reports: []wire.HostStage{wire.HostStageDone},
		},
		"labels that are refused": {host: host(wire.HostRoleWorker, wire.HostStageJoined), node: &ready, plain: true, refused: true, reports: []wire.HostStage{wire.HostStageDone}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			list := map[string]facts.Node{}
			if tc.node != nil {
				list["a"] = *tc.node
			}
			patches, reports := nodes.Plan([]facts.Host{tc.host}, list, nodes.Options{Plain: tc.plain, Refused: map[string]bool{"h": tc.refused}})
			var stages []wire.HostStage
			for _, r := range reports {
				stages = append(stages, r.Stage)
			}
			g.Expect(stages).To(Equal(tc.reports))
			g.Expect(len(patches) == 1).To(Equal(tc.patched), "%d patches", len(patches))
		})
	}
}

func TestTaints(t *testing.T) {
	tainted := []facts.Taint{{Key: controlPlane, Effect: "NoSchedule"}, {Key: "other", Effect: "NoExecute"}}
	labels := map[string]string{controlPlane: ""}
	for name, tc := range map[string]struct {
		have        []facts.Taint
		schedulable bool
		retaint     bool
		want        []facts.Taint
	}{
		"as it should be":    {have: tainted},
		"missing":            {have: tainted[1:], retaint: true, want: []facts.Taint{tainted[1], tainted[0]}},
		"takes any work":     {have: tainted, schedulable: true, retaint: true, want: tainted[1:]},
		"takes it already":   {have: tainted[1:], schedulable: true},
		"none and takes any": {schedulable: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			patches, _ := nodes.Plan(
				[]facts.Host{host(wire.HostRoleMaster, wire.HostStageJoined), {ID: "worker", Role: wire.HostRoleWorker}},
				map[string]facts.Node{"a": {Name: "a", Labels: labels, Taints: tc.have}},
				nodes.Options{Plain: true, SchedulableMasters: tc.schedulable},
			)
			g.Expect(len(patches) == 1).To(Equal(tc.retaint), "%d patches", len(patches))
			if tc.retaint {
				g.Expect(patches[0].Taints).To(Equal(tc.want))
			}
		})
	}
}

// TestAControlPlaneWithoutWorkersTakesTheirWork: the only host of a cluster is not kept from
// what its user runs.
func TestAControlPlaneWithoutWorkersTakesTheirWork(t *testing.T) {
	g := NewWithT(t)
	master := host(wire.HostRoleMaster, wire.HostStageJoined)
	labels := map[string]string{"node-role.kubernetes.io/control-plane": ""}
	taint := []facts.Taint{{Key: "node-role.kubernetes.io/control-plane", Effect: "NoSchedule"}}
	patches, _ := nodes.Plan([]facts.Host{master}, map[string]facts.Node{"a": {Name: "a", Labels: labels}}, nodes.Options{Plain: true})
	for _, p := range patches {
		g.Expect(p.Retaint).To(BeFalse())
	}
	patches, _ = nodes.Plan([]facts.Host{master}, map[string]facts.Node{"a": {Name: "a", Labels: labels, Taints: taint}}, nodes.Options{Plain: true})
	g.Expect(patches).To(HaveLen(1))
	g.Expect(patches[0].Retaint).To(BeTrue())
	g.Expect(patches[0].Taints).To(BeEmpty())
}

func TestANodeOfAnotherNameIsFoundByItsAddress(t *testing.T) {
	g := NewWithT(t)
	h := host(wire.HostRoleWorker, wire.HostStageRebooting)
	named := facts.Node{Name: "a.example.com", Addresses: h.Addresses}
	found, ok := nodes.Of(h, []facts.Host{h}, map[string]facts.Node{named.Name: named})
	g.Expect(ok).To(BeTrue())
	g.Expect(found.Name).To(Equal(named.Name))
	other := facts.Host{ID: "o", Name: named.Name}
	_, ok = nodes.Of(h, []facts.Host{h, other}, map[string]facts.Node{named.Name: named})
	g.Expect(ok).To(BeFalse(), "it is another host's by its name")
}

// TestLabelsOfHostsThatOthersTellOf: a bootstrap host tells the hub that the control plane is
// Done as soon as its nodes are Ready, before anybody has given them what users want.
func TestLabelsOfHostsThatOthersTellOf(t *testing.T) {
	done := host(wire.HostRoleMaster, wire.HostStageDone)
	done.Status, done.Labels = wire.HostStatusInstalled, map[string]string{"site": "north"}
	for name, tc := range map[string]struct {
		have     map[string]string
		comingUp bool
		want     map[string]string
	}{
		"missing":                         {nil, true, map[string]string{"site": "north"}},
		"there":                           {map[string]string{"site": "north"}, true, nil},
		"changed after the cluster's end": {map[string]string{"site": "south"}, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			patches, reports := nodes.Plan([]facts.Host{done}, map[string]facts.Node{"a": {Name: "a", Ready: true, Labels: tc.have}}, nodes.Options{ComingUp: tc.comingUp})
			g.Expect(reports).To(BeEmpty())
			if tc.want == nil {
				g.Expect(patches).To(BeEmpty())
				return
			}
			g.Expect(patches).To(ConsistOf(HaveField("Labels", tc.want)))
		})
	}
}
