package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/ironflow/ironflow/agent/dryrun"
	"github.com/ironflow/ironflow/agent/logging"
	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/agent/service"
	"github.com/ironflow/ironflow/agent/state"
	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
)

func TestMain(m *testing.M) {
	if playsProgram() {
		return
	}
	if root := os.Getenv(childEnv); root != "" {
		os.Exit(installingChild(root))
	}
	goleak.VerifyTestMain(m)
}

const bootID = "b5c0ffee-0000-4000-8000-000000000001"

// machine is a pretended host in a folder of its own.
type machine struct {
	dir  hostfile.Dir
	path string
	g    *WithT
	t    *testing.T
}

func newMachine(t *testing.T, faults ...scenario.Fault) *machine {
	g := NewWithT(t)
	root := t.TempDir()
	m := &machine{dir: hostfile.Dir{Root: root}, path: filepath.Join(root, "scenario.yaml"), g: g, t: t}
	s := &scenario.Scenario{
		Name: "node-1",
		Hardware: scenario.Hardware{
			System:    scenario.System{Manufacturer: "Example", Product: "Box", Serial: "SER-1"},
			CPU:       scenario.CPU{Architecture: "x86_64", Model: "Example CPU", Count: 8, MHz: 2400},
			MemoryMiB: 32768,
			NICs:      []scenario.NIC{{Name: "eth0", MAC: "52:54:00:00:00:01", IPv4: []string{"192.0.2.10/24"}, Gateway: "192.0.2.1"}},
			Disks:     []scenario.Disk{{Name: "sda", SizeGiB: 120, Type: "SSD", WWN: "0x5000c500a0000001"}},
		},
		Install: scenario.Install{DefaultStage: scenario.Duration{Duration: 20 * time.Millisecond}},
		Faults:  faults,
	}
	g.Expect(s.Save(m.path)).To(Succeed())
	boot := m.dir.Path(hostfile.BootIDPath())
	g.Expect(os.MkdirAll(filepath.Dir(boot), 0o755)).To(Succeed())
	g.Expect(os.WriteFile(boot, []byte(bootID+"\n"), 0o600)).To(Succeed())
	g.Expect(m.dir.Write(hostfile.StepFile, hostfile.StepState{BootID: bootID, NodeUUID: "node-uuid", StartedAt: time.Unix(1000, 0).UTC()})).To(Succeed())
	t.Setenv("INVOCATION_ID", "0123456789abcdef0123456789abcdef")
	return m
}

// run runs the agent against the hub until it ends by itself.
func (m *machine) run(h *hub) int {
	ctx, cancel := context.WithTimeoutCause(m.t.Context(), time.Minute, errors.New("the test's patience"))
	defer cancel()
	return m.runContext(ctx, h)
}

func (m *machine) runContext(ctx context.Context, h *hub) int {
	return service.Run(ctx, m.config(h))
}

func (m *machine) config(h *hub) service.Config {
	ring := &logging.Ring{}
	return service.Config{
		URL: h.URL, InfraEnvID: infraEnv, AgentVersion: image, Interval: time.Second,
		Dir: m.dir, Dry: dryrun.Settings{Enabled: true, Scenario: m.path},
		Log: slog.New(slog.NewTextHandler(ring, nil)), OwnLog: ring.Bytes,
	}
}

func (m *machine) reason() hostfile.Reason {
	var r hostfile.Reason
	m.g.Expect(m.dir.Read(hostfile.ReasonFile, &r)).To(Succeed())
	return r
}

// installAfterInventory is a hub that installs as soon as it knows the host.
func installAfterInventory(h *hub) wire.Steps {
	switch {
	case !h.replied(wire.StepTypeInventory):
		return instructions(60, step(wire.StepTypeInventory, h.host))
	case len(h.progress) == 0:
		return instructions(60, h.order("/dev/disk/by-id/wwn-0x5000c500a0000001"))
	default:
		return instructions(60)
	}
}

func TestAgentInstallsAndLeavesTheMarker(t *testing.T) {
	m := newMachine(t)
	h := newHub(t, installAfterInventory)
	h.refuse = 1 // a hub that is not ready yet costs two seconds, not the host
	start := time.Now()
	m.g.Expect(m.run(h)).To(Equal(exitcode.AgentInstalled))
	t.Logf("registered, inventoried and installed in %s", time.Since(start).Round(time.Millisecond))

	m.g.Expect(h.registrations).To(Equal(1))
	m.g.Expect(h.stages()).To(Equal([]wire.HostStage{
		"Starting installation", "Installing", "Writing image to disk", "Copying registry data to disk", "Rebooting",
	}))
	m.g.Expect(h.progress).To(ContainElement(wire.HostProgress{CurrentStage: "Writing image to disk", ProgressInfo: "100%"}))
	m.g.Expect(h.logs).To(Equal(1), "logs are sent before the reboot")
	m.g.Expect(h.logStates).To(Equal([]wire.LogsState{"requested", "collecting", "completed"}))
	m.g.Expect(h.replied(wire.StepTypeInstall)).To(BeFalse(), "an accepted order has no reply")

	var inv wire.Inventory
	m.g.Expect(json.Unmarshal([]byte(h.replies[0].Output), &inv)).To(Succeed())
	m.g.Expect(inv.Hostname).To(Equal("node-1"))

	var marker hostfile.Installed
	m.g.Expect(m.dir.Read(hostfile.InstalledFile, &marker)).To(Succeed())
	m.g.Expect(marker.BootID).To(Equal(bootID))
	m.g.Expect(marker.InvocationID).To(Equal("0123456789abcdef0123456789abcdef"))
	m.g.Expect(marker.NodeUUID).To(Equal("node-uuid"))
	m.g.Expect(marker.Disk).To(Equal("/dev/sda"))
	m.g.Expect(m.reason().Exit).To(Equal(0))
}

func TestFailedInstallationEndsWithItsReason(t *testing.T) {
	m := newMachine(t, scenario.Fault{Kind: scenario.FaultInstall, Stage: "Writing image to disk", Text: "I/O error on /dev/sda, sector 4711"})
	h := newHub(t, installAfterInventory)
	m.g.Expect(m.run(h)).To(Equal(exitcode.AgentFailed))

	r := m.reason()
	m.g.Expect(r.Text).To(Equal("I/O error on /dev/sda, sector 4711"))
	m.g.Expect(r.Stage).To(Equal("Writing image to disk"))
	m.g.Expect(r.Percent).To(Equal(50))
	m.g.Expect(r.Exit).To(Equal(90))
	last := h.progress[len(h.progress)-1]
	m.g.Expect(last.CurrentStage).To(Equal(wire.HostStageFailed))
	m.g.Expect(last.ProgressInfo).To(Equal("Writing image to disk: I/O error on /dev/sda, sector 4711"))
	m.g.Expect(h.logs).To(Equal(1))
	m.g.Expect(m.dir.Read(hostfile.InstalledFile, &hostfile.Installed{})).To(MatchError(hostfile.ErrNoState))
}

func TestHubEndsTheInstallation(t *testing.T) {
	m := newMachine(t)
	slow, err := scenario.Load(m.path)
	m.g.Expect(err).NotTo(HaveOccurred())
	slow.Install.DefaultStage.Duration = time.Minute
	m.g.Expect(slow.Save(m.path)).To(Succeed())
	h := newHub(t, func(h *hub) wire.Steps {
		if len(h.progress) > 0 {
			gather, _ := json.Marshal(wire.LogsGatherCmdRequest{ClusterID: cluster, InfraEnvID: infraEnv, HostID: h.host})
			return instructions(120, step(wire.StepTypeLogsGather, string(gather)), step(wire.StepTypeStopInstallation))
		}
		steps := installAfterInventory(h)
		steps.NextInstructionSeconds = 1
		return steps
	})
	m.g.Expect(m.run(h)).To(Equal(exitcode.AgentCancelled))
	m.g.Expect(m.reason().Text).To(Equal("the hub ended the installation"))
	m.g.Expect(m.reason().Stage).To(Equal("Starting installation"))
	m.g.Expect(h.replied(wire.StepTypeStopInstallation)).To(BeTrue())
	m.g.Expect(h.replied(wire.StepTypeLogsGather)).To(BeTrue(), "the logs that were asked for still come")
	m.g.Expect(h.logs).To(Equal(1))
}

func TestImpossibleOrderFailsAtOnce(t *testing.T) {
	m := newMachine(t)
	h := newHub(t, func(h *hub) wire.Steps { return instructions(60, h.order("/dev/sdz")) })
	m.g.Expect(m.run(h)).To(Equal(exitcode.AgentFailed))
	m.g.Expect(m.reason().Text).To(ContainSubstring("/dev/sdz does not exist on this host"))
	m.g.Expect(h.replies).To(ConsistOf(HaveField("ExitCode", int64(-1))))
}

// The hub repeats its order each minute, and udev renews the links of a disk that
// is being written: the order that was taken is carried out.
func TestARepeatedOrderIsNotLookedAtAgain(t *testing.T) {
	m := newMachine(t)
	slow, err := scenario.Load(m.path)
	m.g.Expect(err).NotTo(HaveOccurred())
	slow.Install.DefaultStage.Duration = 2 * time.Second
	m.g.Expect(slow.Save(m.path)).To(Succeed())
	h := newHub(t, func(h *hub) wire.Steps {
		if len(h.progress) > 0 {
			return instructions(1, h.order("/dev/disk/by-id/gone"))
		}
		steps := installAfterInventory(h)
		steps.NextInstructionSeconds = 1
		return steps
	})
	m.g.Expect(m.run(h)).To(Equal(exitcode.AgentInstalled), "%s", m.reason().Text)
	m.g.Expect(h.replies).To(ContainElement(And(
		HaveField("StepType", wire.StepTypeInstall), HaveField("ExitCode", int64(125)),
		HaveField("Error", `the container name "assisted-installer" is already in use`),
	)))
}

// Whoever starts the agent once more after an installation has ended for good
// must not have the disk written without an order.
func TestAnEndedInstallationIsNotResumed(t *testing.T) {
	for name, tc := range map[string]struct {
		faults []scenario.Fault
		stop   bool
		exit   int
	}{
		"failed":           {faults: []scenario.Fault{{Kind: scenario.FaultInstall, Stage: "Writing image to disk", Text: "I/O error"}}, exit: exitcode.AgentFailed},
		"ended by the hub": {stop: true, exit: exitcode.AgentCancelled},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, tc.faults...)
			h := newHub(t, func(h *hub) wire.Steps {
				if tc.stop && len(h.progress) > 0 {
					return instructions(1, step(wire.StepTypeStopInstallation))
				}
				steps := installAfterInventory(h)
				steps.NextInstructionSeconds = 1
				return steps
			})
			if tc.stop {
				slow, err := scenario.Load(m.path)
				m.g.Expect(err).NotTo(HaveOccurred())
				slow.Install.DefaultStage.Duration = time.Minute
				m.g.Expect(slow.Save(m.path)).To(Succeed())
			}
			m.g.Expect(m.run(h)).To(Equal(tc.exit))

			before := h.registrations
			told := len(h.progress)
			ctx, cancel := context.WithCancel(t.Context())
			h.decide = func(h *hub) wire.Steps { cancel(); return instructions(60) }
			m.g.Expect(m.runContext(ctx, h)).To(Equal(exitcode.AgentCancelled))
			m.g.Expect(h.registrations).To(Equal(before+1), "it registers and waits for an order")
			m.g.Expect(h.progress).To(HaveLen(told))
		})
	}
}

func TestRestartedAgentGoesOnWithoutRegistering(t *testing.T) {
	for name, tc := range map[string]struct {
		attempts int
		exit     int
	}{
		"after one crash":        {1, exitcode.AgentInstalled},
		"after too many of them": {3, exitcode.AgentFailed},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			h := newHub(t, func(*hub) wire.Steps { return instructions(60) })
			h.host = "33333333-3333-4333-8333-333333333333"
			var order wire.InstallCmdRequest
			m.g.Expect(json.Unmarshal([]byte(h.order("/dev/sda").Args[0]), &order)).To(Succeed())
			kept := state.Open(m.dir)
			host := kept.Get().Host
			host.InfraEnvID, host.HostID = infraEnv, h.host
			m.g.Expect(kept.SetHost(host)).To(Succeed())
			m.g.Expect(kept.SetInstall(&state.Install{Request: order, Attempt: tc.attempts, Stage: wire.HostStageWritingImageToDisk})).To(Succeed())

			m.g.Expect(m.run(h)).To(Equal(tc.exit))
			m.g.Expect(h.registrations).To(BeZero(), "a registration would fail the installation")
			if tc.exit == exitcode.AgentInstalled {
				m.g.Expect(h.stages()).To(Equal([]wire.HostStage{
					"Writing image to disk", "Copying registry data to disk", "Rebooting",
				}), "the hub never sees a stage below the one it knows")
				return
			}
			m.g.Expect(m.reason().Text).To(ContainSubstring("ended 3 times without a last word"))
			m.g.Expect(h.stages()).To(Equal([]wire.HostStage{wire.HostStageFailed}))
		})
	}
}

func TestAgentThatDiedAfterItsMarkerWritesNoDiskAgain(t *testing.T) {
	m := newMachine(t)
	h := newHub(t, func(*hub) wire.Steps { return instructions(60) })
	h.host = "33333333-3333-4333-8333-333333333333"
	var order wire.InstallCmdRequest
	m.g.Expect(json.Unmarshal([]byte(h.order("/dev/sda").Args[0]), &order)).To(Succeed())
	kept := state.Open(m.dir)
	m.g.Expect(kept.SetInstall(&state.Install{Request: order, Attempt: 1, Stage: wire.HostStageRebooting})).To(Succeed())
	marker := hostfile.Installed{BootID: bootID, InvocationID: "an earlier run's"}
	m.g.Expect(m.dir.Write(hostfile.InstalledFile, marker)).To(Succeed())

	m.g.Expect(m.run(h)).To(Equal(exitcode.AgentInstalled))
	m.g.Expect(h.registrations).To(BeZero())
	m.g.Expect(h.stages()).To(BeEmpty())
	var left hostfile.Installed
	m.g.Expect(m.dir.Read(hostfile.InstalledFile, &left)).To(Succeed())
	m.g.Expect(left).To(Equal(marker), "confirm_install looks for the run that installed")
}

func TestStopFromBeforeDoesNotEndTheAgent(t *testing.T) {
	m := newMachine(t)
	ctx, cancel := context.WithCancel(t.Context())
	h := newHub(t, func(h *hub) wire.Steps {
		if h.replied(wire.StepTypeStopInstallation) {
			cancel()
		}
		return instructions(1, step(wire.StepTypeStopInstallation))
	})
	m.g.Expect(m.runContext(ctx, h)).To(Equal(exitcode.AgentCancelled))
	m.g.Expect(m.reason().Text).To(Equal("the agent was stopped by its caller"))
}

func TestWhoStoppedTheAgentIsInItsReason(t *testing.T) {
	m := newMachine(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	h := newHub(t, func(h *hub) wire.Steps {
		cancel(errors.New(`the signal "terminated"`))
		return instructions(60)
	})
	m.g.Expect(m.runContext(ctx, h)).To(Equal(exitcode.AgentCancelled))
	m.g.Expect(m.reason().Text).To(Equal(`the agent was stopped by the signal "terminated"`))
}

func TestManyAgentsLiveInOneProcess(t *testing.T) {
	h := newHub(t, func(*hub) wire.Steps { return instructions(60) })
	ctx, cancel := context.WithCancel(t.Context())
	var agents sync.WaitGroup
	said := make([]string, 3)
	for i := range said {
		m := newMachine(t)
		config := m.config(h)
		config.Dry.HostID = fmt.Sprintf("33333333-3333-4333-8333-00000000000%d", i)
		var once sync.Once
		config.Notify = func(state string) error {
			if state == "READY=1" {
				once.Do(func() { said[i] = state })
			}
			return nil
		}
		agents.Go(func() { service.Run(ctx, config) })
	}
	NewWithT(t).Eventually(func() int { h.mu.Lock(); defer h.mu.Unlock(); return len(h.hosts) }).WithTimeout(time.Minute).Should(Equal(3))
	cancel()
	agents.Wait()
	NewWithT(t).Expect(said).To(HaveEach("READY=1"), "each has a service manager of its own")
}

func TestRepliesSurviveACrash(t *testing.T) {
	m := newMachine(t)
	const id = "33333333-3333-4333-8333-333333333333"
	m.g.Expect(os.MkdirAll(m.dir.Path(hostfile.RunDir), 0o755)).To(Succeed())
	m.g.Expect(os.WriteFile(m.dir.Path("/run/ironflow/outbox.json"), []byte(`{"boot_id":"`+bootID+`","host":{"infra_env_id":"`+infraEnv+
		`","host_id":"`+id+`"},"replies":[{"step_type":"installation-disk-speed-check","step_id":"installation-disk-speed-check-1","output":"{}"},
		{"step_type":"install","step_id":"install-1","exit_code":-1,"error":"of an earlier life"}]}`), 0o600)).To(Succeed())
	ctx, cancel := context.WithCancel(t.Context())
	h := newHub(t, func(h *hub) wire.Steps {
		if len(h.replies) > 0 {
			cancel()
		}
		return instructions(1)
	})
	config := m.config(h)
	config.Dry.HostID = id
	m.g.Expect(service.Run(ctx, config)).To(Equal(exitcode.AgentCancelled))
	m.g.Expect(h.replies).To(Equal([]wire.StepReply{{StepType: "installation-disk-speed-check", StepID: "installation-disk-speed-check-1", Output: "{}"}}))
}

func TestConfigIsChecked(t *testing.T) {
	g := NewWithT(t)
	g.Expect(service.Run(t.Context(), service.Config{Log: slog.New(slog.DiscardHandler)})).To(Equal(service.ExitUsage))
	err := service.Config{}.Check()
	g.Expect(err).To(MatchError(And(ContainSubstring("--url"), ContainSubstring("--infra-env-id"), ContainSubstring("--interval"))))
}
