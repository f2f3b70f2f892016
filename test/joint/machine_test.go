//go:build e2e

package joint_test

import (
	"context"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/test/lab/emulator"
	"github.com/ironflow/ironflow/test/liveimage"
	"github.com/ironflow/ironflow/test/livesystem"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
)

const (
	// postTime lets Ironic notice that the power is on before IPA speaks, as on
	// hardware: the real agent posts its inventory once only.
	postTime = 4 * time.Second
	// powerPatience bounds what a machine tells its BMC.
	powerPatience = 30 * time.Second

	scenarioFile = "/etc/ironflow/scenario.yaml"
	dropIn       = hostfile.UnitDir + "/" + hostfile.AgentUnit + ".d/10-dry-run.conf"
)

// machine is one host behind the emulated BMC. Booting the live image boots a
// systemd with the image's files, and starts IPA beside it.
type machine struct {
	t     *testing.T
	world *world
	// name is the host's and the node's, uuid the system's.
	name, uuid string
	scenario   *scenario.Scenario
	// stock makes it an image without gate and with the existing plugin.
	stock bool
	// disk is written for real; nil: the agent's dry run pretends one.
	disk *livesystem.Disk
	dir  string

	mu    sync.Mutex
	boots int
	boot  *boot
	ended bool
}

// boot is one life of the machine, from power on to power off.
type boot struct {
	dir    string
	cancel context.CancelFunc
	// up is closed when the machine runs or will not; only then may the rest be looked at.
	up      chan struct{}
	systemd *systemdtest.Machine
	ipa     *ipa
}

// Take implements bmc.Taker.
func (m *machine) Take(change emulator.SystemChange) error {
	if change.Change != emulator.ChangePower {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kill()
	if change.PowerState == emulator.PowerOn && change.BootDevice == emulator.BootCd && len(change.Media) > 0 {
		m.powerOn(postTime)
	}
	return nil
}

// powerOn begins a new boot of the live image. The lock is held.
func (m *machine) powerOn(post time.Duration) {
	if m.ended {
		return
	}
	m.boots++
	ctx, cancel := context.WithCancel(context.Background())
	b := &boot{dir: filepath.Join(m.dir, strconv.Itoa(m.boots)), cancel: cancel, up: make(chan struct{})}
	m.boot = b
	go func() {
		defer close(b.up)
		timer := time.NewTimer(post)
		defer timer.Stop()
		select {
		case <-ctx.Done():
		case <-timer.C:
			m.start(b)
		}
	}()
}

// start boots systemd, puts the image's files in, and starts IPA.
func (m *machine) start(b *boot) {
	if err := os.Mkdir(b.dir, 0o755); err != nil {
		m.t.Errorf("boot: %v", err)
		return
	}
	b.systemd = systemdtest.Boot(m.t)
	systemdtest.Install(m.t, b.systemd.Host, m.world.agent, hostfile.AgentBinary)
	if m.disk != nil {
		disk := *m.disk
		disk.Board = m.uuid
		live := livesystem.New(m.t, b.systemd, disk)
		live.BringImage(m.t, livesystem.MakeImage(m.t, "../fixtures/coreos-disk/make.sh"))
		live.AddNIC(m.t, m.mac())
	}
	for path, data := range m.image(b.systemd) {
		path = b.systemd.Host.Path(path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			m.t.Errorf("boot: %v", err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			m.t.Errorf("boot: %v", err)
		}
	}
	b.systemd.Run(m.t, "systemctl", "daemon-reload")
	b.ipa = m.startIPA(b)
}

// image is what imagecustomization makes of the infra-env and IPA's part, with
// the seams of the agent's dry run.
func (m *machine) image(s *systemdtest.Machine) map[string][]byte {
	token, err := m.world.hub.MachineToken(m.t.Context(), m.world.infraEnv, strings.ToLower(m.mac()))
	if err != nil {
		m.t.Errorf("token of the image: %v", err)
		return nil
	}
	raw, err := ignition.Build(ignition.HostConfig{
		IPA: &ignition.IPA{APIURLs: []string{m.world.lab.Ironic.URL}, CA: string(m.world.lab.Ironic.CA), Command: []string{"/bin/true"}},
		Agent: &ignition.Agent{
			URL: m.hubIn(s), InfraEnvID: m.world.infraEnv, Version: "ironflow-agent:test", Token: ignition.Secret(token), Gate: !m.stock,
		},
	})
	if err != nil {
		m.t.Errorf("render the image: %v", err)
		return nil
	}
	config, err := liveimage.Decode(raw)
	if err != nil {
		m.t.Errorf("render the image: %v", err)
		return nil
	}
	files := map[string][]byte{}
	if m.disk == nil {
		files[dropIn] = []byte("[Service]\nEnvironment=DRY_ENABLE=true DRY_SCENARIO=" + scenarioFile + "\n")
		files[scenarioFile] = m.scenarioYAML()
	}
	for _, f := range config.Files {
		if strings.HasPrefix(f.Path, hostfile.ConfigDir) || f.Path == hostfile.IPAConfig {
			files[f.Path] = f.Data
		}
	}
	for _, u := range config.Units {
		if u.Name == hostfile.AgentUnit {
			files[filepath.Join(hostfile.UnitDir, u.Name)] = []byte(u.Contents)
		}
	}
	return files
}

func (m *machine) scenarioYAML() []byte {
	path := filepath.Join(m.dir, "scenario.yaml")
	if err := m.scenario.Save(path); err != nil {
		m.t.Errorf("scenario: %v", err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		m.t.Errorf("scenario: %v", err)
	}
	return raw
}

// hubIn is the hub's address inside the machine, whose network is its own.
func (m *machine) hubIn(s *systemdtest.Machine) string {
	target, err := url.Parse(m.world.hub.URL)
	if err != nil {
		m.t.Errorf("hub: %v", err)
		return ""
	}
	listener := s.Listen(m.t)
	server := &http.Server{ReadHeaderTimeout: powerPatience, Handler: &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport: m.world.hub.Client().Transport,
	}}
	go func() { _ = server.Serve(listener) }()
	m.t.Cleanup(func() { _ = server.Close() })
	return "http://" + listener.Addr().String()
}

// kill takes the power: nothing survives. The lock is held.
func (m *machine) kill() {
	b := m.boot
	m.boot = nil
	if b == nil {
		return
	}
	b.cancel()
	<-b.up
	if b.ipa != nil {
		b.ipa.kill()
	}
	if b.systemd != nil {
		b.systemd.Kill()
	}
}

// cycle is a power cycle behind Ironic's back.
func (m *machine) cycle() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kill()
	m.powerOn(0)
}

// restartIPA ends IPA with all that it started, as the crash of its container
// would, and starts it again in the same boot.
func (m *machine) restartIPA() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.boot.ipa.kill()
	m.boot.ipa = m.startIPA(m.boot)
}

// off is the machine's own power-off. IPA, which asks for it, is part of what
// ends, so nobody waits.
func (m *machine) off() {
	go func() {
		m.mu.Lock()
		m.kill()
		ended := m.ended
		m.mu.Unlock()
		if ended {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), powerPatience)
		defer cancel()
		if err := m.world.lab.Emulator.SetPower(ctx, m.uuid, emulator.PowerOff); err != nil {
			m.t.Errorf("tell the BMC: %v", err)
		}
	}()
}

// end takes the power for good.
func (m *machine) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended = true
	m.kill()
}

// running is the booted systemd; nil while there is none.
func (m *machine) running() *systemdtest.Machine {
	m.mu.Lock()
	b := m.boot
	m.mu.Unlock()
	if b == nil {
		return nil
	}
	<-b.up
	return b.systemd
}
