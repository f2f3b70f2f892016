package host

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// What users, dashboards and other controllers know from the existing operator.

// newKube is a fake API for objects of hosts.
func newKube(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{metal3.AddToScheme, clientgoscheme.AddToScheme} {
		NewWithT(t).Expect(add(scheme)).To(Succeed())
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithIndex(&metal3.BareMetalHost{}, secretIndex, indexSecrets).Build()
}

// TestMarksOfASecret follows a BMC Secret that two hosts share.
func TestMarksOfASecret(t *testing.T) {
	g := NewWithT(t)
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "bmc", Labels: map[string]string{"rack": "7"}},
		Data:       map[string][]byte{"username": []byte("admin\n"), "password": []byte(" x ")},
	}
	kube := newKube(t, secret)
	s := secrets{client: kube, live: kube, echoes: newEchoes()}
	first := observed(metal3.StateRegistering, ironic.StateEnroll).Host
	second := first.DeepCopy()
	second.Name, second.UID = "b", "uid-b"
	read := func() *corev1.Secret {
		g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(secret), secret)).To(Succeed())
		return secret
	}
	owners := func() (list []types.UID) {
		for _, r := range read().OwnerReferences {
			g.Expect(r.Controller).To(BeNil(), "an owner, not the controller")
			list = append(list, r.UID)
		}
		return list
	}
	for _, h := range []*metal3.BareMetalHost{first, second} {
		h.ResourceVersion = ""
		g.Expect(kube.Create(t.Context(), h)).To(Succeed())
		b, err := s.bmc(t.Context(), h)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(b.Problem).To(BeEmpty())
		g.Expect([]string{b.Username, b.Password}).To(Equal([]string{"admin", "x"}), "white space around them is trimmed")
	}
	g.Expect(read().Labels).To(Equal(map[string]string{"rack": "7", names.EnvironmentLabel: names.EnvironmentValue}))
	g.Expect(read().Finalizers).To(ConsistOf(names.SecretFinalizer))
	g.Expect(owners()).To(ConsistOf(first.UID, second.UID))
	g.Expect(s.release(t.Context(), first, "bmc")).To(Succeed())
	g.Expect(read().Finalizers).To(ConsistOf(names.SecretFinalizer), "the other host uses it")
	g.Expect(owners()).To(ConsistOf(first.UID, second.UID), "garbage collection knows which of them are gone")
	g.Expect(kube.Delete(t.Context(), first)).To(Succeed())
	g.Expect(s.release(t.Context(), second, "bmc")).To(Succeed())
	g.Expect(read().Finalizers).To(BeEmpty(), "nobody uses it any more, whoever is still named")
	g.Expect(owners()).To(ConsistOf(first.UID, second.UID), "so that it goes with its hosts")
}

// TestTwoHostsThatGoAtOnceFreeTheirSecret: neither waits for the other.
func TestTwoHostsThatGoAtOnceFreeTheirSecret(t *testing.T) {
	g := NewWithT(t)
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "bmc"},
		Data:       map[string][]byte{"username": []byte("admin"), "password": []byte("x")},
	}
	kube := newKube(t, secret)
	s := secrets{client: kube, live: kube, echoes: newEchoes()}
	first := observed(metal3.StateRegistering, ironic.StateEnroll).Host
	second := first.DeepCopy()
	second.Name, second.UID = "b", "uid-b"
	for _, h := range []*metal3.BareMetalHost{first, second} {
		h.ResourceVersion, h.Finalizers = "", []string{names.HostFinalizer}
		g.Expect(kube.Create(t.Context(), h)).To(Succeed())
		_, err := s.bmc(t.Context(), h)
		g.Expect(err).NotTo(HaveOccurred())
	}
	for _, h := range []*metal3.BareMetalHost{first, second} {
		g.Expect(kube.Delete(t.Context(), h)).To(Succeed())
	}
	for _, h := range []*metal3.BareMetalHost{first, second} {
		g.Expect(s.release(t.Context(), h, "bmc")).To(Succeed())
	}
	g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(secret), secret)).To(Succeed())
	g.Expect(secret.Finalizers).To(BeEmpty())
}

// TestHardwareDataIsTheHosts sees that inspection results are kept with the host, and
// go with it.
func TestHardwareDataIsTheHosts(t *testing.T) {
	g := NewWithT(t)
	kube := newKube(t)
	k := objects{client: kube}
	h := observed(metal3.StateInspecting, ironic.StateManageable).Host
	data := &metal3.HardwareData{ObjectMeta: metaOf(h)}
	for _, hostname := range []string{"first", "again"} {
		g.Expect(k.saveHardware(t.Context(), h, &metal3.HardwareDetails{Hostname: hostname})).To(Succeed())
		g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(data), data)).To(Succeed())
		g.Expect(data.Spec.HardwareDetails.Hostname).To(Equal(hostname))
		g.Expect(data.Finalizers).To(ConsistOf(names.HardwareFinalizer))
		g.Expect(metav1.IsControlledBy(data, h)).To(BeTrue())
	}
	g.Expect(kube.Delete(t.Context(), data)).To(Succeed())
	g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(data), data)).To(Succeed(), "held until the host lets it go")
	g.Expect(k.releaseOwned(t.Context(), h)).To(Succeed())
	g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(data), data)).NotTo(Succeed())
}

func TestOperationHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, assisted(nil), Settings{}, wantInstall)
		defer w.stop()
		w.untilState(metal3.StateProvisioned, time.Minute)
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.CustomDeploy = nil })
		w.untilState(metal3.StateAvailable, time.Minute)
		history := w.host().Status.OperationHistory
		last := metav1.Time{}
		for name, m := range map[string]metal3.OperationMetric{
			"register": history.Register, "inspect": history.Inspect, "provision": history.Provision, "deprovision": history.Deprovision,
		} {
			g.Expect(m.Start.IsZero()).To(BeFalse(), name)
			g.Expect(m.End.Before(&m.Start)).To(BeFalse(), name)
		}
		for _, m := range []metal3.OperationMetric{history.Register, history.Inspect, history.Provision, history.Deprovision} {
			g.Expect(m.Start.Before(&last)).To(BeFalse(), "one after the other")
			last = m.End
		}
	})
}

// TestEventsNameTheConsumer keeps source and related object of the existing operator's events.
func TestEventsNameTheConsumer(t *testing.T) {
	g := NewWithT(t)
	g.Expect(reportingController).To(Equal("metal3.io/baremetal-controller"))
	consumer := &corev1.ObjectReference{Kind: "Metal3Machine", Namespace: "lab", Name: "m"}
	for _, ref := range []*corev1.ObjectReference{nil, consumer} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, simulator.Options{}, Settings{}, func(h *metal3.BareMetalHost) { h.Spec.ConsumerRef = ref })
			w.untilState(metal3.StateAvailable, time.Minute)
			w.stop()
			synctest.Wait()
			g.Expect(w.events.related).NotTo(BeEmpty())
			for _, related := range w.events.related {
				if ref == nil {
					g.Expect(related).To(BeNil())
				} else {
					g.Expect(related).To(Equal(consumer))
				}
			}
		})
	}
}

func TestPortsOfAHost(t *testing.T) {
	const boot, other = "52:54:00:00:00:01", "52:54:00:00:00:02"
	nics := func(list ...metal3.NIC) *metal3.HardwareDetails { return &metal3.HardwareDetails{NIC: list} }
	for name, c := range map[string]struct {
		boot     string
		hardware *metal3.HardwareDetails
		want     []ironic.Port
	}{
		"nothing known":                 {want: nil},
		"the one that it boots from":    {boot: strings.ToUpper(boot), want: []ironic.Port{{MAC: boot, PXEEnabled: true}}},
		"those that inspection found":   {boot: boot, hardware: nics(metal3.NIC{MAC: boot}, metal3.NIC{MAC: other}), want: []ironic.Port{{MAC: boot, PXEEnabled: true}, {MAC: other}}},
		"one that the machine may boot": {hardware: nics(metal3.NIC{MAC: other, PXE: true}), want: []ironic.Port{{MAC: other, PXEEnabled: true}}},
		"one that it booted from once":  {boot: boot, hardware: nics(metal3.NIC{MAC: other, PXE: true}), want: []ironic.Port{{MAC: boot, PXEEnabled: true}, {MAC: other}}},
		"two addresses of one NIC":      {hardware: nics(metal3.NIC{MAC: other, IP: "192.0.2.1"}, metal3.NIC{MAC: other, IP: "fd00::1"}), want: []ironic.Port{{MAC: other}}},
	} {
		t.Run(name, func(t *testing.T) {
			h := &metal3.BareMetalHost{Spec: metal3.BareMetalHostSpec{BootMACAddress: c.boot}}
			NewWithT(t).Expect(ports(h, c.hardware)).To(Equal(c.want))
		})
	}
}

func TestArchitecture(t *testing.T) {
	arm := &metal3.HardwareDetails{CPU: metal3.CPU{Arch: "aarch64"}}
	for name, c := range map[string]struct {
		given func(*Observed)
		want  string
	}{
		"that of the program":  {func(*Observed) {}, "x86_64"},
		"HardwareData":         {func(o *Observed) { o.Hardware = arm }, "aarch64"},
		"status.hardware":      {func(o *Observed) { o.Host.Status.HardwareDetails = arm }, "aarch64"},
		"the spec before all":  {func(o *Observed) { o.Hardware, o.Host.Spec.Architecture = arm, "riscv64" }, "riscv64"},
		"hardware without one": {func(o *Observed) { o.Hardware = &metal3.HardwareDetails{} }, "x86_64"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := observed(metal3.StateInspecting, ironic.StateManageable)
			o.Settings.Architecture = "x86_64"
			c.given(o)
			g.Expect(desired(o).Properties).To(HaveKeyWithValue("cpu_arch", c.want))
			g.Expect(enrolment(o).Properties).To(HaveKeyWithValue("cpu_arch", c.want))
			g.Expect(imageSpec(o).Architecture).To(Equal(c.want))
			g.Expect(o.Host.Spec.Architecture).NotTo(Equal("aarch64"), "the spec is the user's")
		})
	}
}

// TestHintsOfHardwareProfiles: profiles are deprecated, and still say which disk it is
// where nobody else does.
func TestHintsOfHardwareProfiles(t *testing.T) {
	for name, c := range map[string]struct {
		given func(*metal3.BareMetalHost)
		want  *metal3.RootDeviceHints
	}{
		"unknown":        {func(*metal3.BareMetalHost) {}, &metal3.RootDeviceHints{DeviceName: "/dev/sda"}},
		"libvirt":        {func(h *metal3.BareMetalHost) { h.Spec.BMC.Address = "libvirt://192.0.2.1:6230" }, &metal3.RootDeviceHints{DeviceName: "/dev/vda"}},
		"of the spec":    {func(h *metal3.BareMetalHost) { h.Spec.HardwareProfile = "dell" }, &metal3.RootDeviceHints{HCTL: "0:0:0:0"}},
		"of the status":  {func(h *metal3.BareMetalHost) { h.Spec.HardwareProfile = "dell"; h.Status.HardwareProfile = "openstack" }, &metal3.RootDeviceHints{DeviceName: "/dev/vdb"}},
		"empty: none":    {func(h *metal3.BareMetalHost) { h.Spec.HardwareProfile = "empty" }, nil},
		"hints are said": {func(h *metal3.BareMetalHost) { h.Spec.RootDeviceHints = &metal3.RootDeviceHints{Model: "x"} }, &metal3.RootDeviceHints{Model: "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := &metal3.BareMetalHost{Spec: metal3.BareMetalHostSpec{BMC: metal3.BMCDetails{Address: "redfish://192.0.2.1/x"}}}
			c.given(h)
			NewWithT(t).Expect(rootHints(h)).To(Equal(c.want))
		})
	}
}

func TestPersistentBootDevice(t *testing.T) {
	s := Settings{DirectDeployPersistentBoot: "Never", LiveISOPersistentBoot: "Always"}
	for name, c := range map[string]struct {
		settings Settings
		image    *metal3.Image
		custom   *metal3.CustomDeploy
		want     string
	}{
		"nothing set":   {image: &metal3.Image{URL: "http://x"}, want: "Default"},
		"image":         {settings: s, image: &metal3.Image{URL: "http://x"}, want: "Never"},
		"custom method": {settings: s, custom: &metal3.CustomDeploy{Method: "install"}, want: "Never"},
		"live ISO":      {settings: s, image: &metal3.Image{URL: "http://x", DiskFormat: new("live-iso")}, want: "Always"},
	} {
		t.Run(name, func(t *testing.T) {
			d := ironic.Desired{DriverInfo: ironic.Fields{}}
			desiredInstance(&metal3.BareMetalHost{}, c.settings, c.image, c.custom, &d)
			NewWithT(t).Expect(d.DriverInfo).To(HaveKeyWithValue(keyPersistent, c.want))
		})
	}
}

// TestALastingLockIsShown: somebody holds a node in Ironic for long.
func TestALastingLockIsShown(t *testing.T) {
	g := NewWithT(t)
	o := observed(metal3.StateAvailable, ironic.StateManageable)
	locked := &ironic.Error{Kind: ironic.Busy, Text: "Node node-a is locked by host c2"}
	p := &pass{o: *o}
	wait := p.busy(LookUp{}, locked)
	g.Expect(wait.Message()).NotTo(ContainSubstring("c2"), "a moment is nobody's business")
	p.o.Now = p.o.Now.Add(busyShown)
	wait = p.busy(LookUp{}, locked)
	g.Expect(wait.Message()).To(And(ContainSubstring("locked by host c2"), ContainSubstring("whoever holds the node in Ironic")))
	g.Expect(wait.After).To(Equal(waitBusy))
}

// TestStatesThatNobodyAskedForAreShown: a person has put the node into a state that
// no phase asks for. It is left alone, and the host says where it is.
func TestStatesThatNobodyAskedForAreShown(t *testing.T) {
	for _, state := range []State{metal3.StateInspecting, metal3.StatePreparing, metal3.StateAvailable, metal3.StateProvisioning, metal3.StateProvisioned, metal3.StateDeprovisioning} {
		for _, node := range []ironic.ProvisionState{ironic.StateRescue, ironic.StateCleanHold, ironic.StateDeployHold, ironic.StateServiceHold} {
			t.Run(string(state)+", "+string(node), func(t *testing.T) {
				g := NewWithT(t)
				o := observed(state, node)
				if state != metal3.StateAvailable { // there a wish leads on to provisioning, which says it
					wantInstall(o.Host)
				}
				if state == metal3.StateProvisioned || state == metal3.StateDeprovisioning {
					provisionedWithInstall(o)
				}
				settled(o)
				d := decide(o)
				g.Expect(toIronicWrite(d.Do)).To(BeFalse(), "%T", d.Do)
				g.Expect(d.Wait.Message()).To(ContainSubstring(string(node)))
			})
		}
	}
}
