package host

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/ironic/simulator"
	"github.com/ironflow/ironflow/test/kubeapi"
)

func TestANodeThatSomebodyRenamesStillWakesItsHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, assisted(nil), policy.Settings{}, wantInstall)
		defer func() { w.stop() }()
		w.untilState(metal3.StateProvisioned, time.Minute)
		w.until("on", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.PoweredOn })
		let(time.Minute)
		id := w.host().Status.Provisioning.ID
		w.g.Expect(w.sim.Edit(id, map[string]any{"name": "rack7-u12"})).To(BeTrue())
		let(time.Minute)
		w.g.Expect(w.sim.Edit(id, map[string]any{"power_state": "power off"})).To(BeTrue())
		let(12 * time.Hour)
		n, _ := w.sim.Node(id)
		t.Logf("name %q, power %q, host's poweredOn %v", n.Name, n.PowerState, w.host().Status.PoweredOn)
		w.g.Expect(n.PowerState).To(Equal("power on"), "spec.online is true")
	})
}

func TestAMachineThatSomebodyUndeployedIsNotShownAsProvisioned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, assisted(nil), policy.Settings{}, wantInstall)
		defer func() { w.stop() }()
		w.untilState(metal3.StateProvisioned, time.Minute)
		let(time.Minute)
		person, err := ironic.New(t.Context(), ironic.Config{URL: "http://ironic.test", Transport: w.sim.Transport()})
		w.g.Expect(err).NotTo(HaveOccurred())
		before := len(w.events.list())
		w.g.Expect(person.Transition(t.Context(), w.host().Status.Provisioning.ID, ironic.Transition{Target: ironic.TargetDeleted})).To(Succeed())
		let(10 * time.Minute)
		n, _ := w.sim.Node("lab~host-1")
		t.Logf("host %s, Ready %s, Progressing %q, node %s %s, events since %v", w.host().Status.Provisioning.State, condition(w.host(), metal3.ReadyCondition).Status,
			condition(w.host(), metal3.ProgressingCondition).Message, n.ProvisionState, n.PowerState, w.events.list()[before:])
		w.g.Expect(condition(w.host(), metal3.ReadyCondition).Status).NotTo(BeEquivalentTo("True"), "its disk was cleaned")
	})
}

func TestANodeWhoseIDWasNeverStoredGoesWithItsHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, simulator.Options{}, policy.Settings{}, nil)
		defer func() { w.stop() }()
		var cut atomic.Bool
		cut.Store(true)
		w.mu.Lock()
		w.mayFail = true
		w.refuse = func(r *http.Request) *kubeapi.Fault { // the program is killed after Ironic was asked, before that is written
			if r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/status") && len(w.sim.Nodes()) > 0 && cut.Load() {
				return &kubeapi.Fault{Status: http.StatusServiceUnavailable, Text: "later"}
			}
			return nil
		}
		w.mu.Unlock()
		for len(w.sim.Nodes()) == 0 {
			let(time.Millisecond)
		}
		w.stop()
		secret := &corev1.Secret{}
		w.g.Expect(w.kube.Get(t.Context(), client.ObjectKey{Namespace: lab.Namespace, Name: "bmc"}, secret)).To(Succeed())
		secret.Finalizers = nil
		w.g.Expect(w.kube.Update(t.Context(), secret)).To(Succeed())
		w.g.Expect(client.IgnoreNotFound(w.kube.Delete(t.Context(), secret))).To(Succeed())
		cut.Store(false)
		t.Logf("stored: %q, id %q", w.host().Status.Provisioning.State, w.host().Status.Provisioning.ID)
		w.g.Expect(w.kube.Delete(t.Context(), w.host())).To(Succeed())
		w.start(policy.Settings{})
		let(30 * time.Minute)
		w.g.Expect(w.host()).To(BeNil())
		w.g.Expect(w.sim.Nodes()).To(BeEmpty())
	})
}
