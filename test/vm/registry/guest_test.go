//go:build machine

package registry_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/test/lab/emulator"
	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/vm"
	"github.com/ironflow/ironflow/test/vm/medium"
	"github.com/ironflow/ironflow/test/vm/registry"
)

const (
	node = "0d1c0000-0000-4000-8000-0000000000a1"
	card = "52:54:00:00:00:a1"
	disk = "REGISTRY-DISK"
	// patience is for two busy cores; nothing is measured by it.
	patience = 25 * time.Minute
)

// TestTheShippedUnitBringsIPAUp boots the medium with Ignition of our own
// rendering. In the guest, podman pulls the image out of the registry and IPA
// inspects the machine, finds its node, and beats.
func TestTheShippedUnitBringsIPAUp(t *testing.T) {
	g := NewWithT(t)
	needs.Program(t, "qemu-system-x86_64", "qemu-system-x86")
	media, err := medium.Make(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	images, err := registry.Start(t.Context(), registry.Options{Address: "127.0.0.1", Source: "../../..", Dir: t.TempDir()})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(images.Close)
	ironic := &played{calls: make(chan call, 16), begun: time.Now(), say: t.Logf}
	server := httptest.NewServer(ironic)
	t.Cleanup(server.Close)
	config, err := ignition.Build(ignition.HostConfig{
		IPA: &ignition.IPA{APIURLs: []string{fromGuest(server.Listener.Addr().String())}, Image: strings.Replace(images.IPA(), "127.0.0.1", host, 1), ImageInsecure: true},
	})
	g.Expect(err).NotTo(HaveOccurred())
	start(t, embed(t, media.ISO, config))

	var posted struct {
		Inventory struct {
			Interfaces []struct {
				MACAddress string `json:"mac_address"`
			}
			Disks []struct{ Serial string }
			CPU   struct{ Count int }
		}
	}
	ironic.await(t, "POST /v1/continue_inspection", &posted)
	g.Expect(posted.Inventory.CPU.Count).To(Equal(2))
	g.Expect(posted.Inventory.Interfaces).To(ContainElement(HaveField("MACAddress", card)))
	g.Expect(posted.Inventory.Disks).To(ConsistOf(HaveField("Serial", disk)))
	g.Expect(ironic.await(t, "GET /v1/lookup", nil).query).To(ContainSubstring(strings.ReplaceAll(card, ":", "%3A")))
	var beat struct {
		URL string `json:"callback_url"`
	}
	ironic.await(t, "POST /v1/heartbeat/"+node, &beat)
	g.Expect(beat.URL).To(Equal("https://10.0.2.15:9999"), "where Ironic is to reach IPA")
}

// host is this computer as a guest of QEMU's own network reaches it.
const host = "10.0.2.2"

func fromGuest(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return "http://" + net.JoinHostPort(host, port)
}

// start starts a machine from the medium, which its BMC reads by HTTP.
func start(t *testing.T, iso string) {
	t.Helper()
	g := NewWithT(t)
	files := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(iso))))
	t.Cleanup(files.Close)
	machine, err := vm.New(t.Context(), vm.Config{
		UUID: node, Name: "registry", Dir: t.TempDir(), Firmware: vm.BIOS,
		Disks: []vm.Disk{{SizeMiB: 5 << 10, Serial: disk}}, NICs: []vm.NIC{{MAC: card}},
	})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() {
		if t.Failed() {
			journal, _ := os.ReadFile(machine.JournalLog()) // the failure is told anyhow
			t.Logf("journal:\n%s", journal)
		}
		g.Expect(machine.Close()).To(Succeed())
	})
	g.Expect(machine.Take(emulator.SystemChange{
		UUID: node, Change: emulator.ChangePower, Reset: emulator.ResetOn, PowerState: emulator.PowerOn, BootDevice: emulator.BootCd,
		Media: map[string]emulator.Medium{emulator.MediaCd: {Image: files.URL + "/" + filepath.Base(iso), Inserted: true}},
	})).To(Succeed())
}

// embed returns a live ISO with the config in it.
func embed(t *testing.T, iso string, config []byte) string {
	t.Helper()
	dir := t.TempDir()
	file, out := filepath.Join(dir, "config.ign"), filepath.Join(dir, "live.iso")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := exec.CommandContext(t.Context(), needs.CoreOSInstaller(t), "iso", "ignition", "embed", "--ignition-file", file, "--output", out, iso).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return out
}

// call is a request that IPA made.
type call struct {
	name, query string
	body        []byte
}

// played is as much of Ironic as IPA talks to.
type played struct {
	calls chan call
	begun time.Time
	say   func(string, ...any)
}

func (p *played) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	if err != nil {
		return
	}
	c := call{name: r.Method + " " + r.URL.Path, query: r.URL.RawQuery, body: body}
	p.say("%s after %s", c.name, time.Since(p.begun).Round(time.Second))
	answer := map[string]any{
		"GET /":                        map[string]any{"default_version": map[string]any{"version": "1.68"}},
		"POST /v1/continue_inspection": map[string]any{"uuid": node},
		"GET /v1/lookup": map[string]any{
			"node":   map[string]any{"uuid": node, "properties": map[string]any{}, "instance_info": map[string]any{}, "driver_internal_info": map[string]any{}},
			"config": map[string]any{"heartbeat_timeout": 60, "agent_token": "a-token-of-this-test", "agent_token_required": true},
		},
	}[c.name]
	w.Header().Set("Content-Type", "application/json")
	if strings.HasPrefix(c.name, "POST /v1/heartbeat/") {
		w.WriteHeader(http.StatusAccepted)
	}
	_ = json.NewEncoder(w).Encode(answer) // IPA asks again
	select {
	case p.calls <- c:
	case <-r.Context().Done():
	}
}

// await returns the next call of that name, and decodes what it carries.
func (p *played) await(t *testing.T, name string, into any) call {
	t.Helper()
	limit := time.After(patience)
	for {
		select {
		case c := <-p.calls:
			if c.name != name {
				continue
			}
			if into != nil {
				NewWithT(t).Expect(json.Unmarshal(c.body, into)).To(Succeed())
			}
			return c
		case <-limit:
			t.Fatalf("no %s within %s", name, patience)
		}
	}
}
