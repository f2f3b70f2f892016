package machine_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/imagecustomization/embedarea"
	"github.com/ironflow/ironflow/imagecustomization/iso"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
	"github.com/ironflow/ironflow/test/lab/emulator"
	"github.com/ironflow/ironflow/test/liveimage"
	"github.com/ironflow/ironflow/test/machine"
	"github.com/ironflow/ironflow/test/machine/ipa"
	"github.com/ironflow/ironflow/test/media"
	"github.com/ironflow/ironflow/test/scenario/generate"
)

// patience bounds every wait; it only passes when something is broken.
const patience = 60 * time.Second

// fast is an IPA that waits for nothing longer than it has to.
var fast = ipa.Pace{
	Forced: time.Millisecond, Retry: time.Millisecond, Lookup: time.Millisecond, Conflict: time.Millisecond, Inspect: time.Millisecond,
}

// liveISO makes a medium with the Ignition config; nil leaves it pristine.
func liveISO(t testing.TB, ignition []byte) *overlay.Image {
	t.Helper()
	path := filepath.Join(t.TempDir(), "base.iso")
	if err := media.WriteFile(path, media.Options{RootfsBytes: 64 << 10}); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	source := liveimage.Memory(raw)
	layout, err := iso.Parse(source, source.Size())
	if err != nil {
		t.Fatal(err)
	}
	image, err := overlay.Customize(overlay.Media{Source: source, Layout: layout}, overlay.Options{Content: embedarea.Content{Ignition: ignition}})
	if err != nil {
		t.Fatal(err)
	}
	return image
}

// unit is a unit of an Ignition config.
func unit(name string, enabled bool, contents string) map[string]any {
	return map[string]any{"name": name, "enabled": enabled, "contents": contents}
}

// liveConfig is the Ignition config of a live image: IPA for the Ironic, and
// the agent that waits for its step.
func liveConfig(t testing.TB, ironic, ca string, units ...map[string]any) []byte {
	t.Helper()
	file := func(path, text string) map[string]any {
		return map[string]any{"path": path, "overwrite": true, "mode": 0o600, "contents": map[string]any{"source": "data:;base64," + encode(text)}}
	}
	raw, err := json.Marshal(map[string]any{
		"ignition": map[string]any{"version": "3.4.0"},
		"storage": map[string]any{"files": []any{
			file("/etc/ironic-python-agent.conf", "[DEFAULT]\napi_url = "+ironic+"\ncafile = /etc/ironflow/ironic-ca.crt\ninspection_collectors = default\n"),
			file("/etc/ironflow/ironic-ca.crt", ca),
		}},
		"systemd": map[string]any{"units": units},
	})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// images serves media at /NAME.iso.
func images(t testing.TB, byName map[string]*overlay.Image) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		image, ok := byName[r.URL.Path[1:]]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", `"`+image.ID()+`"`)
		http.ServeContent(w, r, "x.iso", time.Time{}, image.Reader())
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// board stands for the emulator: it keeps what the machines tell.
type board struct {
	mu      sync.Mutex
	systems map[string]emulator.System
}

func (b *board) Add(_ context.Context, s emulator.System) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.systems[s.UUID] = s
	return nil
}

func (b *board) SetPower(_ context.Context, uuid string, power emulator.Power) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.systems[uuid]
	s.PowerState = power
	b.systems[uuid] = s
	return nil
}

func (b *board) Remove(_ context.Context, uuid string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.systems, uuid)
	return nil
}

func (b *board) power(uuid string) emulator.Power {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.systems[uuid].PowerState
}

// rig is one machine under test with everything around it.
type rig struct {
	t     *testing.T
	fleet *machine.Fleet
	board *board
	name  string
	// view is what the BMC was told so far.
	view emulator.SystemChange
}

// newRig makes a fleet of one machine; change may alter its scenario.
func newRig(t *testing.T, binDir string, change func(*scenario.Scenario)) *rig {
	t.Helper()
	s := generate.Machine(0, generate.Options{Speed: 1000})
	if change != nil {
		change(s)
	}
	fleet, err := machine.NewFleet(machine.Options{
		Dir: t.TempDir(), BinDir: binDir, Scenarios: []*scenario.Scenario{s}, Pace: fast, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := fleet.Close(); err != nil {
			t.Error(err)
		}
		if left := fleet.Processes(); len(left) > 0 {
			t.Errorf("processes %v outlive their machine", left)
		}
	})
	b := &board{systems: map[string]emulator.System{}}
	if err := fleet.Plug(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	return &rig{t: t, fleet: fleet, board: b, name: s.Name, view: emulator.SystemChange{
		UUID: s.Hardware.System.UUID, Name: s.Name, PowerState: emulator.PowerOff, Media: map[string]emulator.Medium{},
	}}
}

// tell sends a change to the machine as the emulator does.
func (r *rig) tell(change emulator.Change, edit func(*emulator.SystemChange)) {
	r.t.Helper()
	r.view.Change, r.view.Reset = change, ""
	r.view.Sequence++
	edit(&r.view)
	body, err := json.Marshal(r.view)
	if err != nil {
		r.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPut, r.fleet.NotifierURL(), bytesReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.SetBasicAuth(r.fleet.NotifierCredentials())
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusNoContent {
		r.t.Fatalf("notification answered with %s", answer.Status)
	}
}

func (r *rig) insert(url string) {
	r.t.Helper()
	r.tell(emulator.ChangeMedia, func(s *emulator.SystemChange) {
		s.Media[emulator.MediaCd] = emulator.Medium{Image: url, Inserted: true, WriteProtected: true}
	})
}

func (r *rig) bootFrom(device emulator.BootDevice) {
	r.t.Helper()
	r.tell(emulator.ChangeBoot, func(s *emulator.SystemChange) { s.BootDevice = device })
}

func (r *rig) power(reset emulator.Reset, after emulator.Power) {
	r.t.Helper()
	r.tell(emulator.ChangePower, func(s *emulator.SystemChange) { s.Reset, s.PowerState = reset, after })
}

// until waits for the state, and fails when another one is final before.
func (r *rig) until(what string, condition func(machine.Status) bool) machine.Status {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	s, err := r.fleet.WaitFor(ctx, r.name, condition)
	if err != nil {
		r.t.Fatalf("waiting until %s: %v", what, err)
	}
	return s
}

func (r *rig) untilState(state machine.State) machine.Status {
	r.t.Helper()
	return r.until("it is "+string(state), func(s machine.Status) bool { return s.State == state })
}
