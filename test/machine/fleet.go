// Package machine simulates bare machines behind emulated BMCs, so truthfully
// that Ironic, its agent protocol and Ironflow's host programs meet nothing else
// than on hardware.
//
// A machine follows its BMC: powered on, it reads its virtual medium by ranges
// (package boot), writes the embedded Ignition config to a folder that plays its
// root directory (package host), and runs an IPA (package ipa) in this process.
// A deploy step is the real ironflow-step as a child process, whose stand-in for
// systemd runs the real agent. A power-off kills all of it; an installation
// stays on the disk, and the machine then boots from that. [Fleet] is the
// library's entry, [Fleet.States] what can be seen; the state table is in
// state.go, what may go wrong in package agent/scenario.
package machine

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/test/lab/emulator"
	"github.com/ironflow/ironflow/test/machine/bmc"
	"github.com/ironflow/ironflow/test/machine/boot"
	"github.com/ironflow/ironflow/test/machine/host"
	"github.com/ironflow/ironflow/test/machine/ipa"
)

// LabPace makes IPA as impatient as a lab can bear: Ironic goes on a second
// after a step instead of five. Beyond that it would only lose heartbeats, which
// it drops while it works on a node.
var LabPace = ipa.Pace{Forced: time.Second, Retry: time.Second, Lookup: 500 * time.Millisecond, Conflict: time.Second, Inspect: time.Second}

// BMC is the machines' side of the emulator: what they tell it by themselves.
type BMC interface {
	Add(ctx context.Context, system emulator.System) error
	SetPower(ctx context.Context, uuid string, power emulator.Power) error
	Remove(ctx context.Context, uuid string) error
}

// imagePatience is how long a BMC tries to reach the image server again.
const imagePatience = 30 * time.Second

// Options describe a fleet.
type Options struct {
	// Dir keeps a folder for each machine: scenario, console and step logs, root
	// directory, and what is installed on its disk.
	Dir string
	// Fresh begins with empty machines: what an earlier fleet has left in their
	// folders (disks, counted faults, logs) is removed.
	Fresh bool
	// BinDir holds ironflow-step (built with the tag standin) and ironflow-agent.
	BinDir string
	// Scenarios are the machines; names and hardware ids must differ.
	Scenarios []*scenario.Scenario
	// Certificate lets the receiver of the BMCs' notifications speak HTTPS. Nil: HTTP.
	Certificate *tls.Certificate
	// ImageCAFile is what BMCs trust for images behind HTTPS. Empty: the system's CAs.
	ImageCAFile string
	// IronicCAFile is what IPA trusts for Ironic when its image brings no CA.
	IronicCAFile string
	// Pace is IPA's patience; zero fields are those of the real agent.
	Pace ipa.Pace
	// Log takes what concerns the fleet; each machine has its console.log.
	Log *slog.Logger
}

// Fleet is a set of running machines.
type Fleet struct {
	options  Options
	receiver *bmc.Receiver
	starter  *host.Starter
	janitor  *host.Janitor
	images   *http.Client
	machines []*Machine
	byUUID   map[string]*Machine
	life     context.Context
	end      context.CancelFunc
	wg       sync.WaitGroup

	mu      sync.Mutex
	bmc     BMC
	changes chan struct{}
}

// NewFleet prepares the machines, powered off, and listens for their BMCs'
// notifications at [Fleet.NotifierURL]. The emulator can then be started, and
// [Fleet.Plug] connects the two. Close ends everything.
func NewFleet(o Options) (*Fleet, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	var err error
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return nil, err
	}
	if o.BinDir, err = filepath.Abs(o.BinDir); err != nil {
		return nil, err
	}
	f := &Fleet{
		options: o, starter: host.NewStarter(), byUUID: map[string]*Machine{}, bmc: unplugged{}, changes: make(chan struct{}),
	}
	f.life, f.end = context.WithCancel(context.Background())
	if err := f.prepare(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	for _, m := range f.machines {
		f.wg.Go(func() { m.run(f.life) })
	}
	return f, nil
}

func (f *Fleet) prepare() error {
	var err error
	if f.janitor, err = host.StartJanitor(f.options.Dir); err != nil {
		return err
	}
	roots, err := pool(f.options.ImageCAFile)
	if err != nil {
		return err
	}
	f.images = &http.Client{Transport: boot.Reconnect{For: imagePatience, Base: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, MaxIdleConnsPerHost: 64,
		ResponseHeaderTimeout: time.Minute,
	}}}
	for _, s := range f.options.Scenarios {
		id := systemUUID(s)
		if other, ok := f.byUUID[id]; ok {
			return fmt.Errorf("machines %s and %s have the same system UUID %s", other.scenario.Name, s.Name, id)
		}
		m, err := newMachine(f, s)
		if err != nil {
			return err
		}
		f.machines, f.byUUID[id] = append(f.machines, m), m
	}
	f.receiver, err = bmc.Listen(f.options.Certificate, f.Find, f.options.Log)
	return err
}

// systemUUID is the id of the machine's system at its BMC.
func systemUUID(s *scenario.Scenario) string {
	return strings.ToLower(cmp.Or(s.Hardware.System.UUID, uuid.NewSHA1(uuid.NameSpaceOID, []byte("ironflow machine "+s.Name)).String()))
}

func pool(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(raw) {
		return nil, fmt.Errorf("%s holds no certificate", file)
	}
	return roots, nil
}

// Find is the machine behind a BMC, for a notifier that other machines share.
func (f *Fleet) Find(uuid string) (bmc.Taker, bool) {
	m, ok := f.byUUID[strings.ToLower(uuid)]
	return m, ok
}

// NotifierURL is where the emulator must send its notifications.
func (f *Fleet) NotifierURL() string { return f.receiver.URL() }

// NotifierCredentials are what the emulator must send along. The password is secret.
func (f *Fleet) NotifierCredentials() (user, password string) { return f.receiver.Credentials() }

// unplugged is the BMC of machines that have none yet.
type unplugged struct{}

var errUnplugged = errors.New("the machines are not connected to their BMCs yet")

func (unplugged) Add(context.Context, emulator.System) error             { return errUnplugged }
func (unplugged) SetPower(context.Context, string, emulator.Power) error { return errUnplugged }
func (unplugged) Remove(context.Context, string) error                   { return errUnplugged }

func (f *Fleet) emulator() BMC {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.bmc
}

// Plug connects the machines to their BMCs: each becomes a system, powered off.
func (f *Fleet) Plug(ctx context.Context, emulator BMC) error {
	f.mu.Lock()
	f.bmc = emulator
	f.mu.Unlock()
	for _, m := range f.machines {
		if err := emulator.Add(ctx, m.system()); err != nil {
			return fmt.Errorf("machine %s: %w", m.scenario.Name, err)
		}
	}
	return nil
}

// system is the machine as its BMC knows it.
func (m *Machine) system() emulator.System {
	system := emulator.System{UUID: m.Status().UUID, Name: m.scenario.Name, PowerState: emulator.PowerOff}
	for _, nic := range m.scenario.Hardware.NICs {
		system.NICs = append(system.NICs, emulator.NIC{MAC: strings.ToLower(nic.MAC)})
	}
	return system
}

// States returns what can be seen of every machine now, in the order of the scenarios.
func (f *Fleet) States() []Status {
	out := make([]Status, len(f.machines))
	for i, m := range f.machines {
		out[i] = m.Status()
	}
	return out
}

// State returns what can be seen of one machine, by its name.
func (f *Fleet) State(name string) (Status, bool) {
	for _, m := range f.machines {
		if m.scenario.Name == name {
			return m.Status(), true
		}
	}
	return Status{}, false
}

// System returns the machine as its BMC knows it, by its name; empty if there is none.
func (f *Fleet) System(name string) emulator.System {
	for _, m := range f.machines {
		if m.scenario.Name == name {
			return m.system()
		}
	}
	return emulator.System{}
}

// Changed returns a channel that is closed at the next change of any machine.
// Take it before looking at [Fleet.States], and no change is missed.
func (f *Fleet) Changed() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changes
}

func (f *Fleet) changed() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.changes)
	f.changes = make(chan struct{})
}

// WaitFor waits until the machine with that name is as the condition says, and
// returns it as it then was. On the end of the context the error tells how the
// machine was last.
func (f *Fleet) WaitFor(ctx context.Context, name string, condition func(Status) bool) (Status, error) {
	for {
		change := f.Changed()
		s, ok := f.State(name)
		if !ok {
			return s, fmt.Errorf("no machine is called %q", name)
		}
		if condition(s) {
			return s, nil
		}
		select {
		case <-change:
		case <-ctx.Done():
			return s, fmt.Errorf("machine %s is %s (agent %q, step %q, reason %q): %w", name, s.State, s.Agent, s.Step, s.Reason, context.Cause(ctx))
		}
	}
}

// Processes lists the processes that run in the machines, for tests that prove
// that none is left.
func (f *Fleet) Processes() []int {
	var out []int
	for _, m := range f.machines {
		out = append(out, host.Processes(m.root.Root)...)
	}
	return out
}

// Close takes the power from all machines and returns when nothing is left of them.
func (f *Fleet) Close() error {
	f.end()
	f.wg.Wait()
	f.starter.Close()
	if f.images != nil {
		f.images.CloseIdleConnections()
	}
	var errs []error
	if f.receiver != nil {
		errs = append(errs, f.receiver.Close())
	}
	if f.janitor != nil {
		errs = append(errs, f.janitor.Close())
	}
	return errors.Join(errs...)
}
