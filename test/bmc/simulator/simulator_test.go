package simulator_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/bmc/simulator"
)

// What gofish sees is in bmc/contract; here is what only the other side sees:
// machines, hooks, time, limits.

// client speaks to a server without a network.
type client struct {
	*WithT
	t    *testing.T
	http http.Client
	// auth is sent along if set: a user and a password, or a token.
	user, password, token string
}

func newClient(t *testing.T, s *simulator.Server) *client {
	t.Cleanup(s.Close)
	return &client{WithT: NewWithT(t), t: t, http: http.Client{Transport: s.Transport()}}
}

// answer is what came back besides the body.
type answer struct {
	StatusCode int
	Header     http.Header
}

// do makes a request; a nil body sends none.
func (c *client) do(method, path string, body any) (answer, map[string]any) {
	c.t.Helper()
	var reader io.Reader = http.NoBody
	if body != nil {
		raw, err := json.Marshal(body)
		c.Expect(err).NotTo(HaveOccurred())
		reader = bytes.NewReader(raw)
	}
	r, err := http.NewRequestWithContext(c.t.Context(), method, "http://bmc.test/redfish/v1"+path, reader)
	c.Expect(err).NotTo(HaveOccurred())
	if c.user != "" {
		r.SetBasicAuth(c.user, c.password)
	}
	if c.token != "" {
		r.Header.Set("X-Auth-Token", c.token)
	}
	response, err := c.http.Do(r)
	c.Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	var got map[string]any
	if raw, err := io.ReadAll(response.Body); err == nil && len(raw) > 0 {
		c.Expect(json.Unmarshal(raw, &got)).To(Succeed())
	}
	return answer{response.StatusCode, response.Header}, got
}

// must makes a request that is accepted.
func (c *client) must(method, path string, body any) map[string]any {
	c.t.Helper()
	answer, got := c.do(method, path, body)
	c.Expect(answer.StatusCode).To(BeNumerically("<", 300), "%s %s: %v", method, path, got)
	return got
}

func (c *client) reset(kind simulator.ResetType) {
	c.t.Helper()
	c.must(http.MethodPost, "/Systems/a/Actions/ComputerSystem.Reset", map[string]any{"ResetType": kind})
}

func (c *client) power() any { return c.must(http.MethodGet, "/Systems/a", nil)["PowerState"] }

// recorder is a machine that remembers what it was told, and refuses when told to.
type recorder struct {
	told   []string
	refuse error
	act    func()
}

func (r *recorder) take(format string, args ...any) error {
	r.told = append(r.told, fmt.Sprintf(format, args...))
	if r.act != nil {
		r.act()
	}
	return r.refuse
}

func (r *recorder) PowerChanged(_ context.Context, s simulator.State, reset simulator.ResetType) error {
	return r.take("%d %s: power %s", s.Sequence, reset, s.Power)
}

func (r *recorder) MediaChanged(_ context.Context, s simulator.State, slot string) error {
	return r.take("%d %s: media %v", s.Sequence, slot, s.Media)
}

func (r *recorder) BootChanged(_ context.Context, s simulator.State) error {
	return r.take("%d boot %s %s secure %v", s.Sequence, s.Boot.Target, s.Boot.Enabled, s.SecureBoot)
}

func TestMachineIsAsked(t *testing.T) {
	m := &recorder{}
	s := simulator.New(simulator.Options{})
	c := newClient(t, s)
	c.Expect(s.AddSystem(simulator.System{ID: "a", Machine: m})).To(Succeed())
	const cd = "/Systems/a/VirtualMedia/Cd"
	c.must(http.MethodPost, cd+"/Actions/VirtualMedia.InsertMedia", map[string]any{"Image": "http://x/y.iso"})
	c.must(http.MethodPatch, "/Systems/a", map[string]any{"Boot": map[string]any{"BootSourceOverrideTarget": "Cd", "BootSourceOverrideEnabled": "Once"}})
	c.must(http.MethodPatch, "/Systems/a/SecureBoot", map[string]any{"SecureBootEnable": true})
	c.reset(simulator.ResetOn)
	c.reset(simulator.ResetForceOn)
	c.must(http.MethodPost, cd+"/Actions/VirtualMedia.EjectMedia", nil)
	c.reset(simulator.ResetForceOff)
	c.Expect(m.told).To(Equal([]string{
		"1 Cd: media map[Cd:{http://x/y.iso true}]",
		"2 boot Cd Once secure false",
		"3 boot Cd Once secure true",
		"4 On: power On",
		"5 Cd: media map[]",
		"6 ForceOff: power Off",
	}), "once per change, with the state that follows; switching on what is on is none")
}

func TestWhatTheMachineRefusesIsNotDone(t *testing.T) {
	m := &recorder{refuse: errors.New("the power supply is on fire")}
	s := simulator.New(simulator.Options{})
	c := newClient(t, s)
	c.Expect(s.AddSystem(simulator.System{ID: "a", Machine: m})).To(Succeed())
	answer, body := c.do(http.MethodPost, "/Systems/a/Actions/ComputerSystem.Reset", map[string]any{"ResetType": "On"})
	c.Expect(answer.StatusCode).To(Equal(http.StatusInternalServerError))
	c.Expect(body["error"]).To(HaveKeyWithValue("message", ContainSubstring("on fire")))
	c.Expect(c.power()).To(Equal("Off"))
	state, ok := s.State("a")
	c.Expect(ok).To(BeTrue())
	c.Expect(state.Sequence).To(BeZero())
}

func TestMachineMayActWhileItIsAsked(t *testing.T) {
	s := simulator.New(simulator.Options{})
	c := newClient(t, s)
	m := &recorder{act: func() { c.Expect(s.SetPower("a", simulator.Off)).To(Succeed()) }}
	c.Expect(s.AddSystem(simulator.System{ID: "a", Power: simulator.On, Machine: m})).To(Succeed())
	c.must(http.MethodPost, "/Systems/a/VirtualMedia/Cd/Actions/VirtualMedia.InsertMedia", map[string]any{"Image": "http://x/y.iso"})
	state, _ := s.State("a")
	c.Expect(state.Power).To(Equal(simulator.Off), "what it did itself is kept")
	c.Expect(state.Media).To(HaveKey("Cd"), "and so is what it agreed to")
	c.Expect(s.SetPower("a", "Perhaps")).To(MatchError(ContainSubstring("On or Off")))
	c.Expect(s.SetPower("b", simulator.On)).To(MatchError(ContainSubstring(`no system "b"`)))
}

func TestTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := simulator.New(simulator.Options{Delays: simulator.Delays{Power: 2 * time.Second, POST: time.Minute, Task: 10 * time.Second}})
		c := newClient(t, s)
		c.Expect(s.AddSystem(simulator.System{ID: "a"})).To(Succeed())
		c.must(http.MethodPatch, "/Systems/a/Bios/Settings", map[string]any{"Attributes": map[string]any{"QuietBoot": false}})
		quiet := func() any {
			return c.must(http.MethodGet, "/Systems/a/Bios", nil)["Attributes"].(map[string]any)["QuietBoot"]
		}

		c.reset(simulator.ResetOn)
		c.Expect(c.power()).To(Equal("PoweringOn"))
		pass(2 * time.Second)
		c.Expect(c.power()).To(Equal("On"))
		pass(30 * time.Second)
		c.reset(simulator.ResetForceOff)
		pass(2 * time.Minute)
		c.Expect(c.power()).To(Equal("Off"))
		c.Expect(quiet()).To(Equal(true), "switched off in mid POST: nothing was applied")

		answer, _ := c.do(http.MethodPost, "/UpdateService/Actions/UpdateService.SimpleUpdate", map[string]any{"ImageURI": "http://x/bios-2.0.bin"})
		c.Expect(answer.StatusCode).To(Equal(http.StatusAccepted))
		c.reset(simulator.ResetOn)
		pass(62 * time.Second)
		c.Expect(quiet()).To(Equal(false))
		c.Expect(c.must(http.MethodGet, "/Systems/a", nil)["BiosVersion"]).To(Equal("2.0"), "a machine that was off needed no reset")
	})
}

// pass lets time pass and everything settle.
func pass(d time.Duration) {
	timer := time.NewTimer(d)
	<-timer.C
	synctest.Wait()
}

func TestSessionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := simulator.New(simulator.Options{Username: "u", Password: "p", SessionTimeout: time.Minute})
		c := newClient(t, s)
		c.Expect(s.AddSystem(simulator.System{ID: "a"})).To(Succeed())
		answer, _ := c.do(http.MethodPost, "/SessionService/Sessions", map[string]any{"UserName": "u", "Password": "p"})
		c.token = answer.Header.Get("X-Auth-Token")
		for range 3 {
			pass(50 * time.Second)
			c.must(http.MethodGet, "/Systems/a", nil)
		}
		pass(61 * time.Second)
		answer, _ = c.do(http.MethodGet, "/Systems/a", nil)
		c.Expect(answer.StatusCode).To(Equal(http.StatusUnauthorized))
	})
}

func TestImagesAreRead(t *testing.T) {
	g := NewWithT(t)
	images := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/small.iso" && r.URL.Path != "/bmc-2.0.bin" {
			http.NotFound(w, r)
			return
		}
		_, err := w.Write([]byte("image"))
		g.Expect(err).NotTo(HaveOccurred())
	}))
	t.Cleanup(images.Close)
	s := simulator.New(simulator.Options{Fetch: simulator.Fetcher(images.Client())})
	c := newClient(t, s)
	c.Expect(s.AddSystem(simulator.System{ID: "a"})).To(Succeed())
	const insert = "/Systems/a/VirtualMedia/Cd/Actions/VirtualMedia.InsertMedia"
	answer, body := c.do(http.MethodPost, insert, map[string]any{"Image": images.URL + "/gone.iso"})
	c.Expect(answer.StatusCode).To(Equal(http.StatusInternalServerError))
	c.Expect(body["error"]).To(HaveKeyWithValue("message", ContainSubstring("404")))
	c.must(http.MethodPost, insert, map[string]any{"Image": images.URL + "/small.iso"})

	for image, want := range map[string]string{"/bmc-1.9.bin": "Exception", "/bmc-2.0.bin": "Completed"} {
		answer, _ := c.do(http.MethodPost, "/UpdateService/Actions/UpdateService.SimpleUpdate", map[string]any{"ImageURI": images.URL + image})
		monitor := answer.Header.Get("Location")[len("/redfish/v1"):]
		c.Expect(c.must(http.MethodGet, monitor, nil)["TaskState"]).To(Equal(want), image)
	}
	c.Expect(c.must(http.MethodGet, "/Managers/a", nil)["FirmwareVersion"]).To(Equal("2.0"))
}

func TestIdentifyByName(t *testing.T) {
	for image, want := range map[string]simulator.Image{
		"http://x/y/bios-2.1.0.bin":              {Component: "bios", Version: "2.1.0"},
		"https://x/bmc-v7.10.fwpkg?sig=1":        {Component: "bmc", Version: "7.10"},
		"http://x/nic-NIC.Slot.1-22.5.0a.exe":    {Component: "nic:NIC.Slot.1", Version: "22.5.0a"},
		"http://x/readme.txt":                    {},
		"http://x/bios-latest.bin":               {},
		"http://[::1":                            {},
		"http://x/bios-2.1.0.bin/something-else": {},
	} {
		t.Run(image, func(t *testing.T) {
			g := NewWithT(t)
			got, err := simulator.IdentifyByName(image)
			g.Expect(got).To(Equal(want))
			g.Expect(err != nil).To(Equal(want == simulator.Image{}))
		})
	}
}

func TestAddSystemRefuses(t *testing.T) {
	other := &simulator.Registry{ID: simulator.DefaultBIOS().Registry.ID}
	twice := []simulator.Storage{{ID: "s", Drives: []simulator.Drive{{ID: "d"}}}, {ID: "r", Drives: []simulator.Drive{{ID: "d"}}}}
	for _, c := range []struct {
		name   string
		system simulator.System
		text   string
	}{
		{"no ID", simulator.System{}, "needs an ID"},
		{"an ID that does not stand in a path", simulator.System{ID: "a/b"}, "needs an ID"},
		{"an unknown quirk", simulator.System{ID: "b", Quirks: map[simulator.Quirk]int{"sings": 1}}, `no quirk "sings"`},
		{"an unknown setting", simulator.System{ID: "b", BIOS: &simulator.BIOS{Attributes: map[string]any{"Colour": "red"}}}, `setting "Colour"`},
		{"a wrong value", simulator.System{ID: "b", BIOS: &simulator.BIOS{Attributes: map[string]any{"PowerDelaySeconds": 1}}}, "PowerDelaySeconds"},
		{"a drive twice", simulator.System{ID: "b", Storage: twice}, "not unique"},
		{"another registry with the same ID", simulator.System{ID: "b", BIOS: &simulator.BIOS{Registry: other}}, "its own ID"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			s := simulator.New(simulator.Options{})
			t.Cleanup(s.Close)
			g.Expect(s.AddSystem(simulator.System{ID: "a"})).To(Succeed())
			g.Expect(s.AddSystem(c.system)).To(MatchError(ContainSubstring(c.text)))
		})
	}
}

func TestSystemsComeAndGo(t *testing.T) {
	s := simulator.New(simulator.Options{})
	c := newClient(t, s)
	for _, id := range []string{"a", "b", "a"} {
		c.Expect(s.AddSystem(simulator.System{ID: id})).To(Succeed())
	}
	members := func() int { return int(c.must(http.MethodGet, "/Systems", nil)["Members@odata.count"].(float64)) }
	c.Expect(members()).To(Equal(2))
	s.RemoveSystem("a")
	s.RemoveSystem("nobody")
	c.Expect(members()).To(Equal(1))
	answer, _ := c.do(http.MethodGet, "/Systems/a", nil)
	c.Expect(answer.StatusCode).To(Equal(http.StatusNotFound))
	_, there := s.State("a")
	c.Expect(there).To(BeFalse())
	c.Expect(s.SetQuirk("a", simulator.Slow, 1)).NotTo(Succeed())
	c.Expect(s.SetQuirk("b", "sings", 1)).To(MatchError(ContainSubstring("no quirk")))
	c.Expect(s.Emit("a", simulator.Event{})).NotTo(Succeed())
	c.Expect(s.Total("GET /redfish/v1/Systems")).To(Equal(3))
}

func TestBadRequests(t *testing.T) {
	s := simulator.New(simulator.Options{})
	c := newClient(t, s)
	c.Expect(s.AddSystem(simulator.System{ID: "a"})).To(Succeed())
	for body, want := range map[string]int{"{": http.StatusBadRequest, "[]": http.StatusBadRequest, `{"ResetType":"On"}`: http.StatusNoContent} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://bmc.test/redfish/v1/Systems/a/Actions/ComputerSystem.Reset", bytes.NewBufferString(body))
		c.Expect(err).NotTo(HaveOccurred())
		answer, err := c.http.Do(r)
		c.Expect(err).NotTo(HaveOccurred())
		c.Expect(answer.StatusCode).To(Equal(want), body)
		c.Expect(answer.Body.Close()).To(Succeed())
	}
	answer, _ := c.do(http.MethodGet, "/", nil)
	c.Expect(answer.StatusCode).To(Equal(http.StatusOK), "with a slash at its end too")
}

func TestEventsOfASlowDestination(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		delivered := 0
		s := simulator.New(simulator.Options{Events: roundTripper(func(*http.Request) (*http.Response, error) {
			delivered++
			pause := time.NewTimer(time.Second)
			<-pause.C
			return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody}, nil
		})})
		c := newClient(t, s)
		c.Expect(s.AddSystem(simulator.System{ID: "a"})).To(Succeed())
		c.must(http.MethodPost, "/EventService/Subscriptions", map[string]any{"Destination": "http://slow.test/", "Protocol": "Redfish"})
		for range 100 {
			c.Expect(s.Emit("a", simulator.Event{Type: "Alert", Severity: "OK", Message: "x"})).To(Succeed())
		}
		pass(5 * time.Minute)
		c.Expect(delivered).To(And(BeNumerically(">=", 64), BeNumerically("<", 100)), "what it cannot keep up with is lost")
	})
}

func TestEventsAreGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		s := simulator.New(simulator.Options{EventRetries: 2, Events: roundTripper(func(*http.Request) (*http.Response, error) {
			tries++
			return nil, errors.New("nobody is there")
		})})
		c := newClient(t, s)
		c.Expect(s.AddSystem(simulator.System{ID: "a"})).To(Succeed())
		c.must(http.MethodPost, "/EventService/Subscriptions", map[string]any{"Destination": "http://gone.test/", "Protocol": "Redfish"})
		c.Expect(s.Emit("a", simulator.Event{Type: "Alert"})).To(Succeed())
		pass(time.Minute)
		c.Expect(tries).To(Equal(3))
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestTasksAreForgotten(t *testing.T) {
	s := simulator.New(simulator.Options{})
	c := newClient(t, s)
	c.Expect(s.AddSystem(simulator.System{ID: "a"})).To(Succeed())
	for range 250 {
		c.must(http.MethodPost, "/UpdateService/Actions/UpdateService.SimpleUpdate", map[string]any{"ImageURI": "http://x/bmc-2.0.bin"})
	}
	c.Expect(c.must(http.MethodGet, "/TaskService/Tasks", nil)["Members@odata.count"]).To(BeNumerically("<=", 200))
	entries := c.must(http.MethodGet, "/Systems/a/LogServices/SEL/Entries", nil)["Members@odata.count"]
	c.Expect(entries).To(BeNumerically("<=", 100))
}

func TestCut(t *testing.T) {
	s := simulator.New(simulator.Options{})
	c := newClient(t, s)
	c.Expect(s.AddSystem(simulator.System{ID: "a", Quirks: map[simulator.Quirk]int{simulator.ConnectionCut: 1}})).To(Succeed())
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://bmc.test/redfish/v1/Systems/a", http.NoBody)
	c.Expect(err).NotTo(HaveOccurred())
	_, err = c.http.Do(r) //nolint:bodyclose // there is no answer
	c.Expect(err).To(MatchError(io.ErrUnexpectedEOF))
	c.Expect(c.power()).To(Equal("Off"))
}

// BenchmarkSystems adds systems and reads each once; bytes are per system.
func BenchmarkSystems(b *testing.B) {
	b.ReportAllocs()
	s := simulator.New(simulator.Options{})
	b.Cleanup(s.Close)
	web := http.Client{Transport: s.Transport()}
	for i := range b.N {
		id := fmt.Sprintf("%08d", i)
		if err := s.AddSystem(simulator.System{ID: id, NICs: []simulator.NIC{{MAC: "52:54:00:00:00:01"}}}); err != nil {
			b.Fatal(err)
		}
		answer, err := web.Get("http://bmc.test/redfish/v1/Systems/" + id)
		if err != nil {
			b.Fatal(err)
		}
		answer.Body.Close()
	}
}

func TestThousandsOfSystems(t *testing.T) {
	const systems = 5000
	s := simulator.New(simulator.Options{})
	c := newClient(t, s)
	for i := range systems {
		c.Expect(s.AddSystem(simulator.System{ID: fmt.Sprint("s", i)})).To(Succeed())
	}
	c.Expect(c.must(http.MethodGet, "/Systems", nil)["Members"]).To(HaveLen(systems))
	c.must(http.MethodPost, "/Systems/s4999/Actions/ComputerSystem.Reset", map[string]any{"ResetType": "On"})
	c.Expect(c.must(http.MethodGet, "/Systems/s4999", nil)["PowerState"]).To(Equal("On"))
	c.Expect(c.must(http.MethodGet, "/UpdateService/FirmwareInventory", nil)["Members@odata.count"]).To(BeEquivalentTo(2 * systems))
}
