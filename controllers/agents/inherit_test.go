package agents

import (
	"maps"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// bequeath has the InfraEnv hand these labels of it down.
func (w *world) bequeath(keys string, labels map[string]string) {
	w.t.Helper()
	w.Expect(w.kube.Get(w.t.Context(), client.ObjectKeyFromObject(w.env), w.env)).To(Succeed())
	w.env.Annotations, w.env.Labels = map[string]string{names.PropagateNodeLabels: keys}, labels
	w.Expect(w.kube.Update(w.t.Context(), w.env)).To(Succeed())
	for range 3 {
		w.pass()
	}
}

// TestLabelsOfTheInfraEnvReachTheNodes beside those of the Agent, which come first, and go where the InfraEnv loses them.
func TestLabelsOfTheInfraEnvReachTheNodes(t *testing.T) {
	w := newWorld(t, service.InfraEnvSpec{})
	w.register(testhub.Inventory(1))
	w.change(func(a *agentv1.Agent) { a.Spec.NodeLabels = map[string]string{"rack": "9"} })
	shown := func(want map[string]string, ours string) {
		t.Helper()
		_, record := w.view()
		w.Expect(maps.Equal(w.agent().Spec.NodeLabels, want)).To(BeTrue(), "%v", w.agent().Spec.NodeLabels)
		w.Expect(maps.Equal(textMap(record.NodeLabels), want)).To(BeTrue(), "the hub has %s", record.NodeLabels)
		w.Expect(w.agent().Annotations[names.InheritedNodeLabels]).To(Equal(ours))
	}
	w.bequeath(" zone,rack,none", map[string]string{"zone": "a", "rack": "1", "private": "x"})
	shown(map[string]string{"rack": "9", "zone": "a"}, "zone")
	w.bequeath("zone", map[string]string{"zone": "b"})
	shown(map[string]string{"rack": "9", "zone": "b"}, "zone")
	w.change(func(a *agentv1.Agent) { delete(a.Spec.NodeLabels, "rack") })
	w.bequeath("zone,rack", map[string]string{"zone": "b", "rack": "1"})
	shown(map[string]string{"rack": "1", "zone": "b"}, "rack,zone")
	w.bequeath("", map[string]string{"zone": "b", "rack": "1"})
	shown(map[string]string{}, "")
}

// TestLabelsOfABegunInstallationStay: what the spec asks for cannot change any more.
func TestLabelsOfABegunInstallationStay(t *testing.T) {
	w := newWorld(t, service.InfraEnvSpec{})
	w.register(testhub.Inventory(1))
	w.bequeath("zone", map[string]string{"zone": "a"})
	w.env.Labels = map[string]string{"zone": "b"}
	for status, wants := range map[string]bool{wire.HostStatusKnown: true, wire.HostStatusInstalling: false, wire.HostStatusInstalled: false, wire.HostStatusError: false} {
		written, err := w.r.inherit(t.Context(), w.agent(), w.env, status)
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(written).To(Equal(wants), status)
		w.bequeath("zone", map[string]string{"zone": "a"})
		w.env.Labels = map[string]string{"zone": "b"}
	}
}

// TestWhatWakesTheAgentsOfAnInfraEnv: nothing that none of them inherits.
func TestWhatWakesTheAgentsOfAnInfraEnv(t *testing.T) {
	env := func(keys, zone string) *agentv1.InfraEnv {
		e := &agentv1.InfraEnv{}
		e.Annotations, e.Labels = map[string]string{names.PropagateNodeLabels: keys}, map[string]string{"zone": zone}
		return e
	}
	for name, tc := range map[string]struct {
		old, now *agentv1.InfraEnv
		want     bool
	}{
		"nothing":                    {env("zone", "a"), env("zone", "a"), false},
		"a label":                    {env("zone", "a"), env("zone", "b"), true},
		"a label that stays with it": {env("", "a"), env("", "b"), false},
		"which are handed down":      {env("", "a"), env("zone", "a"), true},
		"that they are not any more": {env("zone", "a"), env("", "a"), true},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(bequeathed.Update(event.UpdateEvent{ObjectOld: tc.old, ObjectNew: tc.now})).To(Equal(tc.want))
		})
	}
}
