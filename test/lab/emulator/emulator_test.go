package emulator_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/lab/emulator"
)

// The client against the real emulator is tested in package lab.
func TestClient(t *testing.T) {
	g := NewWithT(t)
	var method, path, user, body string
	status := http.StatusNoContent
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		user, _, _ = r.BasicAuth()
		method, path, body = r.Method, r.URL.Path, string(text)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "because")
	}))
	t.Cleanup(server.Close)
	client := emulator.Client{URL: server.URL, User: "admin", Password: "p", HTTP: server.Client()}

	g.Expect(client.Add(t.Context(), emulator.System{UUID: "u-1", Name: "one"})).To(Succeed())
	g.Expect([]string{method, path, user}).To(Equal([]string{"PUT", "/lab/systems/u-1", "admin"}))
	g.Expect(body).To(MatchJSON(`{"uuid":"u-1","name":"one","power_state":"Off","nics":[]}`))

	g.Expect(client.SetPower(t.Context(), "u-1", emulator.PowerOn)).To(Succeed())
	g.Expect(body).To(MatchJSON(`{"power_state":"On"}`))

	g.Expect(client.Remove(t.Context(), "u-1")).To(Succeed())
	g.Expect(method).To(Equal("DELETE"))

	status = http.StatusInternalServerError
	err := client.SetPower(t.Context(), "u-1", emulator.PowerOff)
	g.Expect(err).To(MatchError(And(ContainSubstring("u-1"), ContainSubstring("500"), ContainSubstring("because"))))
	server.Close()
	g.Expect(client.Remove(t.Context(), "u-1")).To(MatchError(ContainSubstring("tell the emulator about system u-1")))
}

// TestAConnectionThatTheEmulatorHasJustClosed sends each request on a kept connection which ends before it is answered.
func TestAConnectionThatTheEmulatorHasJustClosed(t *testing.T) {
	g := NewWithT(t)
	var used, cut sync.Map // by the client's address
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, kept := used.LoadOrStore(r.RemoteAddr, true); kept {
			cut.Store(r.RemoteAddr, true)
			panic(http.ErrAbortHandler) // net/http closes the connection without an answer
		}
		body, err := io.ReadAll(r.Body)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(r.Method == http.MethodPut).To(Equal(json.Valid(body)), "the body is sent again as well")
		g.Expect(r.Header).NotTo(HaveKey("Idempotency-Key"))
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(server.Close)
	client := emulator.Client{URL: server.URL, User: "admin", Password: "p", HTTP: server.Client()}
	g.Expect(client.Add(t.Context(), emulator.System{UUID: "u-1", Name: "one"})).To(Succeed())
	g.Expect(client.SetPower(t.Context(), "u-1", emulator.PowerOn)).To(Succeed())
	g.Expect(client.Remove(t.Context(), "u-1")).To(Succeed())
	closed := 0
	cut.Range(func(any, any) bool { closed++; return true })
	g.Expect(closed).To(Equal(2))
}

func TestSystemChangeIsWhatTheREADMEShows(t *testing.T) {
	g := NewWithT(t)
	var change emulator.SystemChange
	g.Expect(json.Unmarshal([]byte(`{
		"uuid": "0d1c", "name": "host-0", "sequence": 7, "change": "power", "reset": "ForceOn", "power_state": "On",
		"boot_device": "Cd", "boot_mode": "UEFI", "secure_boot": false,
		"media": {"Cd": {"image": "http://127.0.0.1:8080/x.iso", "inserted": true, "write_protected": true}}
	}`), &change)).To(Succeed())
	g.Expect(change).To(Equal(emulator.SystemChange{
		UUID: "0d1c", Name: "host-0", Sequence: 7, Change: emulator.ChangePower, Reset: emulator.ResetForceOn,
		PowerState: emulator.PowerOn, BootDevice: emulator.BootCd, BootMode: emulator.BootModeUEFI,
		Media: map[string]emulator.Medium{"Cd": {Image: "http://127.0.0.1:8080/x.iso", Inserted: true, WriteProtected: true}},
	}))
}
