package firmware

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/ironic"
)

// machine is what Ironic knows of a machine, and how often it was asked.
type machine struct {
	bios     []ironic.BIOSSetting
	bare     bool // the node has no interface to firmware
	firmware []ironic.FirmwareComponent
	err      error
	asked    []string
}

func (m *machine) BIOS(context.Context, string) ([]ironic.BIOSSetting, error) {
	m.asked = append(m.asked, "bios")
	return m.bios, m.err
}

func (m *machine) Lacks(string) (settings, components bool) { return m.bare, m.bare }

func (m *machine) Firmware(context.Context, string) ([]ironic.FirmwareComponent, error) {
	m.asked = append(m.asked, "firmware")
	return m.firmware, m.err
}

// server is a machine as Ironic describes one.
func server() *machine {
	return &machine{
		bios: []ironic.BIOSSetting{
			{Name: "BootMode", Value: "Uefi", AttributeType: "Enumeration", AllowableValues: []string{"Bios", "Uefi"}},
			{Name: "Cores", Value: "4", AttributeType: "Integer", LowerBound: new(1), UpperBound: new(8)},
			{Name: "Serial", Value: "X1", AttributeType: "String", ReadOnly: new(true)},
			{Name: "AdminPassword", Value: "hush", AttributeType: "Password"},
			{Name: "Untyped", Value: "a"},
			{Name: "Quiet", Value: "True", AttributeType: "Boolean"},
			{Name: "Beep", Value: "0", AttributeType: "Boolean"},
		},
		firmware: []ironic.FirmwareComponent{{Component: "bios", InitialVersion: "1", CurrentVersion: "1"}, {Component: "psu", InitialVersion: "7"}},
	}
}

// events collects what is told.
type events struct {
	mu   sync.Mutex
	list []string
}

func (e *events) Eventf(_, _ runtime.Object, _, reason, _, note string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, reason+": "+fmt.Sprintf(note, args...))
}

// stand is a host with the reconciler that looks after it.
type stand struct {
	*reconciler

	g       *WithT
	t       *testing.T
	machine *machine
	events  *events
}

func newStand(t *testing.T, state metal3.ProvisioningState, objects ...client.Object) *stand {
	t.Helper()
	s := &stand{g: NewWithT(t), t: t, machine: server(), events: &events{}}
	scheme := runtime.NewScheme()
	s.g.Expect(metal3.AddToScheme(scheme)).To(Succeed())
	h := &metal3.BareMetalHost{
		ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "a", UID: "uid-a"},
		Spec:       metal3.BareMetalHostSpec{BMC: metal3.BMCDetails{Address: "redfish-virtualmedia://bmc/redfish/v1/Systems/1"}},
		Status: metal3.BareMetalHostStatus{
			Provisioning:    metal3.ProvisionStatus{State: state, ID: "node-a"},
			HardwareDetails: &metal3.HardwareDetails{SystemVendor: metal3.HardwareSystemVendor{Manufacturer: "ACME", ProductName: "One"}},
		},
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(append(objects, h)...).
		WithStatusSubresource(h, &metal3.HostFirmwareSettings{}, &metal3.HostFirmwareComponents{}).Build()
	s.reconciler = newReconciler(c, NewKeeper(c, s.machine, reconcile.Recorder{Sink: s.events}))
	return s
}

var key = client.ObjectKey{Namespace: "lab", Name: "a"}

// pass runs the reconciler once.
func (s *stand) pass() ctrl.Result {
	s.t.Helper()
	result, err := s.Reconcile(s.t.Context(), ctrl.Request{NamespacedName: key})
	s.g.Expect(err).NotTo(HaveOccurred())
	return result
}

// host changes the host.
func (s *stand) host(change func(*metal3.BareMetalHost)) {
	h := &metal3.BareMetalHost{}
	s.g.Expect(s.client.Get(s.t.Context(), key, h)).To(Succeed())
	change(h)
	s.g.Expect(s.client.Status().Update(s.t.Context(), h)).To(Succeed())
}

func (s *stand) settingsNow() *metal3.HostFirmwareSettings {
	found := &metal3.HostFirmwareSettings{}
	s.g.Expect(s.client.Get(s.t.Context(), key, found)).To(Succeed())
	return found
}

func (s *stand) componentsNow() *metal3.HostFirmwareComponents {
	found := &metal3.HostFirmwareComponents{}
	s.g.Expect(s.client.Get(s.t.Context(), key, found)).To(Succeed())
	return found
}

func TestResourcesAppearWhenTheHostComesToRest(t *testing.T) {
	s := newStand(t, metal3.StateInspecting)
	s.pass()
	s.g.Expect(s.machine.asked).To(BeEmpty(), "Ironic is not done with the machine")
	s.host(func(h *metal3.BareMetalHost) { h.Status.Provisioning.State = metal3.StateAvailable })
	s.pass()
	settings := s.settingsNow()
	s.g.Expect(settings.Status.Settings).To(Equal(metal3.SettingsMap{"BootMode": "Uefi", "Cores": "4", "Serial": "X1", "Untyped": "a", "Quiet": "true", "Beep": "false"}), "no passwords")
	s.g.Expect(metav1.GetControllerOf(settings).UID).To(BeEquivalentTo("uid-a"))
	s.g.Expect(meta.IsStatusConditionFalse(settings.Status.Conditions, "ChangeDetected")).To(BeTrue())
	s.g.Expect(meta.IsStatusConditionTrue(settings.Status.Conditions, "Valid")).To(BeTrue())
	schema := &metal3.FirmwareSchema{}
	s.g.Expect(s.client.Get(t.Context(), client.ObjectKey{Namespace: "lab", Name: settings.Status.FirmwareSchema.Name}, schema)).To(Succeed())
	s.g.Expect(schema.Spec.HardwareVendor).To(Equal("ACME"))
	s.g.Expect(schema.Spec.Schema).To(And(HaveKey("Cores"), Not(HaveKey("AdminPassword"))))
	s.g.Expect(schema.OwnerReferences).To(BeEmpty(), "machines of one model share it")
	components := s.componentsNow()
	s.g.Expect(components.Status.Components).To(ConsistOf(HaveField("Component", "bios")), "others cannot be updated")
	for range 3 {
		s.pass()
	}
	s.g.Expect(s.machine.asked).To(Equal([]string{"firmware", "bios"}), "nothing is asked twice")
	s.host(func(h *metal3.BareMetalHost) { h.Status.Provisioning.State = metal3.StateInspecting })
	s.pass()
	s.machine.bios[0].Value = "Bios"
	s.host(func(h *metal3.BareMetalHost) { h.Status.Provisioning.State = metal3.StateAvailable })
	s.pass()
	s.g.Expect(s.settingsNow().Status.Settings).To(HaveKeyWithValue("BootMode", "Bios"), "read again after an inspection")
}

func TestNothingForMachinesThatTellNothing(t *testing.T) {
	s := newStand(t, metal3.StateAvailable)
	s.machine.firmware = nil
	s.pass()
	err := s.client.Get(t.Context(), key, &metal3.HostFirmwareComponents{})
	s.g.Expect(client.IgnoreNotFound(err)).To(Succeed())
	s.g.Expect(err).To(HaveOccurred(), "no components, no resource")
	h := &metal3.BareMetalHost{}
	s.g.Expect(s.client.Get(t.Context(), key, h)).To(Succeed())
	h.Spec.BMC.Address = "ipmi://bmc"
	ipmi := newStand(t, metal3.StateAvailable)
	ipmi.g.Expect(ipmi.client.Get(t.Context(), key, h)).To(Succeed())
	h.Spec.BMC.Address = "ipmi://bmc"
	ipmi.g.Expect(ipmi.client.Update(t.Context(), h)).To(Succeed())
	ipmi.pass()
	ipmi.g.Expect(ipmi.machine.asked).To(BeEmpty())
}

func TestANodeWithoutTheInterfacesIsNotAsked(t *testing.T) {
	s := newStand(t, metal3.StateAvailable)
	s.machine.bare = true
	s.pass()
	s.pass()
	s.g.Expect(s.machine.asked).To(BeEmpty(), "there is nothing that Ironic could know")
}

func TestWishesAreJudgedAtOnce(t *testing.T) {
	early := &metal3.HostFirmwareSettings{
		ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "a", Generation: 1},
		Spec:       metal3.HostFirmwareSettingsSpec{Settings: metal3.DesiredSettingsMap{"BootMode": intstr.FromString("Bios"), "Cores": intstr.FromInt32(2)}},
	}
	s := newStand(t, metal3.StateAvailable, early)
	wish, seen := SettingsWish(s.settingsNow())
	s.g.Expect(seen).To(BeFalse(), "never no change before it was looked at")
	s.g.Expect(wish).To(BeEmpty())
	s.pass()
	settings := s.settingsNow()
	s.g.Expect(owned(settings, &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{UID: "uid-a"}})).To(BeTrue(), "made by hand, adopted")
	wish, seen = SettingsWish(settings)
	s.g.Expect(seen).To(BeTrue())
	s.g.Expect(wish).To(Equal(map[string]any{"BootMode": "Bios", "Cores": 2}), "numbers as numbers")

	settings.Generation = 2
	settings.Spec.Settings = metal3.DesiredSettingsMap{"BootMode": intstr.FromString("Legacy"), "Serial": intstr.FromString("Y"), "Cores": intstr.FromInt32(9)}
	s.g.Expect(s.client.Update(t.Context(), settings)).To(Succeed())
	asked := len(s.machine.asked)
	s.pass()
	s.pass()
	s.g.Expect(s.machine.asked).To(HaveLen(asked), "judged by what is known")
	settings = s.settingsNow()
	s.g.Expect(meta.IsStatusConditionFalse(settings.Status.Conditions, "Valid")).To(BeTrue())
	s.g.Expect(meta.FindStatusCondition(settings.Status.Conditions, "Valid").Message).To(And(ContainSubstring("Legacy"), ContainSubstring("ReadOnly"), ContainSubstring("above maximum")))
	wish, seen = SettingsWish(settings)
	s.g.Expect(seen).To(BeTrue())
	s.g.Expect(wish).To(BeEmpty())
	s.g.Expect(s.events.list).To(HaveLen(3), "one for each, once")
}

func TestUpdatesAreJudged(t *testing.T) {
	bios, nic := metal3.FirmwareUpdate{Component: "bios", URL: "http://a"}, metal3.FirmwareUpdate{Component: "nic:1", URL: "http://b"}
	early := &metal3.HostFirmwareComponents{
		ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "a", Generation: 1},
		Spec:       metal3.HostFirmwareComponentsSpec{Updates: []metal3.FirmwareUpdate{bios, nic}},
	}
	s := newStand(t, metal3.StateAvailable, early)
	_, seen := UpdatesWish(s.componentsNow())
	s.g.Expect(seen).To(BeFalse())
	s.pass()
	wish, _ := UpdatesWish(s.componentsNow())
	s.g.Expect(wish).To(ConsistOf(bios, nic))
	h := &metal3.BareMetalHost{}
	s.g.Expect(s.client.Get(t.Context(), key, h)).To(Succeed())
	c, err := s.keeper.ReadComponents(t.Context(), h, "node-a", Outcome{Updates: []metal3.FirmwareUpdate{bios}})
	s.g.Expect(err).NotTo(HaveOccurred())
	wish, _ = UpdatesWish(c)
	s.g.Expect(wish).To(ConsistOf(nic), "what was done is not done again")
	c.Generation = 2
	c.Spec.Updates = append(c.Spec.Updates, metal3.FirmwareUpdate{Component: "psu", URL: "http://c"})
	s.g.Expect(s.client.Update(t.Context(), c)).To(Succeed())
	s.pass()
	s.pass()
	c = s.componentsNow()
	s.g.Expect(meta.FindStatusCondition(c.Status.Conditions, "Valid")).To(And(HaveField("Reason", "InvalidComponent"), HaveField("Message", ContainSubstring("psu"))))
	s.g.Expect(s.events.list).To(HaveLen(1))
}

func TestIronicThatDoesNotAnswerIsAskedAgain(t *testing.T) {
	s := newStand(t, metal3.StateAvailable)
	s.machine.err = &ironic.Error{Kind: ironic.Unavailable, Op: "get BIOS settings", Err: errors.New("down")}
	s.g.Expect(s.pass().RequeueAfter).To(Equal(reconcile.DefaultUnavailable))
}

func TestHostsThatNobodyMayTouch(t *testing.T) {
	for name, change := range map[string]func(*metal3.BareMetalHost){
		"paused":   func(h *metal3.BareMetalHost) { h.Annotations = map[string]string{names.Paused: ""} },
		"on hold":  func(h *metal3.BareMetalHost) { h.Annotations = map[string]string{names.Hold: ""} },
		"detached": func(h *metal3.BareMetalHost) { h.Status.OperationalStatus = metal3.OperationalStatusDetached },
		"unknown":  func(h *metal3.BareMetalHost) { h.Status.Provisioning.ID = "" },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStand(t, metal3.StateAvailable, &metal3.HostUpdatePolicy{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}})
			h := &metal3.BareMetalHost{}
			s.g.Expect(s.client.Get(t.Context(), key, h)).To(Succeed())
			before := h.DeepCopy()
			change(h)
			status := h.Status
			s.g.Expect(s.client.Update(t.Context(), h)).To(Succeed())
			h.Status = status
			s.g.Expect(s.client.Status().Update(t.Context(), h)).To(Succeed())
			s.pass()
			s.g.Expect(s.machine.asked).To(BeEmpty())
			s.g.Expect(s.client.Get(t.Context(), key, &metal3.HostFirmwareSettings{})).NotTo(Succeed())
			policy, err := s.keeper.Policy(t.Context(), h)
			s.g.Expect(err).NotTo(HaveOccurred())
			s.g.Expect(policy.OwnerReferences).To(BeEmpty())

			h.Annotations, status = before.Annotations, before.Status
			s.g.Expect(s.client.Update(t.Context(), h)).To(Succeed())
			h.Status = status
			s.g.Expect(s.client.Status().Update(t.Context(), h)).To(Succeed())
			s.pass()
			s.g.Expect(s.machine.asked).NotTo(BeEmpty(), "then it goes on")
		})
	}
}

func TestSchemaNamesFollowTheContent(t *testing.T) {
	g := NewWithT(t)
	first := schemaOf(server().bios)
	g.Expect(schemaName(first)).To(MatchRegexp(`^schema-[0-9a-f]{8}$`))
	g.Expect(schemaName(first)).To(Equal(schemaName(schemaOf(server().bios))))
	other := server()
	other.bios[1].UpperBound = new(16)
	g.Expect(schemaName(first)).NotTo(Equal(schemaName(schemaOf(other.bios))))
}

func TestPhasesThatWakeTheController(t *testing.T) {
	g := NewWithT(t)
	before := &metal3.BareMetalHost{}
	before.Status.Provisioning = metal3.ProvisionStatus{State: metal3.StatePreparing, ID: "node-a"}
	after := before.DeepCopy()
	after.Status.Conditions = []metav1.Condition{{Type: "Progressing"}}
	g.Expect(seenOf(before)).To(Equal(seenOf(after)), "progress is not news")
	after.Status.Provisioning.State = metal3.StateAvailable
	g.Expect(seenOf(before)).NotTo(Equal(seenOf(after)))
}
