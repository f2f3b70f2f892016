package work_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/cluster/observe"
	"github.com/ironflow/ironflow/cluster/work"
	"github.com/ironflow/ironflow/hub/operators"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/cluster/played"
)

// subscribe creates what the hub's manifests of the operators are, but for their groups:
// nobody here reads them. The lifecycle manager is played by [world.installs].
func (w *world) subscribe(chosen []operators.Choice) {
	w.t.Helper()
	of := map[any][]object{}
	for _, m := range operators.Manifests(chosen) {
		var o object
		w.Expect(yaml.Unmarshal([]byte(m.Content), &o)).To(Succeed())
		of[o["kind"]] = append(of[o["kind"]], o)
	}
	for _, o := range of["Namespace"] { // who applies manifests does it until all are there
		w.Expect(w.Create(w.t.Context(), "/api/v1/namespaces", o)).To(Succeed())
	}
	for _, o := range of["Subscription"] {
		namespace := o["metadata"].(map[string]any)["namespace"].(string)
		w.Expect(w.Create(w.t.Context(), "/apis/operators.coreos.com/v1alpha1/namespaces/"+namespace+"/subscriptions", o)).To(Succeed())
	}
}

// installs has a subscription have installed a version, in a phase.
func (w *world) installs(o *operators.Operator, phase string) {
	w.t.Helper()
	const group = "/apis/operators.coreos.com/v1alpha1/namespaces/"
	name := o.Package + ".v1.2.3"
	services := group + o.Namespace + "/clusterserviceversions"
	w.Expect(w.Create(w.t.Context(), services, object{
		"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion", "metadata": object{"name": name}, "spec": object{"version": "1.2.3"},
	})).To(Succeed())
	w.Expect(w.Admin.MergePatch(w.t.Context(), services+"/"+name+"/status", object{"status": object{"phase": phase, "message": "as it says"}})).To(Succeed())
	w.Expect(w.Admin.MergePatch(w.t.Context(), group+o.Namespace+"/subscriptions/"+o.SubscriptionName()+"/status", object{"status": object{"installedCSV": name}})).To(Succeed())
}

// ofASite is a row that brings its namespace and its subscription.
const ofASite = `operators:
- name: fleet-agent
  title: Fleet Agent
  namespace: fleet
  package: fleet-agent
  subscription: fleet
  minutes: 15
  manifests:
  - {apiVersion: v1, kind: Namespace, metadata: {name: fleet, labels: {site: edge}}}
  - apiVersion: operators.coreos.com/v1alpha1
    kind: Subscription
    metadata: {name: fleet, namespace: fleet}
    spec: {name: fleet-agent, source: site, sourceNamespace: openshift-marketplace}
`

// TestInsideOpenShiftWithOperators goes on a real kube-apiserver: what the hub's manifests
// subscribe to is what the program follows.
func TestInsideOpenShiftWithOperators(t *testing.T) {
	w := newWorld(t)
	w.Expect(w.OpenShift(t.Context(), "4.20.1")).To(Succeed())
	table, err := operators.Builtin().With([]byte(ofASite))
	w.Expect(err).NotTo(HaveOccurred())
	chosen, _ := table.Choose(operators.Asked{Operators: []wire.OperatorCreateParams{{Name: "cnv"}, {Name: "metallb"}, {Name: "fleet-agent"}}}, false)
	w.subscribe(chosen)
	monitored := []wire.MonitoredOperator{{Name: "console", OperatorType: wire.OperatorTypeBuiltin}, {Name: "cvo", OperatorType: wire.OperatorTypeBuiltin}}
	hub := played.Start(t, threeHosts(), append(monitored, table.Monitored(played.ClusterID, chosen)...)...)
	p := w.start(hub, nil, nil)
	w.kubelets("")
	w.node("master-0", "192.0.2.1", true)
	w.node("worker-0", "192.0.2.2", true)
	w.Eventually(hub.Effects, long).Should(ContainElement("stage Waiting for cluster operators"))
	w.Expect(w.Up(t.Context(), "4.20.1")).To(Succeed())
	w.Eventually(hub.Effects, long).Should(ContainElement("stage Waiting for olm operators csv initialization"))
	w.Consistently(hub.Effects, 500*time.Millisecond).ShouldNot(ContainElement("stage Waiting for olm operators csv"), "no subscription has installed anything")
	w.installs(table.Find("cnv"), "Succeeded")
	w.installs(table.Find("lso"), "Installing")
	w.installs(table.Find("fleet-agent"), "Succeeded")
	w.installs(table.Find("metallb"), "Failed")
	w.Eventually(hub.Effects, long).Should(ContainElements(
		"operator cnv available", "operator fleet-agent available", "operator lso progressing", "operator metallb failed",
		"stage Waiting for olm operators csv",
	))
	w.Consistently(hub.Effects, 500*time.Millisecond).ShouldNot(ContainElement("stage Done"), "lso is still being installed")
	w.Expect(w.Admin.MergePatch(t.Context(), "/apis/operators.coreos.com/v1alpha1/namespaces/openshift-local-storage/clusterserviceversions/local-storage-operator.v1.2.3/status",
		object{"status": object{"phase": "Succeeded"}})).To(Succeed())
	w.Eventually(p.Done, long).Should(Receive(Equal(work.Outcome("installed"))))
	w.Expect(hub.Effects()).To(ContainElements("operator lso available", "degraded: operators that failed: metallb", "installed"))
	w.Expect(observe.Subscriptions).To(HavePrefix("/apis/operators.coreos.com/v1alpha1/"), "as the manifests have it")
}
