package lab_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/emulator"
	"github.com/ironflow/ironflow/test/lab/labtest"
)

// Two systems, one for each case that must not see the other's changes.
var (
	hostA = emulator.System{UUID: "0d1c0000-0000-4000-8000-00000000000a", Name: "host-a", NICs: []emulator.NIC{{MAC: "52:54:00:00:00:0a"}}}
	hostB = emulator.System{UUID: "0d1c0000-0000-4000-8000-00000000000b", Name: "host-b"}
)

// recorder is a notifier that remembers, and refuses while told to.
type recorder struct {
	mu      sync.Mutex
	changes []emulator.SystemChange
	refusal string
	auth    []string
}

// ServeHTTP takes one change.
func (r *recorder) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	var change emulator.SystemChange
	decoder := json.NewDecoder(request.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&change); err != nil || request.Method != http.MethodPut {
		http.Error(w, "not a change", http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	user, password, _ := request.BasicAuth()
	r.auth = append(r.auth, user+"/"+password)
	if r.refusal != "" {
		http.Error(w, r.refusal, http.StatusConflict)
		return
	}
	r.changes = append(r.changes, change)
}

// refuse makes the notifier refuse with the text; an empty text ends that.
func (r *recorder) refuse(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refusal = text
}

// take returns what came since the last call.
func (r *recorder) take() []emulator.SystemChange {
	r.mu.Lock()
	defer r.mu.Unlock()
	changes := r.changes
	r.changes = nil
	return changes
}

// listen serves the recorder over TLS with a certificate of the lab.
func (r *recorder) listen(t *testing.T, l *lab.Lab) string {
	t.Helper()
	pair, err := l.Authority.Server()
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(r)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL + "/bmc"
}

// boards are BMCs: emulated or simulated.
type boards interface {
	SystemURL(uuid string) string
	Add(ctx context.Context, system emulator.System) error
	SetPower(ctx context.Context, uuid string, power emulator.Power) error
	Remove(ctx context.Context, uuid string) error
	Kill()
	Start(ctx context.Context) error
}

// reset asks for a power change.
func reset(ctx context.Context, bmc ironicAPI, kind emulator.Reset, want int) error {
	return bmc.do(ctx, "POST", "/Actions/ComputerSystem.Reset", map[string]any{"ResetType": kind}, nil, want)
}

// shown is what a system's resource says.
type shown struct {
	PowerState emulator.Power
	Boot       struct {
		BootSourceOverrideTarget emulator.BootDevice
		BootSourceOverrideMode   emulator.BootMode
	}
}

// emulated are running BMCs with one system and a recorder behind them.
type emulated struct {
	lab            *lab.Lab
	bmcs           boards
	user, password string
	notifier       *recorder
	// a is a client of hostA's BMC.
	a ironicAPI
}

// redfish is a client of one system's BMC.
func (e emulated) redfish(system emulator.System) ironicAPI {
	return ironicAPI{e.bmcs.SystemURL(system.UUID), e.lab.Client(e.user, e.password)}
}

// power is what a system's BMC shows.
func (e emulated) power(t *testing.T, system emulator.System) emulator.Power {
	t.Helper()
	var state shown
	if err := e.redfish(system).do(t.Context(), "GET", "", nil, &state, http.StatusOK); err != nil {
		t.Fatal(err)
	}
	return state.PowerState
}

func TestEmulator(t *testing.T) {
	e := emulated{lab: labtest.New(t), notifier: &recorder{}}
	bmcs, err := e.lab.StartEmulator(t.Context(), lab.EmulatorOptions{
		Systems: []emulator.System{hostA}, NotifierURL: e.notifier.listen(t, e.lab), NotifierUser: "bmc", NotifierPassword: "s3cret",
	})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	e.bmcs, e.user, e.password = bmcs, bmcs.User, bmcs.Password
	e.test(t)
}

// TestRedfish shows that the simulated BMCs tell the machines what the emulated
// ones tell them.
func TestRedfish(t *testing.T) {
	e := emulated{lab: labtest.New(t), notifier: &recorder{}}
	bmcs, err := e.lab.StartRedfish(t.Context(), lab.RedfishOptions{
		NotifierURL: e.notifier.listen(t, e.lab), NotifierUser: "bmc", NotifierPassword: "s3cret",
	})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(bmcs.Add(t.Context(), hostA)).To(Succeed())
	e.bmcs, e.user, e.password = bmcs, bmcs.User, bmcs.Password
	e.test(t)
	NewWithT(t).Expect(bmcs.Address(hostA.UUID)).To(HavePrefix("redfish-virtualmedia+https://127.0.0.1:"))
	NewWithT(t).Expect(bmcs.Start(t.Context())).To(MatchError(ContainSubstring("already running")))
}

// test runs the tests in this order: each begins where the one before has left
// the system.
func (e emulated) test(t *testing.T) {
	e.a = e.redfish(hostA)
	t.Run("asks for credentials", e.testCredentials)
	t.Run("power", e.testPower)
	t.Run("media and boot device arrive, and the image is not read", e.testMedia)
	t.Run("UEFI HTTP boot arrives", e.testHTTPBoot)
	t.Run("what the machine refuses is not done", e.testRefusal)
	t.Run("the machine's own changes are shown and not notified", e.testMachineSide)
	t.Run("state survives a crash of the BMC", func(t *testing.T) {
		g := NewWithT(t)
		g.Expect(e.bmcs.SetPower(t.Context(), hostA.UUID, emulator.PowerOn)).To(Succeed())
		e.bmcs.Kill()
		g.Expect(e.bmcs.Start(t.Context())).To(Succeed())
		g.Expect(e.power(t, hostA)).To(Equal(emulator.PowerOn))
	})
}

func (e emulated) testCredentials(t *testing.T) {
	g := NewWithT(t)
	stranger := ironicAPI{e.bmcs.SystemURL(hostA.UUID), e.lab.Client("", "")}
	g.Expect(stranger.do(t.Context(), "GET", "", nil, nil, http.StatusUnauthorized)).To(Succeed())
	other := ironicAPI{e.bmcs.SystemURL(hostA.UUID), e.lab.Client("admin", "wrong")}
	g.Expect(other.do(t.Context(), "GET", "", nil, nil, http.StatusUnauthorized)).To(Succeed())
	if bmcs, is := e.bmcs.(*lab.Emulator); is {
		other = ironicAPI{bmcs.URL + "/lab/systems/" + hostA.UUID, e.lab.Client("admin", "wrong")}
		g.Expect(other.do(t.Context(), "PUT", "", map[string]any{}, nil, http.StatusUnauthorized)).To(Succeed())
	}
}

func (e emulated) testPower(t *testing.T) {
	for _, step := range []struct {
		name   string
		reset  emulator.Reset
		after  emulator.Power
		silent bool
	}{
		{name: "on", reset: emulator.ResetOn, after: emulator.PowerOn},
		{name: "on again", reset: emulator.ResetOn, after: emulator.PowerOn, silent: true},
		{name: "restart", reset: emulator.ResetForceRestart, after: emulator.PowerOn},
		{name: "shutdown", reset: emulator.ResetGracefulShutdown, after: emulator.PowerOff},
		{name: "off again", reset: emulator.ResetForceOff, after: emulator.PowerOff, silent: true},
		{name: "forced on", reset: emulator.ResetForceOn, after: emulator.PowerOn},
		{name: "forced off", reset: emulator.ResetForceOff, after: emulator.PowerOff},
	} {
		t.Run(step.name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(reset(t.Context(), e.a, step.reset, http.StatusNoContent)).To(Succeed())
			g.Expect(e.power(t, hostA)).To(Equal(step.after))
			changes := e.notifier.take()
			if step.silent {
				g.Expect(changes).To(BeEmpty())
				return
			}
			g.Expect(changes).To(HaveLen(1))
			g.Expect(changes[0]).To(And(
				HaveField("UUID", hostA.UUID), HaveField("Name", hostA.Name), HaveField("Change", emulator.ChangePower),
				HaveField("Reset", step.reset), HaveField("PowerState", step.after)))
			g.Expect(e.notifier.auth).To(HaveEach("bmc/s3cret"))
		})
	}
}

func (e emulated) testMedia(t *testing.T) {
	g := NewWithT(t)
	image := "http://127.0.0.1:1/nobody/listens/here.iso"
	g.Expect(e.a.do(t.Context(), "POST", "/VirtualMedia/Cd/Actions/VirtualMedia.InsertMedia",
		map[string]any{"Image": image, "WriteProtected": true}, nil, http.StatusNoContent)).To(Succeed())
	g.Expect(e.a.do(t.Context(), "PATCH", "", map[string]any{
		"Boot": map[string]any{"BootSourceOverrideTarget": "Cd", "BootSourceOverrideMode": "UEFI", "BootSourceOverrideEnabled": "Once"},
	}, nil, http.StatusNoContent)).To(Succeed())
	g.Expect(reset(t.Context(), e.a, emulator.ResetOn, http.StatusNoContent)).To(Succeed())
	changes := e.notifier.take()
	g.Expect(changes[0].Change).To(Equal(emulator.ChangeMedia))
	last := changes[len(changes)-1]
	g.Expect(last.Media).To(HaveKeyWithValue(emulator.MediaCd, emulator.Medium{Image: image, Inserted: true, WriteProtected: true}))
	g.Expect(last.BootDevice).To(Equal(emulator.BootCd))
	g.Expect(last.BootMode).To(Equal(emulator.BootModeUEFI))
	for i := range changes[1:] {
		g.Expect(changes[i+1].Sequence).To(Equal(changes[i].Sequence + 1))
	}

	g.Expect(e.a.do(t.Context(), "POST", "/VirtualMedia/Cd/Actions/VirtualMedia.EjectMedia", map[string]any{}, nil, http.StatusNoContent)).To(Succeed())
	ejected := e.notifier.take()
	g.Expect(ejected).To(HaveLen(1))
	g.Expect(ejected[0].Media).To(BeEmpty())
}

func (e emulated) testHTTPBoot(t *testing.T) {
	g := NewWithT(t)
	address := "http://127.0.0.1:1/boot.iso"
	g.Expect(e.a.do(t.Context(), "PATCH", "", map[string]any{
		"Boot": map[string]any{"BootSourceOverrideTarget": "UefiHttp", "HttpBootUri": address},
	}, nil, http.StatusNoContent)).To(Succeed())
	changes := e.notifier.take()
	last := changes[len(changes)-1]
	g.Expect(last.HTTPBootURI).To(Equal(address))
	g.Expect(last.Media[emulator.MediaCd].Image).To(Equal(address))
}

func (e emulated) testRefusal(t *testing.T) {
	g := NewWithT(t)
	g.Expect(e.bmcs.SetPower(t.Context(), hostA.UUID, emulator.PowerOff)).To(Succeed())
	e.notifier.refuse("the power supply is on fire")
	defer e.notifier.refuse("")
	err := reset(t.Context(), e.a, emulator.ResetOn, http.StatusNoContent)
	g.Expect(err).To(MatchError(And(ContainSubstring("500"), ContainSubstring("on fire"))))
	g.Expect(e.power(t, hostA)).To(Equal(emulator.PowerOff))
}

func (e emulated) testMachineSide(t *testing.T) {
	g := NewWithT(t)
	g.Expect(e.bmcs.SetPower(t.Context(), hostA.UUID, emulator.PowerOn)).To(Succeed())
	g.Expect(e.power(t, hostA)).To(Equal(emulator.PowerOn))
	g.Expect(e.bmcs.Add(t.Context(), hostB)).To(Succeed())
	g.Expect(e.power(t, hostB)).To(Equal(emulator.PowerOff))
	g.Expect(e.notifier.take()).To(BeEmpty())

	b := e.redfish(hostB)
	g.Expect(reset(t.Context(), b, emulator.ResetOn, http.StatusNoContent)).To(Succeed())
	g.Expect(e.notifier.take()).To(ConsistOf(And(HaveField("UUID", hostB.UUID), HaveField("Sequence", 1))))
	g.Expect(e.bmcs.Remove(t.Context(), hostB.UUID)).To(Succeed())
	g.Expect(b.do(t.Context(), "GET", "", nil, nil, http.StatusNotFound)).To(Succeed())
	g.Expect(e.bmcs.Add(t.Context(), emulator.System{UUID: "x"})).To(MatchError(ContainSubstring("needs a UUID and a name")))
}

// TestIronicWithEmulator proves that Ironic accepts the BMCs as they are: TLS
// checked against the lab's authority, credentials, verification, power.
func TestIronicWithEmulator(t *testing.T) {
	l := labtest.New(t)
	setup := NewWithT(t)
	notifier := &recorder{}
	bmcs, err := l.StartEmulator(t.Context(), lab.EmulatorOptions{Systems: []emulator.System{hostA}, NotifierURL: notifier.listen(t, l)})
	setup.Expect(err).NotTo(HaveOccurred())
	ironic, err := l.StartIronic(t.Context(), lab.IronicOptions{})
	setup.Expect(err).NotTo(HaveOccurred())
	api := ironicAPI{ironic.URL, ironic.HTTPClient()}

	g := NewWithT(t)
	g.Expect(api.do(t.Context(), "POST", "/v1/nodes", map[string]any{
		"name": hostA.Name, "driver": "redfish",
		"driver_info": map[string]any{
			"redfish_address": bmcs.URL, "redfish_system_id": "/redfish/v1/Systems/" + hostA.UUID,
			"redfish_username": bmcs.User, "redfish_password": bmcs.Password, "redfish_verify_ca": true,
		},
	}, nil, http.StatusCreated)).To(Succeed())
	state := func() (node, error) {
		var n node
		return n, api.do(t.Context(), "GET", "/v1/nodes/"+hostA.Name, nil, &n, http.StatusOK)
	}

	g.Expect(api.do(t.Context(), "PUT", "/v1/nodes/"+hostA.Name+"/states/provision", map[string]any{"target": "manage"}, nil, http.StatusAccepted)).To(Succeed())
	begin := time.Now()
	g.Eventually(state, "30s", "100ms").Should(And(HaveField("ProvisionState", "manageable"), HaveField("PowerState", HaveValue(Equal("power off")))))

	t.Logf("manageable after %s", time.Since(begin).Round(time.Millisecond))
	begin = time.Now()
	g.Expect(api.do(t.Context(), "PUT", "/v1/nodes/"+hostA.Name+"/states/power", map[string]any{"target": "power on"}, nil, http.StatusAccepted)).To(Succeed())
	g.Eventually(state, "30s", "100ms").Should(HaveField("PowerState", HaveValue(Equal("power on"))))
	t.Logf("powered on after %s", time.Since(begin).Round(time.Millisecond))
	g.Expect(notifier.take()).To(ContainElement(And(HaveField("Change", emulator.ChangePower), HaveField("PowerState", emulator.PowerOn))))
}
