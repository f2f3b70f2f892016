package link_test

import (
	"context"
	"testing"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/link"
	"github.com/ironflow/ironflow/hub/wire"
)

// site are the InfraEnv and the namespace of the host, as they are.
func site(uid types.UID) []client.Object {
	return []client.Object{
		&agentv1.InfraEnv{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "edge", UID: uid}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: key.Namespace}},
	}
}

// deletedAt is the Agent of the host, deleted at that time.
func deletedAt(at time.Time, change ...func(*agentv1.Agent)) *agentv1.Agent {
	stamp := metav1.NewTime(at)
	a := registered("ours", at.Add(-time.Hour))
	metav1.SetMetaDataLabel(&a.ObjectMeta, names.AgentHostLabel, key.Name)
	a.DeletionTimestamp, a.Finalizers = &stamp, []string{names.AgentFinalizer}
	for _, c := range change {
		c(a)
	}
	return a
}

// TestWhoseDeletionOfAnAgentCounts: that of the Agent of this very host, by somebody who meant it, while the host was installed.
// Whatever else takes an Agent away is no wish to have a running machine wiped.
func TestWhoseDeletionOfAnAgentCounts(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	made := func(at time.Time) func(*metal3v1.BareMetalHost) {
		return func(h *metal3v1.BareMetalHost) { h.CreationTimestamp = metav1.NewTime(at) }
	}
	installed := func(at time.Time) func(*metal3v1.BareMetalHost) {
		return func(h *metal3v1.BareMetalHost) { h.Status.OperationHistory.Provision.End = metav1.NewTime(at) }
	}
	ownedBy := func(uid types.UID) func(*agentv1.Agent) {
		return func(a *agentv1.Agent) {
			a.OwnerReferences = []metav1.OwnerReference{{APIVersion: agentv1.GroupVersion.String(), Kind: "InfraEnv", Name: "edge", UID: uid}}
		}
	}
	for name, c := range map[string]struct {
		host  *metal3v1.BareMetalHost
		agent *agentv1.Agent
		given bool
	}{
		"a person's": {
			installedInWorld(made(now.Add(-2*time.Hour)), installed(now.Add(-time.Hour))), deletedAt(now, ownedBy("edge-1")), true,
		},
		"before the host was moved here, or made again from a backup": {
			installedInWorld(made(now.Add(time.Minute)), installed(now.Add(-time.Hour))), deletedAt(now, ownedBy("edge-1")), false,
		},
		"before the host was installed: an Agent of the time before": {
			installedInWorld(made(now.Add(-2*time.Hour)), installed(now.Add(time.Minute))), deletedAt(now, ownedBy("edge-1")), false,
		},
		"along with an InfraEnv in whose place there is another": {
			installedInWorld(made(now.Add(-2*time.Hour)), installed(now.Add(-time.Hour))), deletedAt(now, ownedBy("edge-0")), false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, append(site("edge-1"), c.host)...)
			link.HostsOfAgent(w.r, t.Context(), c.agent)
			for range 2 {
				w.pass()
			}
			w.Expect(w.host().Spec.CustomDeploy == nil).To(Equal(c.given))
		})
	}
}

// TestAnAgentThatGoesAfterItsHost: a host is deleted with its Agent, which the cache still shows, and is made again with its
// status, as a move or a restored backup does.
func TestAnAgentThatGoesAfterItsHost(t *testing.T) {
	w := newWorld(t, site("edge-1")...)
	gone := deletedAt(time.Now())
	link.HostsOfAgent(w.r, t.Context(), gone)
	_, err := w.r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.kube.Create(t.Context(), installedInWorld())).To(Succeed())
	for range 2 {
		w.pass()
	}
	w.Expect(w.host().Spec.CustomDeploy).NotTo(BeNil(), "what was deleted before the host was made is no wish about it")
}

// TestTheAgentOfARunningMachineOutlivesARestore: the status of a host comes from a backup of before its deployment. Its Agent is of
// no earlier installation: it tells of what runs, and its end would be taken for a wish to have that wiped.
func TestTheAgentOfARunningMachineOutlivesARestore(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		cleaned time.Time
		stays   bool
	}{
		"never deployed before":          {time.Time{}, true},
		"given back before":              {now.Add(-2 * time.Hour), true},
		"given back since it registered": {now, false},
	} {
		t.Run(name, func(t *testing.T) {
			ours := registered("ours", now.Add(-time.Hour), inHub(wire.HostStatusInstalled))
			metav1.SetMetaDataLabel(&ours.ObjectMeta, names.AgentHostLabel, key.Name)
			w := newWorld(t, ours, host(metal3v1.StateAvailable, asked, withMAC, func(h *metal3v1.BareMetalHost) {
				h.Status.OperationHistory.Deprovision.End = metav1.NewTime(c.cleaned)
			}))
			w.pass()
			w.Expect(w.agent("ours") != nil).To(Equal(c.stays))
		})
	}
}

// TestAMachineThatRegistersAnewKeepsItsAgent: the cache shows the Agent of the earlier installation, which is to go. Meanwhile it
// went, and the machine has registered anew under the same name.
func TestAMachineThatRegistersAnewKeepsItsAgent(t *testing.T) {
	old := registered("ours", time.Now().Add(-time.Hour))
	metav1.SetMetaDataLabel(&old.ObjectMeta, names.AgentHostLabel, key.Name)
	w := newWorld(t, old, host(metal3v1.StateAvailable, withMAC, func(h *metal3v1.BareMetalHost) {
		h.Status.OperationHistory.Deprovision.End = metav1.Now()
	}))
	w.r.Client = interceptor.NewClient(w.kube.(client.WithWatch), interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			w.Expect(w.kube.Delete(ctx, old.DeepCopy())).To(Succeed())
			w.Expect(w.kube.Create(ctx, registered("ours", time.Now()))).To(Succeed())
			return c.Delete(ctx, o, opts...)
		},
	})
	_, err := w.r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
	w.Expect(err).NotTo(HaveOccurred(), "it looks again")
	w.Expect(w.agent("ours")).NotTo(BeNil(), "it is not the one that was to go")
}
