package link_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/link"
	"github.com/ironflow/ironflow/controllers/link/drain"
)

func inCluster(a *agentv1.Agent) {
	linked(a)
	a.Spec.ClusterDeploymentName = &agentv1.ClusterReference{Namespace: "site", Name: "prod"}
	a.Status.Inventory.Hostname = "Edge-1"
}

// TestANodeLeavesBeforeItsMachineIsCleaned, or its time is over. Nothing of the host lets its machine be cleaned before that.
func TestANodeLeavesBeforeItsMachineIsCleaned(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	since := func(d time.Duration) func(*metal3v1.BareMetalHost) {
		return annotated(names.BMACDrainStarted, now.Add(-d).Format(time.RFC3339))
	}
	for name, tc := range map[string]struct {
		change []func(*metal3v1.BareMetalHost)
		agent  *agentv1.Agent
		heard  *drain.Progress
		waits  bool
		force  bool
		status string // of the annotation
		says   string
	}{
		"at first": {agent: agent(inCluster), waits: true, status: "draining in progress", says: "by 2026-03-01T12:30:00Z at the latest"},
		"while it lasts": {
			change: []func(*metal3v1.BareMetalHost){since(time.Minute)}, agent: agent(inCluster), heard: &drain.Progress{Says: "2 Pods are still there"}, waits: true,
			status: "2 Pods are still there", says: "2 Pods are still there",
		},
		"when it is done": {
			change: []func(*metal3v1.BareMetalHost){since(time.Minute)}, agent: agent(inCluster), heard: &drain.Progress{Done: true}, status: "drain succeeded", says: "Its Node was drained and removed",
		},
		"when its time is over it is forced": {
			change: []func(*metal3v1.BareMetalHost){since(31 * time.Minute)}, agent: agent(inCluster), heard: &drain.Progress{
				Says: "2 Pods are still there",
			}, waits: true, force: true, status: "2 Pods are still there",
		},
		"and whatever becomes of that ends it": {
			change: []func(*metal3v1.BareMetalHost){since(31 * time.Minute)}, agent: agent(inCluster), heard: &drain.Progress{Forced: true, Says: "no route to host"},
			status: "drain timed out: no route to host", says: "kubectl delete node",
		},
		"also when that did work": {
			change: []func(*metal3v1.BareMetalHost){since(31 * time.Minute)}, agent: agent(inCluster), heard: &drain.Progress{Forced: true, Done: true, Says: "one Pod was there"},
			status: "drain timed out: one Pod was there",
		},
		"a person's time": {
			change: []func(*metal3v1.BareMetalHost){since(2 * time.Minute), annotated(names.BMACDrainTimeout, "1m")}, agent: agent(inCluster), waits: true, force: true, status: "draining in progress",
		},
		"a time that is none": {
			change: []func(*metal3v1.BareMetalHost){since(2 * time.Minute), annotated(names.BMACDrainTimeout, "soon")}, agent: agent(inCluster), waits: true,
			status: "draining in progress", says: `"soon" is no duration such as 10m, so 30m0s counts`,
		},
		"a cluster that nobody can enter": {
			change: []func(*metal3v1.BareMetalHost){since(time.Minute)}, agent: agent(inCluster), heard: &drain.Progress{
				Done: true, Says: "not drained: there is no kubeconfig",
			}, status: "not drained: there is no kubeconfig", says: "kubectl delete node",
		},
		"a host of no cluster":      {agent: agent(linked), says: "kubectl delete node"},
		"a host without an Agent":   {says: "kubectl delete node"},
		"an Agent of somebody else": {agent: agent(inCluster, func(a *agentv1.Agent) { a.Labels = nil }), says: "kubectl delete node"},
		"it is not begun again": {
			change: []func(*metal3v1.BareMetalHost){since(time.Hour), annotated(names.BMACDrainStatus, "drain succeeded")}, agent: agent(inCluster), status: "drain succeeded",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h := host(metal3v1.StateProvisioned, append([]func(*metal3v1.BareMetalHost){asked, deleting, annotated(names.BMACRemove, ""), annotated(names.Detached, delayed)}, tc.change...)...)
			plan := link.Decide(link.Input{Host: h, Agent: tc.agent, Node: tc.heard, Nodes: true, Now: now})
			after := h
			if plan.Host != nil {
				after = plan.Host
			}
			g.Expect(plan.Drain).To(Equal(tc.waits))
			g.Expect(plan.Force).To(Equal(tc.force))
			_, held := after.Annotations[names.Detached]
			g.Expect(held).To(Equal(tc.waits), "detached, the deletion of a host waits")
			g.Expect(after.Finalizers).To(ContainElement(names.BMACFinalizer))
			g.Expect(plan.DeleteAgent).To(BeFalse(), "it tells of what runs")
			g.Expect(after.Annotations[names.BMACDrainStatus]).To(Equal(tc.status))
			g.Expect(plan.Says.Message).To(ContainSubstring(tc.says))
			reason := link.ReasonRemoving
			if tc.waits {
				reason = link.ReasonDraining
			}
			g.Expect(plan.Says.Reason).To(Equal(reason))
			if tc.status == "" || tc.status == "drain succeeded" {
				g.Expect(plan.Deprovision).To(BeZero(), "the Agent has no Node in a cluster")
				return
			}
			g.Expect(plan.Deprovision.Info).To(Equal(&agentv1.AgentDeprovisionInfo{ClusterNamespace: "site", ClusterName: "prod", NodeName: "edge-1", Message: tc.status}))
			g.Expect(plan.Deprovision.Failed == "").To(Equal(tc.waits), "it is said when nothing more is tried")
		})
	}
}

// TestADeletedHostLeavesItsCluster with the kubeconfig that its ClusterDeployment names.
func TestADeletedHostLeavesItsCluster(t *testing.T) {
	inner := runtime.NewScheme()
	NewWithT(t).Expect(errors.Join(corev1.AddToScheme(inner), policyv1.AddToScheme(inner))).To(Succeed())
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "edge-1", UID: "n"}}
	node.Status.NodeInfo.SystemUUID = strings.ToUpper(machineID)
	for name, tc := range map[string]struct {
		there  bool
		labels map[string]string
		server string
	}{
		"which is there":      {there: true},
		"which is not":        {},
		"of a hosted cluster": {there: true, labels: map[string]string{"agentClusterRef": ""}, server: "https://kube-apiserver.site.svc:6443"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			cluster := fake.NewClientBuilder().WithScheme(inner).WithObjects(node.DeepCopy()).
				WithIndex(&corev1.Pod{}, "spec.nodeName", func(client.Object) []string { return nil }).Build()
			cd := &hivev1.ClusterDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "site", Name: "prod", Labels: tc.labels}}
			cd.Spec.ClusterMetadata = &hivev1.ClusterMetadata{}
			cd.Spec.ClusterMetadata.AdminKubeconfigSecretRef.Name = "entry"
			objects := []client.Object{
				cd, registered(machineID, time.Now(), inCluster, func(a *agentv1.Agent) { a.Finalizers = []string{names.AgentFinalizer} }),
				host(metal3v1.StateProvisioned, asked, withMAC, deleting, annotated(names.BMACRemove, ""), annotated(names.Detached, delayed)),
			}
			drained := "not drained: Secret site/entry with the cluster's kubeconfig does not exist"
			if tc.there {
				drained = "drain succeeded"
				objects = append(objects, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "site", Name: "entry"}, Data: map[string][]byte{"kubeconfig": []byte("opens it")}})
			}
			w := newWorld(t, objects...)
			w.r.Nodes = &drain.Checker{Reach: func(kubeconfig []byte, server string) (client.Client, error) {
				if string(kubeconfig) != "opens it" || server != tc.server {
					return nil, fmt.Errorf("another kubeconfig, or server %q", server)
				}
				return cluster, nil
			}}
			g.Eventually(func() string {
				_, err := w.r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
				g.Expect(err).NotTo(HaveOccurred())
				return w.host().Annotations[names.BMACDrainStatus]
			}).WithTimeout(time.Minute).Should(HavePrefix(drained))
			g.Expect(w.host().Annotations).NotTo(HaveKey(names.Detached), "now its machine is cleaned")
			err := cluster.Get(t.Context(), client.ObjectKeyFromObject(node), &corev1.Node{})
			g.Expect(client.IgnoreNotFound(err)).To(Succeed())
			g.Expect(err == nil).To(Equal(!tc.there), "the Node is gone")
			shown := w.agent(machineID).Status
			cleanup := agentv1.FindCondition(shown.Conditions, agentv1.ConditionCleanup)
			if tc.there {
				g.Expect(shown.DeprovisionInfo).To(BeNil())
				g.Expect(cleanup).To(BeNil())
				return
			}
			g.Expect(shown.DeprovisionInfo).To(HaveValue(And(HaveField("NodeName", "edge-1"), HaveField("Message", drained))))
			g.Expect(cleanup).To(HaveValue(And(HaveField("Status", corev1.ConditionFalse), HaveField("Reason", "CleanupFailed"), HaveField("Message", ContainSubstring("kubectl delete node")))))
		})
	}
}
