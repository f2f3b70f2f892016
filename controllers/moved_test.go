package controllers_test

import (
	"encoding/json"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/link"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// asked are the requests to an Ironic that change something, in order.
type asked struct {
	mu   sync.Mutex
	list []string
}

func (a *asked) note(r *http.Request) *simulator.Fault {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.list = append(a.list, r.Method+" "+r.URL.Path)
	}
	return nil
}

// since are those since the last time.
func (a *asked) since() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := a.list
	a.list = nil
	return list
}

// kinds are those that are moved: owners before what they own.
func kinds() []client.ObjectList {
	return []client.ObjectList{&corev1.SecretList{}, &agentv1.InfraEnvList{}, &metal3v1.BareMetalHostList{}, &metal3v1.HardwareDataList{}, &agentv1.AgentList{}}
}

// objects are all of a kind.
func objects(c *crew, list client.ObjectList) []client.Object {
	c.t.Helper()
	c.Expect(c.kube.List(c.t.Context(), list, client.InNamespace("lab"))).To(Succeed())
	var all []client.Object
	switch l := list.(type) {
	case *corev1.SecretList:
		for i := range l.Items {
			all = append(all, &l.Items[i])
		}
	case *agentv1.InfraEnvList:
		for i := range l.Items {
			all = append(all, &l.Items[i])
		}
	case *metal3v1.BareMetalHostList:
		for i := range l.Items {
			all = append(all, &l.Items[i])
		}
	case *metal3v1.HardwareDataList:
		for i := range l.Items {
			all = append(all, &l.Items[i])
		}
	case *agentv1.AgentList:
		for i := range l.Items {
			all = append(all, &l.Items[i])
		}
	}
	return all
}

// move takes everything to another cluster as clusterctl and the Cluster API's provider for Metal3 do: hosts that nobody
// has paused are paused, with their status in an annotation; objects are made without statuses, and their owners are
// those there; and here they lose their finalizers and are deleted, what is owned before its owner, while the controllers
// of both clusters run.
func move(from, to *crew) {
	from.t.Helper()
	const theirs = "metal3.io/capm3"
	for _, o := range objects(from, &metal3v1.BareMetalHostList{}) {
		edit(from, o.GetName(), &metal3v1.BareMetalHost{}, func(h *metal3v1.BareMetalHost) {
			if _, paused := h.Annotations[names.Paused]; paused {
				return
			}
			status, err := json.Marshal(h.Status)
			from.Expect(err).NotTo(HaveOccurred())
			metav1.SetMetaDataAnnotation(&h.ObjectMeta, names.Status, string(status))
			metav1.SetMetaDataAnnotation(&h.ObjectMeta, names.Paused, theirs)
		})
	}
	uids := map[types.UID]types.UID{}
	for _, kind := range kinds() {
		for _, o := range objects(from, kind) {
			was := o.GetUID()
			o.SetResourceVersion("")
			o.SetUID("")
			owners := o.GetOwnerReferences()
			for i := range owners {
				owners[i].UID = uids[owners[i].UID]
			}
			o.SetOwnerReferences(owners)
			to.Expect(to.kube.Create(to.t.Context(), o)).To(Succeed())
			uids[was] = o.GetUID()
		}
	}
	all := kinds()
	for i := range all {
		for _, o := range objects(from, all[len(all)-1-i]) {
			patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null,"annotations":{"clusterctl.cluster.x-k8s.io/delete-for-move":""}}}`))
			from.Expect(from.kube.Patch(from.t.Context(), o, patch)).To(Succeed())
			from.Expect(client.IgnoreNotFound(from.kube.Delete(from.t.Context(), o))).To(Succeed())
		}
	}
	for _, o := range objects(to, &metal3v1.BareMetalHostList{}) {
		edit(to, o.GetName(), &metal3v1.BareMetalHost{}, func(h *metal3v1.BareMetalHost) {
			if h.Annotations[names.Paused] == theirs {
				delete(h.Annotations, names.Paused)
			}
		})
	}
}

// fleetOf makes three machines: one that the linking controller has installed, with its Agent; one that a person has had
// installed; and a free one.
func (c *crew) fleetOf() {
	at := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "lab", Name: name} }
	machine := func(name, mac string) *metal3v1.BareMetalHost {
		return &metal3v1.BareMetalHost{ObjectMeta: at(name), Spec: metal3v1.BareMetalHostSpec{
			Online: true, BootMACAddress: mac,
			BMC: metal3v1.BMCDetails{Address: "redfish-virtualmedia://bmc.test/redfish/v1/Systems/" + name, CredentialsName: "bmc"},
		}}
	}
	assisted, own, free := machine("assisted", "52:54:00:00:00:01"), machine("own", "52:54:00:00:00:02"), machine("free", "52:54:00:00:00:03")
	assisted.Labels = map[string]string{names.InfraEnvLabel: "edge"}
	own.Spec.CustomDeploy = &metal3v1.CustomDeploy{Method: names.InstallCoreOS}
	env := &agentv1.InfraEnv{ObjectMeta: at("edge")}
	c.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "lab"}},
		&corev1.Secret{ObjectMeta: at("bmc"), Data: map[string][]byte{"username": []byte("admin"), "password": []byte("hunter2hunter2")}}, env, assisted, own, free)
	c.tellImage()
	c.until("installed by the agent", func() bool { return c.stateOf("assisted") == metal3v1.StateProvisioned })
	agent := &agentv1.Agent{ObjectMeta: at("1b4e28ba-2fa1-11d2-883f-0016d3cca427")}
	agent.Labels = map[string]string{names.InfraEnvLabel: "edge", names.AgentHostLabel: "assisted"}
	agent.OwnerReferences = []metav1.OwnerReference{{APIVersion: agentv1.GroupVersion.String(), Kind: "InfraEnv", Name: "edge", UID: env.UID}}
	agent.Finalizers = []string{names.AgentFinalizer}
	agent.Spec.Approved = true
	c.create(agent)
	agent.Status.Inventory.Interfaces = []agentv1.HostInterface{{Name: "eno1", MacAddress: assisted.Spec.BootMACAddress}}
	agent.Status.DebugInfo.State = wire.HostStatusInstalled
	c.Expect(c.kube.Status().Update(c.t.Context(), agent)).To(Succeed())
	c.until("settled", c.settled)
}

// tellImage says that the InfraEnv is known to the hub, as its controller does.
func (c *crew) tellImage() {
	env, _ := read(c, "edge", &agentv1.InfraEnv{})
	env.Status.Conditions = []agentv1.Condition{{Type: agentv1.ConditionImageCreated, Status: corev1.ConditionTrue, Reason: agentv1.ReasonImageCreated}}
	c.Expect(c.kube.Status().Update(c.t.Context(), env)).To(Succeed())
}

func (c *crew) stateOf(name string) metal3v1.ProvisioningState {
	h, _ := read(c, name, &metal3v1.BareMetalHost{})
	return h.Status.Provisioning.State
}

// settled tells that all three machines are where they are to be.
func (c *crew) settled() bool {
	assisted, _ := read(c, "assisted", &metal3v1.BareMetalHost{})
	_, paused := assisted.Annotations[names.Paused]
	_, kept := assisted.Annotations[names.Status]
	return c.stateOf("assisted") == metal3v1.StateProvisioned && assisted.Status.OperationalStatus == metal3v1.OperationalStatusDetached && paused && kept &&
		c.stateOf("own") == metal3v1.StateProvisioned && c.stateOf("free") == metal3v1.StateAvailable
}

// TestAHubIsMovedAndMovedBack: the objects of hosts at work go to another cluster, whose hub has never heard of them, and
// back. By the log of Ironic, no machine is inspected, cleaned, deployed or switched for that, nor a node made or removed;
// afterwards they can be worked with.
func TestAHubIsMovedAndMovedBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, log := newIronic(t), &asked{}
		here, there := newCrewWith(t, sim, link.Options{Pause: true}), newCrewWith(t, sim, link.Options{Pause: true})
		here.fleetOf()
		<-time.After(10 * time.Minute)
		there.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "lab"}})
		sim.Intercept(log.note)
		before, _ := read(here, "assisted", &metal3v1.BareMetalHost{})

		from, to := here, there
		for range 2 {
			move(from, to)
			to.tellImage()
			to.until("settled where it was moved to", to.settled)
			<-time.After(time.Hour)
			to.Expect(to.settled()).To(BeTrue())
			to.Expect(objects(from, &metal3v1.BareMetalHostList{})).To(BeEmpty())
			to.Expect(log.since()).NotTo(ContainElement(Or(
				ContainSubstring("/states/"), HavePrefix("POST "), HavePrefix("DELETE "), ContainSubstring("/management/"), ContainSubstring("/vendor_passthru"))))
			after, _ := read(to, "assisted", &metal3v1.BareMetalHost{})
			to.Expect(after.Status.Provisioning).To(Equal(before.Status.Provisioning))
			to.Expect(after.Status.HardwareDetails).To(Equal(before.Status.HardwareDetails), "it is not inspected again to be known")
			to.Expect(after.Status.OperationHistory).To(Equal(before.Status.OperationHistory))
			from, to = to, from
		}

		edit(here, "assisted", &metal3v1.BareMetalHost{}, func(h *metal3v1.BareMetalHost) { h.Annotations[names.GiveBack] = h.Name })
		here.until("given back", func() bool { return here.stateOf("assisted") == metal3v1.StateDeprovisioning })
		edit(here, "own", &metal3v1.BareMetalHost{}, func(h *metal3v1.BareMetalHost) { h.Spec.CustomDeploy = nil })
		here.until("free again", func() bool { return here.stateOf("own") == metal3v1.StateAvailable })
	})
}
