package media

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/ironic/simulator"
	"github.com/ironflow/ironflow/test/kubeapi"
)

// site is a host that boots over the network, so that Ironic has no reason to empty its
// virtual CD drive, with both controllers as the program has them.
type site struct {
	*WithT
	t      *testing.T
	api    *kubeapi.Server
	scheme *runtime.Scheme
	kube   client.Client
	sim    *simulator.Server
	stop   func()
	over   <-chan struct{}
	node   string
	// stuck is a drive that does not eject.
	stuck atomic.Bool

	mu       sync.Mutex
	events   []string
	requests []string // that change the machine: what was asked, and what the drive held
}

// Eventf implements events.EventRecorder.
func (s *site) Eventf(_, _ runtime.Object, _, reason, _, note string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, reason+": "+fmt.Sprintf(note, args...))
}

func (s *site) told() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.events...)
}

// asked returns the requests since the last call.
func (s *site) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.requests
	s.requests = nil
	return list
}

func (s *site) note(r *http.Request) *simulator.Fault {
	_, what, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v1/nodes/"), "/")
	if what == "vmedia" && r.Method != http.MethodGet || strings.HasPrefix(what, "states/provision") || r.Method == http.MethodDelete {
		request := r.Method + " " + what + " with " + s.sim.Media(s.node)
		s.mu.Lock()
		s.requests = append(s.requests, request)
		s.mu.Unlock()
	}
	return nil
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{WithT: NewWithT(t), t: t, scheme: runtime.NewScheme()}
	s.Expect(metal3.AddToScheme(s.scheme)).To(Succeed())
	s.Expect(corev1.AddToScheme(s.scheme)).To(Succeed())
	s.sim = simulator.New(simulator.Options{
		AutomatedClean: true, Heartbeat: 2 * time.Second,
		Delays: simulator.Delays{Inspect: 5 * time.Second, Clean: 5 * time.Second, Deploy: 5 * time.Second, Power: time.Second, Work: 5 * time.Second},
		Behave: func(o simulator.Operation) simulator.Outcome {
			if s.stuck.Load() && o.Name == "media" && o.Step == "detach" {
				return simulator.Outcome{Error: "the drive is stuck"}
			}
			return simulator.Outcome{}
		},
	})
	t.Cleanup(s.sim.Close)
	s.sim.Intercept(s.note)
	var err error
	s.api, err = kubeapi.New(s.scheme, &metal3.BareMetalHost{}, &metal3.HardwareData{}, &metal3.PreprovisioningImage{}, &corev1.Secret{}, &corev1.ConfigMap{},
		&metal3.HostFirmwareSettings{}, &metal3.HostFirmwareComponents{}, &metal3.FirmwareSchema{}, &metal3.HostUpdatePolicy{}, &metal3.DataImage{})
	s.Expect(err).NotTo(HaveOccurred())
	s.kube, err = s.api.Client(s.scheme)
	s.Expect(err).NotTo(HaveOccurred())
	s.start()
	meta := metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}
	s.Expect(s.kube.Create(t.Context(), &corev1.Secret{
		ObjectMeta: meta, Data: map[string][]byte{"username": []byte("admin"), "password": []byte("hunter2hunter2")},
	})).To(Succeed())
	s.Expect(s.kube.Create(t.Context(), &metal3.BareMetalHost{ObjectMeta: meta, Spec: metal3.BareMetalHostSpec{
		Online: true, BootMACAddress: "52:54:00:00:00:01", Image: system("first"),
		BMC: metal3.BMCDetails{Address: "redfish://bmc.test/redfish/v1/Systems/1", CredentialsName: key.Name},
	}})).To(Succeed())
	s.untilState(metal3.StateProvisioned)
	s.node = s.host().Status.Provisioning.ID
	return s
}

func system(name string) *metal3.Image {
	return &metal3.Image{URL: "http://images.test/" + name + ".img", Checksum: "c0ffee"}
}

// start runs controllers that remember nothing, once those of before have ended.
func (s *site) start() {
	if s.over != nil {
		s.stop()
		<-s.over
	}
	mgr, err := s.api.Manager(s.scheme, s)
	s.Expect(err).NotTo(HaveOccurred())
	gateway, err := ironic.New(s.t.Context(), ironic.Config{URL: "http://ironic.test", Transport: s.sim.Transport()})
	s.Expect(err).NotTo(HaveOccurred())
	watch, gate := ironic.NewWatch(gateway, ironic.WatchOptions{}), NewGate(mgr.GetClient())
	s.Expect(mgr.Add(manager.RunnableFunc(watch.Run))).To(Succeed())
	s.Expect(host.Setup(mgr, host.Options{Gateway: gateway, Watch: watch, Media: gate})).To(Succeed())
	s.Expect(Setup(mgr, func(*metal3.BareMetalHost) (Gateway, error) { return gateway, nil }, gate)).To(Succeed())
	s.stop, s.over = kubeapi.Start(s.t, mgr)
}

// host is the host as it is stored; nil for none.
func (s *site) host() *metal3.BareMetalHost {
	h := &metal3.BareMetalHost{}
	if err := s.kube.Get(context.WithoutCancel(s.t.Context()), key, h); err != nil {
		s.Expect(client.IgnoreNotFound(err)).To(Succeed())
		return nil
	}
	return h
}

func (s *site) data() *metal3.DataImage {
	d := &metal3.DataImage{}
	if err := s.kube.Get(s.t.Context(), key, d); err != nil {
		s.Expect(client.IgnoreNotFound(err)).To(Succeed())
		return nil
	}
	return d
}

func (s *site) edit(change func(*metal3.BareMetalHost)) {
	s.t.Helper()
	h := s.host()
	before := h.DeepCopy()
	change(h)
	s.Expect(s.kube.Patch(s.t.Context(), h, client.MergeFrom(before))).To(Succeed())
}

func (s *site) until(what string, ok func() bool) {
	s.t.Helper()
	for begin := time.Now(); !ok(); let(time.Second) {
		if time.Since(begin) > 30*time.Minute {
			s.t.Fatalf("never: %s; %+v; %v", what, s.host(), s.told())
		}
	}
}

func (s *site) untilState(state metal3.ProvisioningState) {
	s.t.Helper()
	s.until(string(state), func() bool { h := s.host(); return h != nil && h.Status.Provisioning.State == state })
}

// attach gives the running system a data image.
func (s *site) attach() {
	s.t.Helper()
	s.Expect(s.kube.Create(s.t.Context(), &metal3.DataImage{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}, Spec: metal3.DataImageSpec{URL: image},
	})).To(Succeed())
	let(time.Minute)
	s.edit(func(h *metal3.BareMetalHost) { metav1.SetMetaDataAnnotation(&h.ObjectMeta, names.Reboot, "") })
	s.until("restarted with the image", func() bool { return s.sim.Media(s.node) == image && s.host().Status.PoweredOn })
	let(time.Minute)
	s.asked()
}

func (s *site) progress() string {
	if c := apimeta.FindStatusCondition(s.host().Status.Conditions, metal3.ProgressingCondition); c != nil {
		return c.Message
	}
	return ""
}

func (s *site) deleteData() {
	s.Expect(s.kube.Delete(s.t.Context(), &metal3.DataImage{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}})).To(Succeed())
}

// giveBack has the first user's system taken off.
func (s *site) giveBack() { s.edit(func(h *metal3.BareMetalHost) { h.Spec.Image = nil }) }

// deploy has the second user's system installed, and returns what was asked of the machine until it ran.
func (s *site) deploy() []string {
	s.t.Helper()
	s.edit(func(h *metal3.BareMetalHost) { h.Spec.Image = system("second") })
	let(time.Second)
	s.untilState(metal3.StateProvisioned)
	return s.asked()
}

const (
	eject      = "DELETE vmedia with " + image
	transition = "PUT states/provision with "
)

func TestNothingIsLeftForTheNextTenant(t *testing.T) {
	cases := map[string]func(*site){
		"given back, then used again": func(s *site) {
			s.giveBack()
			s.untilState(metal3.StateAvailable)
			let(time.Minute)
			s.Expect(s.sim.Media(s.node)).To(BeEmpty(), "the next user would find it")
			s.Expect(s.asked()).To(HaveExactElements(transition+image, eject), "after the cleaning, once")
			s.Expect(s.data()).To(HaveField("Status.AttachedImage.URL", ""))
			s.Expect(s.told()).To(ContainElement(ContainSubstring(EventDetached)))
			s.Expect(s.host().Status.PoweredOn).To(BeTrue(), "as spec.online says")
			s.Expect(s.deploy()).To(HaveEach(transition))
			s.Expect(s.data()).NotTo(BeNil(), "it is for the host's next system too, at a power-on")
		},
		"another system at once": func(s *site) {
			s.Expect(s.deploy()).To(HaveExactElements(transition+image, eject, transition), "given back, ejected, deployed")
		},
		"deleted while the host is given back": func(s *site) {
			s.giveBack()
			s.untilState(metal3.StateDeprovisioning)
			s.deleteData()
			let(time.Second)
			s.Expect(s.data()).NotTo(BeNil(), "it is all that is known of what is inserted")
			s.Expect(s.data().Status.AttachedImage.URL).To(Equal(image))
			s.until("the object to go", func() bool { return s.data() == nil })
			s.Expect(s.sim.Media(s.node)).To(BeEmpty())
			s.Expect(s.deploy()).To(ContainElement(transition))
		},
		"a drive that does not eject": func(s *site) {
			s.stuck.Store(true)
			s.edit(func(h *metal3.BareMetalHost) { h.Spec.Image = system("second") })
			let(time.Hour)
			s.Expect(s.host().Status.Provisioning.State).To(Equal(metal3.StateAvailable))
			s.Expect(s.asked()).To(And(HaveEach(HaveSuffix(image)), ContainElement(eject)), "no deployment")
			s.Expect(s.progress()).To(And(ContainSubstring("former use"), ContainSubstring("the drive is stuck")))
			s.Expect(s.data().Status.AttachedImage.URL).To(Equal(image))
			s.Expect(s.data().Status.Error.Message).To(ContainSubstring("the drive is stuck"))
			s.Expect(s.told()).To(ContainElement(ContainSubstring(EventFailed)))
			s.stuck.Store(false)
			d := s.data()
			d.Annotations = map[string]string{names.Retry: "1"}
			s.Expect(s.kube.Update(s.t.Context(), d)).To(Succeed())
			let(time.Second)
			s.untilState(metal3.StateProvisioned)
			s.Expect(s.asked()).To(HaveExactElements(eject, transition))
		},
		"ejected by hand": func(s *site) {
			s.stuck.Store(true)
			s.giveBack()
			s.untilState(metal3.StateAvailable)
			let(time.Minute)
			s.sim.LoseMedia(s.node)
			s.Expect(s.deploy()).To(ContainElement(transition))
		},
		"the program dies meanwhile": func(s *site) {
			s.stuck.Store(true)
			s.giveBack()
			s.untilState(metal3.StateAvailable)
			let(time.Minute)
			s.start()
			s.stuck.Store(false)
			s.Expect(s.deploy()).To(ContainElements(eject, transition))
			s.Expect(s.sim.Media(s.node)).To(BeEmpty())
		},
		"its host is deleted": func(s *site) {
			s.Expect(s.kube.Delete(s.t.Context(), s.host())).To(Succeed())
			s.until("the host to go", func() bool { return s.host() == nil })
			s.Expect(s.asked()).To(HaveExactElements(transition+image, eject, "DELETE  with "), "before the node goes")
			s.Expect(s.told()).NotTo(ContainElement(ContainSubstring(EventLeft)))
		},
		"its host is deleted, and the drive does not eject": func(s *site) {
			s.stuck.Store(true)
			s.Expect(s.kube.Delete(s.t.Context(), s.host())).To(Succeed())
			s.until("the host to go", func() bool { return s.host() == nil })
			s.Expect(s.asked()).To(And(ContainElement(eject), ContainElement("DELETE  with "+image)))
			s.Expect(s.told()).To(ContainElement(And(HavePrefix(EventLeft), ContainSubstring("at the BMC"))))
		},
		"both are deleted, and the drive does not eject": func(s *site) {
			s.stuck.Store(true)
			s.deleteData()
			s.Expect(s.kube.Delete(s.t.Context(), s.host())).To(Succeed())
			s.until("both to go", func() bool { return s.host() == nil && s.data() == nil })
			s.Expect(s.told()).To(ContainElement(HavePrefix(EventLeft)))
		},
		"its host is detached": func(s *site) {
			s.edit(func(h *metal3.BareMetalHost) {
				metav1.SetMetaDataAnnotation(&h.ObjectMeta, metal3.DetachedAnnotation, "")
			})
			s.until("detached", func() bool { return s.host().Status.OperationalStatus == metal3.OperationalStatusDetached })
			let(time.Minute)
			s.Expect(s.data().Status.AttachedImage.URL).To(Equal(image))
			s.deleteData()
			s.until("the object to go", func() bool { return s.data() == nil })
			s.Expect(s.told()).To(ContainElement(And(HavePrefix(EventLeft), ContainSubstring("detached"))))
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t)
				s.attach()
				test(s)
			})
		})
	}
}
