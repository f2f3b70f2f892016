package image

import (
	"errors"
	"testing"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
)

func withNetwork(i *metal3v1.PreprovisioningImage) { i.Spec.NetworkDataName = "net" }

// network returns the Secret with the network data.
func (w *world) network() *corev1.Secret {
	w.t.Helper()
	s := &corev1.Secret{}
	w.Expect(w.kube.Get(w.t.Context(), types.NamespacedName{Namespace: key.Namespace, Name: "net"}, s)).To(Succeed())
	return s
}

// A host compares the inputs in the status with what it wants: at no time does the
// status show new ones beside the old address.
func TestAChangeOfInputsIsSeenStepByStep(t *testing.T) {
	w := newWorld(t, asked(withNetwork), secret("net", "eth0.nmconnection", "[connection]\nid=eth0\ntype=ethernet\n"))
	first, result, err := w.pass()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(result.RequeueAfter).To(BeZero(), "an image that nobody was given is built at once")
	changed := w.network()
	changed.Data = map[string][]byte{"eth1.nmconnection": []byte("[connection]\nid=eth1\ntype=ethernet\n")}
	w.Expect(w.kube.Update(t.Context(), changed)).To(Succeed())

	said, result, err := w.pass()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(result.RequeueAfter).To(Equal(nextPass))
	w.Expect(is(said, metal3v1.ConditionImageReady)).To(And(
		HaveField("Status", metav1.ConditionFalse), HaveField("Reason", ReasonSuccess), HaveField("Message", "Config changed")))
	w.Expect(said.Status.ImageUrl).To(Equal(first.Status.ImageUrl))
	w.Expect(said.Status.NetworkData).To(Equal(first.Status.NetworkData))

	empty, result, err := w.pass()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(result.RequeueAfter).To(Equal(nextPass))
	w.Expect(empty.Status.ImageUrl).To(BeEmpty())
	w.Expect(empty.Status.NetworkData.Version).To(Equal(changed.ResourceVersion))
	w.Expect(is(empty, metal3v1.ConditionImageReady).Status).To(Equal(metav1.ConditionFalse))
	w.Expect(w.store.specs).To(HaveLen(1), "nothing is built before")

	done, result, err := w.pass()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(result.RequeueAfter).To(BeZero())
	w.Expect(is(done, metal3v1.ConditionImageReady).Status).To(Equal(metav1.ConditionTrue))
	w.Expect(done.Status.ImageUrl).To(And(Not(BeEmpty()), Not(Equal(first.Status.ImageUrl))))
	w.Expect(w.store.removed).To(BeEmpty(), "a machine in the middle of its download goes on")
	w.Expect(w.settled().ResourceVersion).To(Equal(done.ResourceVersion))
}

func TestTheNetworkSecretIsMarkedOnce(t *testing.T) {
	w := newWorld(t, asked(withNetwork), secret("net", "eth0.nmconnection", "[connection]\nid=eth0\ntype=ethernet\n"))
	i, _, err := w.pass()
	w.Expect(err).NotTo(HaveOccurred())
	s := w.network()
	w.Expect(s.Labels).To(HaveKeyWithValue(names.EnvironmentLabel, names.EnvironmentValue))
	w.Expect(s.OwnerReferences).To(ConsistOf(And(HaveField("Kind", "PreprovisioningImage"), HaveField("UID", i.UID), HaveField("Controller", BeNil()))))
	w.settled()
	w.Expect(w.network().ResourceVersion).To(Equal(s.ResourceVersion))
	w.Expect(i.Status.NetworkData.Version).To(Equal(s.ResourceVersion), "hosts compare with the Secret as it is now")
}

// The host of an image that another version made has put no finalizer on it. Until the host is
// released, or gives the image up, it may be cleaned by it.
func TestADeletedImageIsServedUntilItsHostIsReleased(t *testing.T) {
	for name, end := range map[string]func(*world, *metal3v1.BareMetalHost){
		"released": func(w *world, h *metal3v1.BareMetalHost) {
			h.Finalizers = nil
			w.Expect(w.kube.Update(w.t.Context(), h)).To(Succeed())
		},
		"given up": func(w *world, _ *metal3v1.BareMetalHost) {
			i := &metal3v1.PreprovisioningImage{}
			w.Expect(w.kube.Get(w.t.Context(), key, i)).To(Succeed())
			i.OwnerReferences = nil
			w.Expect(w.kube.Update(w.t.Context(), i)).To(Succeed())
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := &metal3v1.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "uid-host", Finalizers: []string{names.HostFinalizer}}}
			w := newWorld(t, h, asked(func(i *metal3v1.PreprovisioningImage) {
				i.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(h, metal3v1.GroupVersion.WithKind("BareMetalHost"))}
			}))
			i := w.settled()
			w.Expect(w.kube.Delete(t.Context(), i)).To(Succeed())
			i, _, err := w.pass()
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(i).NotTo(BeNil())
			w.Expect(w.store.removed).To(BeEmpty())
			end(w, h)
			i, _, err = w.pass()
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(i).To(BeNil())
			w.Expect(w.store.removed).To(HaveLen(1))
		})
	}
}

// Whoever deletes a namespace deletes the Secrets first: an image that changed for that would
// be without an address when its host is to be cleaned by it.
func TestADeletedNetworkSecretThatIsHeldChangesNoImage(t *testing.T) {
	net := secret("net", "eth0.nmconnection", "[connection]\nid=eth0\ntype=ethernet\n")
	net.Finalizers = []string{names.SecretFinalizer}
	w := newWorld(t, asked(withNetwork), net)
	before := w.settled()
	w.Expect(w.kube.Delete(t.Context(), w.network())).To(Succeed())
	w.Expect(w.network().ResourceVersion).NotTo(Equal(before.Status.NetworkData.Version))
	for range 3 {
		after, _, err := w.pass()
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(after.Status).To(Equal(before.Status))
	}
	w.Expect(w.store.removed).To(BeEmpty())
}

// Garbage collection takes a Secret with its last owner: one that holds no network data, or
// that the image names no more, must not go with it.
func TestANetworkSecretThatWasNamedByMistakeIsNotOwned(t *testing.T) {
	const good = "[connection]\nid=eth0\ntype=ethernet\n"
	for name, mistake := range map[string]*corev1.Secret{
		"no network data":         secret("mistake", "dsn", "x"),
		"that of another machine": secret("mistake", "eth0.nmconnection", good),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, asked(func(i *metal3v1.PreprovisioningImage) { i.Spec.NetworkDataName = "mistake" }), mistake, secret("net", "eth0.nmconnection", good))
			i := w.settled()
			w.Expect(w.kube.Get(t.Context(), client.ObjectKeyFromObject(mistake), mistake)).To(Succeed())
			w.Expect(mistake.Labels).To(HaveKey(names.EnvironmentLabel), "a change of it is seen")
			if name == "no network data" {
				w.Expect(mistake.OwnerReferences).To(BeEmpty())
			}
			i.Spec.NetworkDataName = "net"
			w.Expect(w.kube.Update(t.Context(), i)).To(Succeed())
			w.settled()
			w.Expect(w.kube.Get(t.Context(), client.ObjectKeyFromObject(mistake), mistake)).To(Succeed())
			w.Expect(mistake.OwnerReferences).To(BeEmpty())
			w.Expect(w.network().OwnerReferences).To(HaveLen(1))
		})
	}
}

// A host that waits in its old image is rebooted into the new one, once, when the
// new address can be read; and no other host is.
func TestAChangedImageRebootsWaitingHosts(t *testing.T) {
	contents := func(w *world) { w.base.SSHKeys = []string{testKey + "somebody-else"} }
	inputs := func(w *world) {
		s := w.network()
		s.Data = map[string][]byte{"eth1.nmconnection": []byte("[connection]\nid=eth1\ntype=ethernet\n")}
		w.Expect(w.kube.Update(w.t.Context(), s)).To(Succeed())
	}
	for name, c := range map[string]struct {
		state  metal3v1.ProvisioningState
		on     bool
		agent  bool
		change func(*world)
		want   int
	}{
		"waiting":                          {metal3v1.StateAvailable, true, true, contents, 1},
		"waiting, with other network data": {metal3v1.StateAvailable, true, true, inputs, 1},
		"a Secret that was only labelled": {metal3v1.StateAvailable, true, true, func(w *world) {
			s := w.network()
			s.Labels["rack"] = "7"
			w.Expect(w.kube.Update(w.t.Context(), s)).To(Succeed())
		}, 0},
		"broken, then mended": {metal3v1.StateAvailable, true, true, func(w *world) {
			s := w.network()
			data := s.Data
			s.Data = map[string][]byte{"nmstate": []byte("interfaces: 7")}
			w.Expect(w.kube.Update(w.t.Context(), s)).To(Succeed())
			w.settled()
			s = w.network()
			s.Data = data
			w.Expect(w.kube.Update(w.t.Context(), s)).To(Succeed())
			contents(w)
		}, 1},
		"switched off":               {metal3v1.StateAvailable, false, true, contents, 0},
		"without the agent":          {metal3v1.StateAvailable, true, false, contents, 0},
		"in inspection":              {metal3v1.StateInspecting, true, true, inputs, 0},
		"in installation":            {metal3v1.StateProvisioning, true, true, contents, 0},
		"with an operating system":   {metal3v1.StateProvisioned, true, true, inputs, 0},
		"an adopted machine":         {metal3v1.StateExternallyProvisioned, true, true, contents, 0},
		"in preparation of its RAID": {metal3v1.StatePreparing, true, true, contents, 0},
	} {
		t.Run(name, func(t *testing.T) {
			host := &metal3v1.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
			host.Status.PoweredOn, host.Status.Provisioning.State = c.on, c.state
			i := asked(withNetwork)
			if c.agent {
				ofEdge(i)
			}
			w := newWorld(t, i, host, edge(), secret("pull", corev1.DockerConfigJsonKey, `{"auths":{}}`),
				secret("net", "eth0.nmconnection", "[connection]\nid=eth0\ntype=ethernet\n"))
			var offered []string
			w.hostPatched = func() {
				i := &metal3v1.PreprovisioningImage{}
				w.Expect(w.kube.Get(t.Context(), key, i)).To(Succeed())
				w.Expect(is(i, metal3v1.ConditionImageReady).Status).To(Equal(metav1.ConditionTrue))
				offered = append(offered, i.Status.ImageUrl)
			}
			first := w.settled()
			w.Expect(offered).To(BeEmpty(), "the first image")
			c.change(w)
			last := w.settled()
			w.Expect(is(last, metal3v1.ConditionImageReady).Status).To(Equal(metav1.ConditionTrue))
			w.Expect(offered).To(HaveLen(c.want))
			if c.want > 0 {
				w.Expect(offered[0]).To(And(Equal(last.Status.ImageUrl), Not(Equal(first.Status.ImageUrl))))
			}
			w.Expect(last.Annotations).NotTo(HaveKey(names.ReplacedImage))
			h := &metal3v1.BareMetalHost{}
			w.Expect(w.kube.Get(t.Context(), key, h)).To(Succeed())
			_, asks := h.Annotations[names.Reboot]
			w.Expect(asks).To(Equal(c.want > 0))
			delete(h.Annotations, names.Reboot)
			w.Expect(w.kube.Update(t.Context(), h)).To(Succeed())
			w.settled()
			w.Expect(offered).To(HaveLen(c.want), "once")
		})
	}
}

// The program may end between any two writes.
func TestTheRebootIsNotLostWithTheProgram(t *testing.T) {
	host := &metal3v1.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	host.Status.PoweredOn, host.Status.Provisioning.State = true, metal3v1.StateAvailable
	w := newWorld(t, asked(ofEdge), host, edge(), secret("pull", corev1.DockerConfigJsonKey, `{"auths":{}}`))
	asked := 0
	w.hostPatched = func() { asked++ }
	first := w.settled()
	o := w.r.options
	w.base.SSHKeys = nil
	for range 6 {
		w.r = newReconciler(w.kube, o) // another program each time
		_, _, err := w.pass()
		w.Expect(errors.Unwrap(err)).NotTo(HaveOccurred())
	}
	w.Expect(w.settled().Status.ImageUrl).NotTo(Equal(first.Status.ImageUrl))
	w.Expect(asked).To(Equal(1))
}

// TestADeploymentThatHasBegunIsNotRestarted: it begins between the look at the host, which waits in its old image, and the request
// to reboot it. A forced reboot would start the deployment over.
func TestADeploymentThatHasBegunIsNotRestarted(t *testing.T) {
	host := &metal3v1.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	host.Status.PoweredOn, host.Status.Provisioning.State = true, metal3v1.StateAvailable
	w := newWorld(t, asked(ofEdge), host, edge(), secret("pull", corev1.DockerConfigJsonKey, `{"auths":{}}`))
	h := &metal3v1.BareMetalHost{}
	w.hostPatched = func() {
		w.Expect(w.kube.Get(t.Context(), key, h)).To(Succeed())
		if h.Status.Provisioning.State == metal3v1.StateAvailable {
			h.Status.Provisioning.State = metal3v1.StateProvisioning
			w.Expect(w.kube.Update(t.Context(), h)).To(Succeed())
		}
	}
	w.settled()
	w.base.SSHKeys = nil
	for range 6 {
		_, _, err := w.pass()
		w.Expect(errors.Unwrap(err)).NotTo(HaveOccurred())
	}
	w.Expect(w.kube.Get(t.Context(), key, h)).To(Succeed())
	w.Expect(h.Status.Provisioning.State).To(Equal(metal3v1.StateProvisioning))
	w.Expect(h.Annotations).NotTo(HaveKey(names.Reboot))
	w.Expect(w.settled().Annotations).NotTo(HaveKey(names.ReplacedImage), "it boots the new image by itself")
}
