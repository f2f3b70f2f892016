//go:build machine

package vm_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/boot"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/emulator"
	"github.com/ironflow/ironflow/test/lab/labtest"
	"github.com/ironflow/ironflow/test/machine/bmc"
	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/vm"
)

// world is a machine behind an emulated BMC, and a medium on an image server.
type world struct {
	*WithT
	t       *testing.T
	machine *vm.Machine
	bmcs    *lab.Emulator
	client  *http.Client
	uuid    string
	guest   boot.Guest
	images  *images
	// commands counts what was typed.
	commands int
	// read is how much of the console was looked at.
	read int64
}

// open makes the world; change may set more of the machine.
func open(t *testing.T, change func(*world, *vm.Config)) *world {
	t.Helper()
	for program, pkg := range map[string]string{"qemu-system-x86_64": "qemu-system-x86", "swtpm": "swtpm"} {
		needs.Program(t, program, pkg)
	}
	w := &world{WithT: NewWithT(t), t: t, uuid: "0d1c0000-0000-4000-8000-0000000000f1"}
	var err error
	w.guest, err = boot.Make(t.Context())
	w.Expect(err).NotTo(HaveOccurred())
	w.images = serve(t, w.guest.ISO)

	l := labtest.New(t)
	pair, err := l.Authority.Server()
	w.Expect(err).NotTo(HaveOccurred())
	certificate, err := tls.X509KeyPair(pair.Cert, pair.Key)
	w.Expect(err).NotTo(HaveOccurred())
	logger := slog.New(slog.NewTextHandler(t.Output(), nil))
	receiver, err := bmc.Listen(&certificate, func(string) (bmc.Taker, bool) { return w.machine, w.machine != nil }, logger)
	w.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = receiver.Close() })
	user, password := receiver.Credentials()
	w.bmcs, err = l.StartEmulator(t.Context(), lab.EmulatorOptions{NotifierURL: receiver.URL(), NotifierUser: user, NotifierPassword: password})
	w.Expect(err).NotTo(HaveOccurred())
	w.client = w.bmcs.HTTP

	config := vm.Config{
		UUID: w.uuid, Name: "vm-0", Dir: t.TempDir(), Board: w.bmcs, MemoryMiB: 1024, Log: logger,
		NICs: []vm.NIC{{MAC: "52:54:00:00:00:f1"}},
	}
	if change != nil {
		change(w, &config)
	}
	w.machine, err = vm.New(context.WithoutCancel(t.Context()), config)
	w.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() {
		if t.Failed() {
			console, _ := w.machine.Console(0)
			t.Logf("console:\n%s", console[max(0, len(console)-4000):])
		}
		NewWithT(t).Expect(w.machine.Close()).To(Succeed())
	})
	w.Expect(w.bmcs.Add(t.Context(), w.machine.System())).To(Succeed())
	return w
}

// redfish makes a request to the machine's BMC.
func (w *world) redfish(method, path string, body, into any) {
	w.t.Helper()
	raw, err := json.Marshal(body)
	w.Expect(err).NotTo(HaveOccurred())
	request, err := http.NewRequestWithContext(w.t.Context(), method, w.bmcs.SystemURL(w.uuid)+path, bytes.NewReader(raw))
	w.Expect(err).NotTo(HaveOccurred())
	request.Header.Set("Content-Type", "application/json")
	request.SetBasicAuth(w.bmcs.User, w.bmcs.Password)
	response, err := w.client.Do(request)
	w.Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(response.StatusCode).To(BeNumerically("<", 300), "%s %s: %s", method, path, text)
	if into != nil {
		w.Expect(json.Unmarshal(text, into)).To(Succeed())
	}
}

func (w *world) reset(kind emulator.Reset) {
	w.t.Helper()
	w.redfish("POST", "/Actions/ComputerSystem.Reset", map[string]any{"ResetType": kind}, nil)
}

func (w *world) boot(device emulator.BootDevice, mode emulator.BootMode) {
	w.t.Helper()
	w.redfish("PATCH", "", map[string]any{"Boot": map[string]any{
		"BootSourceOverrideTarget": device, "BootSourceOverrideMode": mode, "BootSourceOverrideEnabled": "Once",
	}}, nil)
}

func (w *world) insert(url string) {
	w.t.Helper()
	w.redfish("POST", "/VirtualMedia/Cd/Actions/VirtualMedia.InsertMedia", map[string]any{"Image": url, "WriteProtected": true}, nil)
}

func (w *world) eject() {
	w.t.Helper()
	w.redfish("POST", "/VirtualMedia/Cd/Actions/VirtualMedia.EjectMedia", map[string]any{}, nil)
}

// power is what the BMC shows.
func (w *world) power() emulator.Power {
	var state struct{ PowerState emulator.Power }
	w.redfish("GET", "", nil, &state)
	return state.PowerState
}

// console waits for the text on the machine's serial console.
func (w *world) console(text string) {
	w.t.Helper()
	begun := time.Now()
	ctx, cancel := context.WithTimeout(w.t.Context(), 15*time.Minute)
	defer cancel()
	var err error
	w.read, err = w.machine.WaitConsole(ctx, w.read, text)
	w.Expect(err).NotTo(HaveOccurred())
	w.t.Logf("%q after %s", text, time.Since(begun).Round(time.Second))
}

// event waits for an event of the machine after the time.
func (w *world) event(kind vm.EventKind, after time.Time) vm.Event {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 15*time.Minute)
	defer cancel()
	event, err := w.machine.WaitEvent(ctx, kind, after)
	w.Expect(err).NotTo(HaveOccurred())
	return event
}

// images is an image server of one medium that can break.
type images struct {
	*httptest.Server
	path   string
	broken atomic.Bool
	ranges atomic.Int64
	// scripted counts what the script for iPXE has read.
	scripted atomic.Int64
	agents   atomic.Value
}

func serve(t *testing.T, path string) *images {
	s := &images{path: path}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// medium is the medium's address.
func (s *images) medium() string { return s.URL + "/" + filepath.Base(s.path) }

// ServeHTTP serves the medium; a broken server ends the connection.
func (s *images) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.broken.Load() {
		panic(http.ErrAbortHandler)
	}
	if r.Header.Get("Range") != "" {
		s.ranges.Add(1)
	}
	s.agents.Store(r.UserAgent())
	switch r.URL.Path {
	case "/boot.ipxe":
		_, _ = io.WriteString(w, "#!ipxe\nimgfetch scripted\n")
		return
	case "/scripted":
		s.scripted.Add(1)
		return
	}
	file, err := os.Open(s.path)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer file.Close()
	http.ServeContent(w, r, s.path, time.Time{}, file)
}
