//go:build e2e

package e2e

import (
	"net/http"
	"testing"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/hub/wire"
)

// moved are the kinds that are moved: owners before what they own.
func moved() []client.ObjectList {
	return []client.ObjectList{
		&hivev1.ClusterDeploymentList{}, &hiveextv1.AgentClusterInstallList{}, &agentv1.InfraEnvList{},
		&metal3v1.BareMetalHostList{}, &corev1.SecretList{}, &metal3v1.HardwareDataList{}, &agentv1.AgentList{},
	}
}

// objects are those of a list.
func objects(m *metal, kube client.Client, list client.ObjectList) (all []client.Object) {
	m.Helper()
	m.Expect(kube.List(m.Context(), list, client.InNamespace(m.namespace()))).To(Succeed())
	switch l := list.(type) {
	case *corev1.SecretList:
		all = each(l.Items)
	case *hivev1.ClusterDeploymentList:
		all = each(l.Items)
	case *hiveextv1.AgentClusterInstallList:
		all = each(l.Items)
	case *agentv1.InfraEnvList:
		all = each(l.Items)
	case *metal3v1.BareMetalHostList:
		all = each(l.Items)
	case *metal3v1.HardwareDataList:
		all = each(l.Items)
	case *agentv1.AgentList:
		all = each(l.Items)
	}
	return all
}

func each[T any, P interface {
	*T
	client.Object
}](items []T) (all []client.Object) {
	for i := range items {
		all = append(all, P(&items[i]))
	}
	return all
}

// moveTo takes the objects to another API server as clusterctl does, while both hubs run: they are made there without
// statuses and with the owners of there, and lose their finalizers and are deleted here, what is owned before its owner.
func (m *metal) moveTo(kube client.Client) {
	m.Helper()
	uids := map[types.UID]types.UID{}
	for _, kind := range moved() {
		for _, o := range objects(m, m.Client, kind) {
			was := o.GetUID()
			o.SetResourceVersion("")
			o.SetUID("")
			o.SetManagedFields(nil)
			owners := o.GetOwnerReferences()
			for i := range owners {
				owners[i].UID = uids[owners[i].UID]
			}
			o.SetOwnerReferences(owners)
			m.Expect(kube.Create(m.Context(), o)).To(Succeed())
			uids[was] = o.GetUID()
		}
	}
	all := moved()
	for i := range all {
		for _, o := range objects(m, m.Client, all[len(all)-1-i]) {
			patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null,"annotations":{"`+names.DeleteForMove+`":""}}}`))
			m.Expect(m.Patch(m.Context(), o, patch)).To(Succeed())
			m.Expect(client.IgnoreNotFound(m.Delete(m.Context(), o))).To(Succeed())
		}
	}
	m.Client, m.site.Client = kube, kube
}

// TestAHubMovesToAnotherClusterAndBack with an installed host: it is detached and paused; where it comes to, the hub knows
// the host and its cluster as installed, and Ironic is asked for nothing. Back again, it is given back and cleaned.
func TestAHubMovesToAnotherClusterAndBack(t *testing.T) {
	t.Parallel()
	m := newMetal(prepare(t))
	other := m.otherPlane()
	there := m.kube(other)
	m.Expect(there.Create(m.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: m.namespace()}})).To(Succeed())
	hubThere := m.newRun(other, "there")
	m.start(hubThere)
	before, agent := m.read()
	here, hubHere := m.Client, m.hub
	m.since()
	for _, to := range []struct {
		kube client.Client
		hub  interface{ Kill() }
		url  string
		ca   string
	}{{there, hubThere, hubThere.URL, hubThere.CA}, {here, hubHere, hubHere.URL, hubHere.CA}} {
		m.moveTo(to.kube)
		m.connect(to.url, to.ca)
		m.settles()
		<-time.After(10 * time.Second) // nothing comes after that
		m.settles()
		m.Expect(m.since()).To(BeEmpty(), "nothing is inspected, deployed or cleaned, and no node is made")
		bmh, now := m.read()
		m.Expect(bmh.Status.Provisioning.State).To(Equal(before.Status.Provisioning.State))
		m.Expect(bmh.Status.HardwareDetails).To(Equal(before.Status.HardwareDetails))
		m.Expect(now.Status.Inventory.Interfaces).To(Equal(agent.Status.Inventory.Interfaces))
		m.Expect(now.Status.Role).To(Equal(agent.Status.Role))
		var shown wire.Host
		m.Expect(m.Get(m.Context(), client.ObjectKeyFromObject(m.site.env), m.site.env)).To(Succeed())
		m.do(http.MethodGet, "/infra-envs/"+string(m.site.env.UID)+"/hosts/"+now.Name, nil, &shown)
		m.Expect(shown.Status).To(Equal(wire.HostStatusInstalled))
	}

	change(m, m.bmh, &metal3v1.BareMetalHost{}, func(h *metal3v1.BareMetalHost) {
		h.Annotations[names.GiveBack] = h.Name
		delete(h.Labels, names.InfraEnvLabel) // or it would be installed again
	})
	m.Eventually(m.state, patience, look).Should(Equal(metal3v1.StateAvailable), "it can be worked with")
	m.Eventually(func() int { return len(objects(m, m.Client, &agentv1.AgentList{})) }, patience, look).Should(BeZero())
	m.Expect(m.since()).To(ContainElement(HaveSuffix("/states/provision")), "now it is cleaned")
}

// TestAHostLeavesItsClusterBeforeItIsCleaned: a person deletes the host. Its Node is drained, as far as the cluster allows
// it, and removed; only then is the machine cleaned, and its Agent goes.
func TestAHostLeavesItsClusterBeforeItIsCleaned(t *testing.T) {
	t.Parallel()
	m := newMetal(prepare(t))
	m.ownInner()
	host := m.host(m.machine)
	name, address := m.identity(host)
	m.Expect(m.inner.Node(m.Context(), name, address, true, nil)).To(Succeed())
	inner := m.kube(m.inner.Plane)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "work"}}
	pod.Spec.NodeName, pod.Spec.Containers = name, []corev1.Container{{Name: "a", Image: "registry.example/a:1"}}
	m.Expect(inner.Create(m.Context(), pod)).To(Succeed())
	m.Expect(m.Create(m.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: m.site.env.Namespace, Name: m.site.cluster.Name + "-admin-kubeconfig"}, Data: map[string][]byte{"kubeconfig": m.adminKubeconfig()},
	})).To(Succeed())
	change(m, m.bmh, &metal3v1.BareMetalHost{}, func(h *metal3v1.BareMetalHost) { h.Annotations[names.BMACRemove] = "" })
	m.Eventually(func() string { bmh, _ := m.read(); return bmh.Annotations[names.Detached] }, patience, look).Should(ContainSubstring("delay"))
	m.since()
	bmh, _ := m.read()
	m.Expect(m.Delete(m.Context(), bmh)).To(Succeed())

	m.Eventually(func() (*metav1.Time, error) {
		err := inner.Get(m.Context(), client.ObjectKeyFromObject(pod), pod)
		return pod.DeletionTimestamp, err
	}, patience, look).ShouldNot(BeNil(), "it is evicted")
	node := &corev1.Node{}
	m.Expect(inner.Get(m.Context(), client.ObjectKey{Name: name}, node)).To(Succeed())
	m.Expect(node.Spec.Unschedulable).To(BeTrue())
	bmh, _ = m.read()
	m.Expect(bmh.Annotations[names.BMACDrainStatus]).To(Or(Equal("draining in progress"), ContainSubstring("default/work")))
	m.Expect(bmh.Status.Provisioning.State).To(Equal(metal3v1.StateProvisioned))
	m.Expect(m.since()).To(BeEmpty(), "its machine is not touched before")

	m.Expect(inner.Delete(m.Context(), pod, client.GracePeriodSeconds(0))).To(Succeed(), "its kubelet has ended it")
	m.Eventually(func() bool {
		return apierrors.IsNotFound(inner.Get(m.Context(), client.ObjectKey{Name: name}, node))
	}, patience, look).Should(BeTrue(), "the Node is removed")
	m.Eventually(func() int {
		return len(objects(m, m.Client, &metal3v1.BareMetalHostList{})) + len(objects(m, m.Client, &agentv1.AgentList{}))
	}, patience, look).Should(BeZero())
	m.Expect(m.since()).To(ContainElement(HaveSuffix("/states/provision")), "it is cleaned")
}
