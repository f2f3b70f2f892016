package cluster

import (
	"encoding/json"
	"maps"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/hub/releases/lookup"
)

// onceOnly are settings that count at the first registration, and what is in no record.
var onceOnly = map[string]bool{
	"AgentClusterInstall spec.clusterDeploymentRef.name": true, "AgentClusterInstall " + annotation("ironflow.io/cluster-state"): true,
	"ClusterDeployment spec.installed": true,
}

// recordOf is the hub's record without its times.
func (w *world) recordOf(o objects) map[string]any {
	w.t.Helper()
	record, err := w.hub.Cluster(w.t.Context(), hubid.Cluster(o.cd), false)
	w.Expect(err).NotTo(HaveOccurred())
	raw, err := json.Marshal(record)
	w.Expect(err).NotTo(HaveOccurred())
	var members map[string]any
	w.Expect(json.Unmarshal(raw, &members)).To(Succeed())
	maps.DeleteFunc(members, func(name string, _ any) bool { return name == "updated_at" || name == "status_updated_at" })
	return members
}

// followed writes the objects as they are, and has the hub follow.
func (w *world) followed(o objects) {
	w.t.Helper()
	for _, object := range []client.Object{o.cd, o.set, o.aci} {
		have := object.DeepCopyObject().(client.Object)
		w.Expect(w.kube.Get(w.t.Context(), client.ObjectKeyFromObject(object), have)).To(Succeed())
		object.SetResourceVersion(have.GetResourceVersion())
		object.SetFinalizers(have.GetFinalizers())
		object.SetOwnerReferences(have.GetOwnerReferences())
		w.Expect(w.kube.Update(w.t.Context(), object)).To(Succeed())
	}
	w.Eventually(func() corev1.ConditionStatus { return condition(w.pass(), "SpecSynced").Status }, "10s", "10ms").Should(Equal(corev1.ConditionTrue))
}

// TestWhatIsEmptiedOfAClusterIsTakenBack: a setting that goes from the objects leaves the record as it was without it.
func TestWhatIsEmptiedOfAClusterIsTakenBack(t *testing.T) {
	for _, f := range fields {
		path := f.kind + " " + f.path
		if f.member == "" || onceOnly[path] {
			continue
		}
		t.Run(path, func(t *testing.T) {
			plain := plainObjects()
			w := newWorldOf(t, plainKubernetes, append(referredTo(), plain.aci.DeepCopy(), plain.cd.DeepCopy(), plain.set.DeepCopy())...)
			w.r.releases = &lookup.Finder{Reader: asTagged{}, Mode: lookup.Always}
			w.followed(objects{plain.aci.DeepCopy(), plain.cd.DeepCopy(), plain.set.DeepCopy()})
			before := w.recordOf(plain)
			changed := objects{plain.aci.DeepCopy(), plain.cd.DeepCopy(), plain.set.DeepCopy()}
			w.Expect(examples[path](changed)).To(Succeed())
			w.followed(changed)
			w.followed(objects{plain.aci.DeepCopy(), plain.cd.DeepCopy(), plain.set.DeepCopy()})
			w.Expect(w.recordOf(plain)).To(Equal(before))
		})
	}
}
