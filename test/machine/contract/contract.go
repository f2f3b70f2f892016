// Package contract holds what an IPA has to prove in front of a real Ironic: one
// table of cases, run on the Go IPA of package ipa and on the real
// ironic-python-agent of package realipa.
//
// A case drives a node of its own by Ironic's API and looks at what Ironic
// makes of the agent: look-up, token, heartbeats, inspection, commands,
// failures, restarts. Behind the node's BMC is a machine that does nothing but
// start the agent when it is powered on, and end it when the power goes.
package contract

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/emulator"
	"github.com/ironflow/ironflow/test/lab/labtest"
	"github.com/ironflow/ironflow/test/machine/bmc"
	"github.com/ironflow/ironflow/test/machine/ironictest"
)

// atOnce is how many cases run side by side; more only make Ironic slow.
const atOnce = 4

// Steps that the hardware manager of an agent under test must have. Priority is
// zero but where said; the interface is deploy.
const (
	// StepEcho returns its arguments; deploy and clean.
	StepEcho = "contract_echo"
	// StepFail fails with its argument "text" as a DeploymentError or CleaningError.
	StepFail = "contract_fail"
	// StepRaise fails with an unexpected exception of its argument "text"; deploy.
	StepRaise = "contract_raise"
	// StepHang ends only with the machine; deploy.
	StepHang = "contract_hang"
	// StepAfter is listed with priority 79, so that Ironic runs it by itself
	// after a requested one with 80; it returns null; deploy.
	StepAfter = "contract_after"
	// StepErase is listed for cleaning with priority 99, in the place of the real one.
	StepErase = "erase_devices_metadata"
	// ArgText is an argument of StepFail and StepRaise.
	ArgText = "text"
)

// Boot is one power-on of a machine.
type Boot struct {
	// Ironic is the API's URL, CAFile what to trust for it.
	Ironic string
	CAFile string
	// MAC is the machine's only address.
	MAC string
	// Dir is a folder of this boot: it is the same for an agent that is
	// restarted within it.
	Dir string
	// Off and Reboot are the machine's own switches.
	Off, Reboot func()
}

// Agent is the IPA under test.
type Agent interface {
	// Start starts the agent in the machine. Stop ends it at once. An agent that
	// is started again with the same Boot.Dir comes back with its token,
	// certificate and address.
	Start(t testing.TB, boot Boot) (stop func(), err error)
}

// bench is everything that the cases share.
type bench struct {
	agent    Agent
	lab      *lab.Lab
	iso      string
	receiver *bmc.Receiver

	mu       sync.Mutex
	machines map[string]*machine
}

// Run runs all cases on the agent. It needs the lab's Ironic.
func Run(t *testing.T, agent Agent) {
	b := &bench{agent: agent, lab: labtest.New(t), machines: map[string]*machine{}}
	b.start(t)
	// Several at once, whatever the number of processors: a case mostly waits.
	var group sync.WaitGroup
	free := make(chan struct{}, atOnce)
	for _, c := range cases {
		free <- struct{}{}
		group.Go(func() {
			defer func() { <-free }()
			t.Run(c.name, func(t *testing.T) { c.run(t, b.machine(t, c.clean)) })
		})
	}
	group.Wait()
}

// start brings up Ironic, the BMCs and the place of the image.
func (b *bench) start(t *testing.T) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	pair, err := b.lab.Authority.Server()
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	if b.receiver, err = bmc.Listen(&certificate, b.find, log); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.receiver.Close() })
	user, password := b.receiver.Credentials()
	ctx := t.Context()
	var group sync.WaitGroup
	group.Go(func() {
		_, err := b.lab.StartEmulator(ctx, lab.EmulatorOptions{NotifierURL: b.receiver.URL(), NotifierUser: user, NotifierPassword: password})
		if err != nil {
			t.Error(err)
		}
	})
	group.Go(func() {
		if _, err := b.lab.StartIronic(ctx, lab.IronicOptions{}); err != nil {
			t.Error(err)
		}
	})
	group.Wait()
	if t.Failed() {
		t.FailNow()
	}
	// Nobody reads the image here: the machines of the cases boot by themselves.
	image := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(image.Close)
	b.iso = image.URL + "/live.iso"
}

func (b *bench) find(uuid string) (bmc.Taker, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m, ok := b.machines[uuid]
	return m, ok
}

// machine makes a machine with its BMC and its node.
func (b *bench) machine(t *testing.T, clean bool) *machine {
	t.Helper()
	id := uuid.New()
	m := &machine{
		t: t, bench: b, uuid: id.String(), dir: t.TempDir(), mac: fmt.Sprintf("52:54:%02x:%02x:%02x:%02x", id[0], id[1], id[2], id[3]),
	}
	name := "contract-" + id.String()[:8]
	b.mu.Lock()
	b.machines[m.uuid] = m
	b.mu.Unlock()
	t.Cleanup(m.end)
	err := b.lab.Emulator.Add(t.Context(), emulator.System{UUID: m.uuid, Name: name, NICs: []emulator.NIC{{MAC: m.mac}}})
	if err != nil {
		t.Fatal(err)
	}
	m.ironic = ironictest.Ironic{URL: b.lab.Ironic.URL, HTTP: b.lab.Ironic.HTTPClient()}
	m.Node = m.ironic.Enroll(t, ironictest.Spec{
		Name: name, MAC: m.mac, BMC: b.lab.Emulator.URL, SystemID: "/redfish/v1/Systems/" + m.uuid,
		User: b.lab.Emulator.User, Password: b.lab.Emulator.Password, CAFile: b.lab.CAFile, ISO: b.iso, Clean: clean,
	})
	return m
}

// machine is the least machine that can run an agent.
type machine struct {
	*ironictest.Node
	t      *testing.T
	bench  *bench
	ironic ironictest.Ironic
	uuid   string
	mac    string
	// dir has a folder for each boot. It is made before the machine's end is
	// planned, so that it outlives the machine.
	dir string

	mu    sync.Mutex
	boot  Boot
	boots int
	stop  func()
	ended bool
}

// postTime lets Ironic notice that the power is on before the agent speaks, as
// on hardware: the real agent posts its inventory once only.
const postTime = 4 * time.Second

// Take implements bmc.Taker.
func (m *machine) Take(change emulator.SystemChange) error {
	if change.Change != emulator.ChangePower {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kill()
	if change.PowerState == emulator.PowerOn && !m.ended {
		m.powerOn(postTime)
	}
	return nil
}

// powerOn begins a new boot, unless the firmware boots a disk. The lock is held.
func (m *machine) powerOn(post time.Duration) {
	m.boots++
	dir := filepath.Join(m.dir, strconv.Itoa(m.boots))
	if err := os.Mkdir(dir, 0o755); err != nil {
		m.t.Errorf("boot: %v", err)
		return
	}
	boot := Boot{
		Ironic: m.ironic.URL, CAFile: m.bench.lab.CAFile, MAC: m.mac, Dir: dir,
		Off: m.off, Reboot: m.restart,
	}
	m.boot = boot
	ctx, cancel := context.WithCancel(context.Background())
	started := make(chan func(), 1)
	go func() {
		timer := time.NewTimer(post)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			started <- func() {}
		case <-timer.C:
			started <- m.startAgent(boot)
		}
	}()
	m.stop = func() { cancel(); (<-started)() }
}

func (m *machine) startAgent(boot Boot) func() {
	stop, err := m.bench.agent.Start(m.t, boot)
	if err != nil {
		m.t.Errorf("start the agent: %v", err)
		return func() {}
	}
	return stop
}

// kill ends what runs. The lock is held.
func (m *machine) kill() {
	if m.stop != nil {
		m.stop()
		m.stop = nil
	}
}

// off is the machine's own power-off; the agent that asks for it is part of
// what ends, so it does not wait.
func (m *machine) off() {
	go func() {
		m.mu.Lock()
		m.kill()
		ended := m.ended
		m.mu.Unlock()
		if ended {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), ironictest.Patience)
		defer cancel()
		if err := m.bench.lab.Emulator.SetPower(ctx, m.uuid, emulator.PowerOff); err != nil {
			m.t.Errorf("tell the BMC: %v", err)
		}
	}()
}

// restart is a power cycle behind Ironic's back.
func (m *machine) restart() {
	go m.cycle()
}

func (m *machine) cycle() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kill()
	if !m.ended {
		m.powerOn(0)
	}
}

// restartAgent ends the agent alone and starts it again in the same boot.
func (m *machine) restartAgent() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kill()
	m.stop = m.startAgent(m.boot)
}

// end takes the power for good.
func (m *machine) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended = true
	m.kill()
}

// bootCount is how often the machine was powered on.
func (m *machine) bootCount() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.boots
}

// token asks Ironic for the token as an agent does; a second one gets none.
func (m *machine) token() string {
	m.t.Helper()
	var answer struct {
		Config struct {
			Token string `json:"agent_token"`
		} `json:"config"`
	}
	err := m.ironic.Call(m.t.Context(), http.MethodGet, "/v1/lookup?addresses="+strings.ReplaceAll(m.mac, ":", "%3A"), nil, &answer)
	if err != nil {
		m.t.Fatal(err)
	}
	return answer.Config.Token
}
