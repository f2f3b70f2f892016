package machine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/test/lab/emulator"
	"github.com/ironflow/ironflow/test/machine/host"
	"github.com/ironflow/ironflow/test/machine/ipa"
)

// maxOrders is how many power requests a machine takes before it has followed them.
const maxOrders = 64

// errPowered ends the work of a state because the power was switched.
var errPowered = errors.New("the power was switched")

// Machine is one simulated machine. It is made by [NewFleet].
type Machine struct {
	fleet    *Fleet
	scenario *scenario.Scenario
	// dir holds everything of the machine, root the live system in it.
	dir    string
	root   hostfile.Dir
	disk   disk
	faults scenario.Faults
	log    *slog.Logger
	// console is the machine's log file, closed by run.
	console *os.File
	orders  chan order

	mu     sync.Mutex
	bmc    emulator.SystemChange
	status Status
	// medium is where the firmware found its medium.
	medium string
	// identity is IPA's within this boot.
	identity *ipa.Identity
}

// order is a switch of the power.
type order struct {
	event Event
	// self says that the machine did it, so that its BMC has to be told.
	self bool
}

// newMachine prepares the machine's folder below dir.
func newMachine(fleet *Fleet, s *scenario.Scenario) (*Machine, error) {
	dir := filepath.Join(fleet.options.Dir, s.Name)
	m := &Machine{
		fleet: fleet, scenario: s, dir: dir, root: hostfile.Dir{Root: filepath.Join(dir, "root")},
		disk: disk{path: filepath.Join(dir, "disk.json")}, orders: make(chan order, maxOrders),
	}
	if fleet.options.Fresh {
		if err := os.RemoveAll(dir); err != nil {
			return nil, fmt.Errorf("machine %s: %w", s.Name, err)
		}
	}
	if err := os.MkdirAll(m.root.Root, 0o755); err != nil {
		return nil, fmt.Errorf("machine %s: %w", s.Name, err)
	}
	path := filepath.Join(dir, "scenario.yaml")
	if err := s.Save(path); err != nil {
		return nil, fmt.Errorf("machine %s: %w", s.Name, err)
	}
	m.faults = scenario.FaultsOf(path, s)
	installed, err := m.disk.read()
	if err != nil {
		return nil, fmt.Errorf("machine %s: %w", s.Name, err)
	}
	m.console, err = os.OpenFile(filepath.Join(dir, "console.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("machine %s: %w", s.Name, err)
	}
	m.log = slog.New(slog.NewTextHandler(m.console, nil))
	m.status = Status{UUID: systemUUID(s), Name: s.Name, State: Off, Since: time.Now(), Disk: installed}
	return m, nil
}

// Take implements bmc.Taker: what the BMC was told is kept, and a switch of the
// power is queued.
func (m *Machine) Take(change emulator.SystemChange) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if change.Change == emulator.ChangePower {
		select {
		case m.orders <- order{event: powerEvent(change.Reset)}:
		default:
			return fmt.Errorf("machine %s has not followed the last %d power requests yet; try again", m.scenario.Name, maxOrders)
		}
	}
	m.bmc = change
	return nil
}

// power queues a switch that the machine makes by itself. It does not wait: the
// one who asks is part of what the switch ends.
func (m *Machine) power(event Event) {
	select {
	case m.orders <- order{event: event, self: true}:
	default:
		m.log.Error("power request dropped", "event", event)
	}
}

// Off implements ipa.Power.
func (m *Machine) Off(context.Context) error { m.power(PowerOff); return nil }

// Reboot implements ipa.Power.
func (m *Machine) Reboot(context.Context) error { m.power(Restart); return nil }

// Status returns what can be seen of the machine now.
func (m *Machine) Status() Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.status
}

// update changes the status and tells whoever watches the fleet.
func (m *Machine) update(change func(*Status)) {
	m.mu.Lock()
	change(&m.status)
	m.mu.Unlock()
	m.fleet.changed()
}

// outcome is how the work of a state ended.
type outcome struct {
	event  Event
	reason error
}

// run is the machine's life: it does the work of its state until that ends or
// the power is switched, and enters the next state.
func (m *Machine) run(ctx context.Context) {
	defer m.console.Close()
	defer host.KillAll(context.WithoutCancel(ctx), m.root.Root)
	for {
		work, end := context.WithCancelCause(ctx)
		done := make(chan outcome, 1)
		go func(state State) { done <- m.work(work, state) }(m.Status().State)
		select {
		case o := <-m.orders:
			end(errPowered)
			<-done
			m.follow(ctx, o)
		case out := <-done:
			end(nil)
			if ctx.Err() != nil {
				return
			}
			m.enter(out.event, out.reason)
		}
	}
}

// follow makes a switch of the power happen: whatever ran is gone at once.
func (m *Machine) follow(ctx context.Context, o order) {
	host.KillAll(ctx, m.root.Root)
	m.keepDisk()
	m.enter(o.event, nil)
	if !o.self || o.event != PowerOff {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if err := m.fleet.emulator().SetPower(ctx, m.status.UUID, emulator.PowerOff); err != nil && ctx.Err() == nil {
		m.log.Error("the BMC does not know that the machine switched itself off", "error", err)
	}
}

// enter takes the machine to the state that follows, if one does.
func (m *Machine) enter(event Event, reason error) {
	from := m.Status().State
	to, ok := next(from, event)
	if !ok {
		m.log.Debug("event without effect", "state", from, "event", event)
		return
	}
	m.update(func(s *Status) {
		s.State, s.Since, s.Reason, s.Agent, s.Step = to, time.Now(), "", "", ""
		s.Stage, s.Percent, s.Text = "", 0, ""
		if reason != nil {
			s.Reason = reason.Error()
		}
		if to == Reading || to == POST {
			s.ReadBytes, s.MediumBytes = 0, 0
		}
	})
	m.log.Info("state", "from", from, "event", event, "to", to)
	if reason != nil {
		m.log.Error("stuck", "reason", reason)
		m.fleet.options.Log.Warn("machine stuck", "machine", m.scenario.Name, "reason", reason)
	}
}
