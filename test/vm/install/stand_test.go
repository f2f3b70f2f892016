//go:build machine

package install_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/test/lab/emulator"
	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/vm"
	"github.com/ironflow/ironflow/test/vm/medium"
)

const (
	node = "0d1c0000-0000-4000-8000-0000000000b1"
	card = "52:54:00:00:00:b1"
	// patience is for two busy cores; nothing is measured by it.
	patience = 45 * time.Minute
	// binEnv is the folder of the programs as shipped; `make test-machine` sets it.
	binEnv = "IRONFLOW_BIN"
)

// stand is a machine and what is around it.
type stand struct {
	*WithT
	t       *testing.T
	machine *vm.Machine
	console *consoleReader
	// address is this computer's as the machine reaches it.
	address string
	server  *httptest.Server
	begun   time.Time
	// before is done here between the two parts of the live system's script.
	before func()
	answer chan []byte
}

// newStand makes the machine, off. The address is one of this computer's; empty is for
// QEMU's own network.
func newStand(t *testing.T, address string, change func(*vm.Config)) *stand {
	t.Helper()
	needs.Root(t)
	needs.Program(t, "qemu-system-x86_64", "qemu-system-x86")
	s := &stand{WithT: NewWithT(t), t: t, address: "10.0.2.2", begun: time.Now(), answer: make(chan []byte, 1)}
	on := "127.0.0.1"
	if address != "" {
		s.address, on = address, address
	}
	config := vm.Config{
		UUID: node, Name: "install", Dir: t.TempDir(),
		Disks: []vm.Disk{{Kind: vm.DiskSCSI, SizeMiB: 6 << 10, Serial: "SYSTEM1", WWN: "0x5000c50000000001"}},
		NICs:  []vm.NIC{{MAC: card}},
	}
	change(&config)
	var err error
	s.machine, err = vm.New(context.WithoutCancel(t.Context()), config)
	s.Expect(err).NotTo(HaveOccurred())
	s.console = &consoleReader{machine: s.machine}
	t.Cleanup(s.end)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", net.JoinHostPort(on, "0"))
	s.Expect(err).NotTo(HaveOccurred())
	s.server = httptest.NewUnstartedServer(s.routes())
	s.Expect(s.server.Listener.Close()).To(Succeed())
	s.server.Listener = listener
	s.server.Start()
	t.Cleanup(s.server.Close)
	return s
}

// end takes the power away, and keeps what a failure needs.
func (s *stand) end() {
	if s.t.Failed() {
		console, _ := s.machine.Console(0)                // the failure is told anyhow
		journal, _ := os.ReadFile(s.machine.JournalLog()) // the same
		s.t.Logf("console:\n%s\njournal:\n%s", console, journal)
	}
	s.Expect(s.machine.Close()).To(Succeed())
}

// said logs what happened, with the time.
func (s *stand) said(format string, args ...any) {
	s.t.Logf("after %s: %s", time.Since(s.begun).Round(time.Second), fmt.Sprintf(format, args...))
}

// routes is what the live system's script asks this computer.
func (s *stand) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ironflow-step", func(w http.ResponseWriter, r *http.Request) {
		s.said("the live system runs")
		http.ServeFile(w, r, filepath.Join(s.bin(), "ironflow-step"))
	})
	mux.HandleFunc("POST /before", func(_ http.ResponseWriter, r *http.Request) {
		said := string(s.body(r))
		s.said("before the step: %s", said)
		if !strings.HasSuffix(said, "done") {
			s.t.Errorf("the script before the step has failed: %s", said)
		}
		if s.before != nil {
			s.before()
		}
	})
	mux.HandleFunc("POST /answer", func(_ http.ResponseWriter, r *http.Request) { s.answer <- s.body(r) })
	return mux
}

func (s *stand) body(r *http.Request) []byte {
	raw, err := readAll(r)
	if err != nil {
		s.t.Errorf("read what the live system says: %v", err)
	}
	return raw
}

// url is where the machine reaches this computer's server.
func (s *stand) url() string {
	_, port, _ := net.SplitHostPort(s.server.Listener.Addr().String())
	return "http://" + net.JoinHostPort(s.address, port)
}

// bin is the folder of the programs.
func (s *stand) bin() string {
	bin := os.Getenv(binEnv)
	if bin == "" {
		bin = "../../../bin"
	}
	bin, err := filepath.Abs(bin)
	s.Expect(err).NotTo(HaveOccurred())
	return bin
}

// order is what is installed, and how.
type order struct {
	// script is what somebody does in the live system before the step.
	script string
	// rootDevice is the answer of ironic-python-agent; empty is none.
	rootDevice string
	// properties are the node's.
	properties map[string]any
	// tells is what the installed system is to say of itself, within the double quotes of
	// a shell's echo.
	tells string
	// keyfiles are NetworkManager keyfiles for the live system, by name.
	keyfiles map[string][]byte
}

// script is what stands in the place of ironic-python-agent.
const script = `#!/bin/sh
set -u
tell() { curl --silent --show-error --fail --retry 60 --retry-delay 2 --retry-all-errors "$@"; }
tell --output /run/ironflow-step %[1]s/ironflow-step
chmod 0755 /run/ironflow-step
said=$(sh -ex /etc/by-hand 2>&1 && echo done)
tell --data-binary "$said" %[1]s/before
IRONFLOW_ROOT=/ /run/ironflow-step install_coreos </etc/step.json >/run/answer
sync
tell --data-binary @/run/answer %[1]s/answer
sleep infinity
`

// report is the step's last line.
type report struct {
	Outcome, Reason string
	Detail          []string
	Result          struct {
		Disk, Why, Warning string
		RemovedRAIDs       []string `json:"removed_raids"`
	}
}

// install starts the live system and returns what the step reports.
func (s *stand) install(o order) report {
	s.t.Helper()
	s.start(emulator.BootCd, s.medium(o))
	var raw []byte
	s.Eventually(s.answer).WithTimeout(patience).Should(Receive(&raw))
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	var r report
	s.Expect(json.Unmarshal([]byte(lines[len(lines)-1]), &r)).To(Succeed())
	s.said("the step reports %s", lines[len(lines)-1])
	return r
}

// installed starts the machine without a medium, and returns what the installed system
// says: the root device, and what it was to tell.
func (s *stand) installed() (root, tells string) {
	s.t.Helper()
	s.Expect(s.machine.PowerCut(s.t.Context())).To(Succeed())
	s.start(emulator.BootHdd, "")
	found := s.console.wait(s, regexp.MustCompile(`(?m)^INSTALLED-BY-STEP root=(\S*) ?(.*?)\r?$`))
	s.said("%s", found[0])
	return found[1], found[2]
}

// start switches the machine on.
func (s *stand) start(device emulator.BootDevice, url string) {
	s.t.Helper()
	change := emulator.SystemChange{UUID: node, Change: emulator.ChangePower, Reset: emulator.ResetOn, PowerState: emulator.PowerOn, BootDevice: device}
	if url != "" {
		change.Media = map[string]emulator.Medium{emulator.MediaCd: {Image: url, Inserted: true}}
	}
	s.Expect(s.machine.Take(change)).To(Succeed())
}

// medium makes the live ISO and returns its address.
func (s *stand) medium(o order) string {
	s.t.Helper()
	media, err := medium.Make(s.t.Context())
	s.Expect(err).NotTo(HaveOccurred())
	config, err := ignition.Build(ignition.HostConfig{
		IPA:      &ignition.IPA{APIURLs: []string{s.url()}, Command: []string{"/bin/sh", "/etc/played-agent"}},
		Override: s.override(o),
	})
	s.Expect(err).NotTo(HaveOccurred())
	dir := s.t.TempDir()
	file, base, iso := filepath.Join(dir, "config.ign"), media.ISO, filepath.Join(dir, "live.iso")
	s.Expect(os.WriteFile(file, config, 0o600)).To(Succeed())
	if len(o.keyfiles) > 0 {
		base = filepath.Join(dir, "network.iso")
		args := []string{"image", "network", "embed", media.ISO, "--output", base}
		for name, text := range o.keyfiles {
			s.Expect(os.WriteFile(filepath.Join(dir, name), text, 0o600)).To(Succeed())
			args = append(args, "--keyfile", filepath.Join(dir, name))
		}
		s.run(args...)
	}
	s.run("image", "embed", base, "--ignition", file, "--output", iso)
	files := httptest.NewServer(http.FileServer(http.Dir(dir)))
	s.t.Cleanup(files.Close)
	return files.URL + "/live.iso"
}

// run runs the program ironflow as shipped.
func (s *stand) run(args ...string) {
	s.t.Helper()
	said, err := exec.CommandContext(s.t.Context(), filepath.Join(s.bin(), "ironflow"), args...).CombinedOutput()
	s.Expect(err).NotTo(HaveOccurred(), "%s", said)
}

// override adds the script, what it does first, and the step's input.
func (s *stand) override(o order) []byte {
	input := map[string]any{"ports": []any{}, "args": map[string]any{}, "node": map[string]any{
		"uuid": node, "properties": o.properties, "driver_internal_info": map[string]any{},
		"instance_info": map[string]any{"configdrive": map[string]any{"user_data": installedIgnition(o.tells)}},
	}}
	if o.rootDevice != "" {
		input["root_device"] = map[string]any{"name": o.rootDevice}
	}
	var files []any
	for path, text := range map[string]string{"/etc/played-agent": fmt.Sprintf(script, s.url()), "/etc/by-hand": o.script, "/etc/step.json": encoded(input)} {
		files = append(files, map[string]any{
			"path": path, "mode": 0o600, "contents": map[string]any{"source": "data:;base64," + base64.StdEncoding.EncodeToString([]byte(text))},
		})
	}
	return []byte(encoded(map[string]any{"ignition": map[string]any{"version": "3.2.0"}, "storage": map[string]any{"files": files}}))
}

// installedIgnition is the user's config of the installed system: a unit that says on
// the console what it runs from.
func installedIgnition(tells string) map[string]any {
	const unit = `[Unit]
After=multi-user.target
[Service]
Type=oneshot
ExecStart=/bin/bash -c 'echo "INSTALLED-BY-STEP root=$$(findmnt -no SOURCE /) %s" >/dev/ttyS0'
[Install]
WantedBy=graphical.target
`
	return map[string]any{
		"ignition": map[string]any{"version": "3.2.0"},
		"systemd":  map[string]any{"units": []any{map[string]any{"name": "say.service", "enabled": true, "contents": fmt.Sprintf(unit, tells)}}},
	}
}

func encoded(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("encode plain values: %v", err))
	}
	return string(raw)
}
