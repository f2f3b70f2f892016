package host

import (
	"fmt"
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

	"github.com/ironflow/ironflow/controllers/host/nodespec"
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
		w.g.Expect(n.Name).To(Equal("lab~host-1"), "it has its name back")
	})
}

// TestAMachineThatSomebodyUndeployedIsNotShownAsProvisioned: it is told once, and nothing is
// done to the machine, however often the host is looked at.
func TestAMachineThatSomebodyUndeployedIsNotShownAsProvisioned(t *testing.T) {
	for name, change := range map[string]func(*metal3.BareMetalHost){
		"deployed":               wantInstall,
		"externally provisioned": func(h *metal3.BareMetalHost) { h.Spec.ExternallyProvisioned = true },
	} {
		for _, fails := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", undeploying fails: ", fails), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var broken atomic.Bool
					w := newWorld(t, assisted(failing(&broken, "undeploy", "", "no answer")), policy.Settings{}, change)
					defer func() { w.stop() }()
					w.until("in use", 2*time.Minute, nodespec.InUse)
					let(time.Minute)
					broken.Store(fails)
					person, err := ironic.New(t.Context(), ironic.Config{URL: "http://ironic.test", Transport: w.sim.Transport()})
					w.g.Expect(err).NotTo(HaveOccurred())
					w.g.Expect(person.Transition(t.Context(), w.host().Status.Provisioning.ID, ironic.Transition{Target: ironic.TargetDeleted})).To(Succeed())
					let(10 * time.Minute)
					n, _ := w.sim.Node("lab~host-1")
					if name == "externally provisioned" && !fails {
						// An available node is where such a host comes from: nothing tells the two apart.
						w.g.Expect(n.ProvisionState).To(Equal("active"), "adopted again")
						return
					}
					w.g.Expect(condition(w.host(), metal3.ReadyCondition).Status).NotTo(BeEquivalentTo("True"), "node %s", n.ProvisionState)
					w.g.Expect(condition(w.host(), "Stalled").Reason).To(Equal("NodeNotActive"))
					told := count1(w.events.list(), "ProvisionedRegistrationError")
					for i := range 5 {
						w.annotate("example.com/anything", fmt.Sprint(i))
						let(time.Hour)
					}
					w.g.Expect(count1(w.events.list(), "ProvisionedRegistrationError")).To(Equal(told), "told once")
				})
			})
		}
	}
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
