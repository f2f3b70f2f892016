package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/ironflow/ironflow/agent/dryrun"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/agent/service"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/test/bench/usage"
)

// registerPatience bounds the registration of the whole fleet.
const registerPatience = 10 * time.Minute

// load is a fleet of agents in one process.
type load struct {
	order  loadOrder
	folder string

	mu         sync.Mutex
	registered map[int]bool
	all        chan struct{} // closed when the last one is registered
	polls      map[int][]poll
	warnings   map[string]int
	stopping   bool
}

// poll is one answered poll: when the answer was there, and how long it took.
type poll struct {
	at   time.Time
	took time.Duration
}

// beFleet runs the agents: the same code as the program, each with its own root
// directory, scenario file, identity and connection.
func beFleet(ctx context.Context, o options) error {
	l := &load{registered: map[int]bool{}, all: make(chan struct{}), polls: map[int][]poll{}, warnings: map[string]int{}}
	if err := json.Unmarshal([]byte(o.load), &l.order); err != nil {
		return err
	}
	var err error
	// In memory, as a live system has it.
	if l.folder, err = os.MkdirTemp("/dev/shm", "bench-agent-"); err != nil {
		return err
	}
	defer os.RemoveAll(l.folder)
	configs := make([]service.Config, l.order.Agents)
	for i := range configs {
		if configs[i], err = l.agent(i); err != nil {
			return err
		}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	begin := time.Now()
	var agents sync.WaitGroup
	for _, config := range configs {
		agents.Go(func() { service.Run(ctx, config) })
	}
	report, err := l.watch(ctx, begin)
	l.mu.Lock()
	l.stopping = true
	l.mu.Unlock()
	stop()
	agents.Wait()
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(report)
}

// watch waits for the registrations, watches the fleet and reports.
func (l *load) watch(ctx context.Context, begin time.Time) (loadReport, error) {
	var r loadReport
	select {
	case <-ctx.Done():
		return r, ctx.Err()
	case <-time.After(registerPatience):
		l.mu.Lock()
		defer l.mu.Unlock()
		return r, fmt.Errorf("only %d of %d agents have registered; %v", len(l.registered), l.order.Agents, l.warnings)
	case <-l.all:
	}
	r.Registered = time.Since(begin).Seconds()
	select {
	case <-ctx.Done():
		return r, ctx.Err()
	case <-time.After(l.order.Watch):
	}
	own, err := usage.Of(os.Getpid())
	if err != nil {
		return r, err
	}
	r.RSS = mib(own.Resident)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sum(&r, time.Now())
	return r, nil
}

// sum reads the polls; the caller holds the lock. The time since an agent's last
// poll counts like one between two, so that nobody is silent unseen.
func (l *load) sum(r *loadReport, now time.Time) {
	var cycles, answers []float64
	for i := range l.order.Agents {
		polls := l.polls[i]
		for n, p := range polls {
			answers = append(answers, p.took.Seconds())
			if n > 0 {
				cycles = append(cycles, p.at.Sub(polls[n-1].at).Seconds())
			}
		}
		if len(polls) == 0 || now.Sub(polls[len(polls)-1].at) > time.Minute {
			r.Silent++
		}
		r.Polls += len(polls)
	}
	if len(cycles) == 0 {
		return
	}
	slices.Sort(cycles)
	slices.Sort(answers)
	r.Cycle, r.CycleP50, r.CycleP99 = cycles[len(cycles)-1], cycles[len(cycles)/2], cycles[len(cycles)*99/100]
	r.Answer, r.AnswerP99 = answers[len(answers)-1], answers[len(answers)*99/100]
	r.Warnings = maps.Clone(l.warnings)
}

// agent prepares the i-th agent.
func (l *load) agent(i int) (service.Config, error) {
	dir := hostfile.Dir{Root: filepath.Join(l.folder, fmt.Sprint(i))}
	boot := dir.Path(hostfile.BootIDPath())
	err := errors.Join(os.MkdirAll(filepath.Dir(boot), 0o755), os.WriteFile(boot, fmt.Appendf(nil, "b0000000-0000-4000-8000-%012d\n", i), 0o600))
	if err != nil {
		return service.Config{}, err
	}
	path := filepath.Join(dir.Root, "scenario.yaml")
	if err := machine(i).Save(path); err != nil {
		return service.Config{}, err
	}
	ca, err := os.ReadFile(l.order.CA)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir.Root, "ca.crt"), ca, 0o600) //nolint:gosec // a folder of its own
	}
	return service.Config{
		URL: l.order.URL, InfraEnvID: l.order.InfraEnv, AgentVersion: agentImage, Interval: time.Minute, CACert: "/ca.crt", Dir: dir,
		Dry:   dryrun.Settings{Enabled: true, Scenario: path},
		Token: hubclient.GivenToken(os.Getenv(hubclient.TokenEnv)),
		Notify: func(state string) error {
			if state == "READY=1" {
				l.ready(i)
			}
			return nil
		},
		Polled: func(took time.Duration) { l.polled(i, took) },
		Log:    slog.New(&counter{load: l}), OwnLog: func() []byte { return nil },
	}, err
}

// machine is the hardware of the i-th host.
func machine(i int) *scenario.Scenario {
	address := fmt.Sprintf("10.%d.%d.%d", 1+i>>16&0x7f, i>>8&0xff, i&0xff)
	return &scenario.Scenario{
		Name: fmt.Sprintf("node-%d", i),
		Hardware: scenario.Hardware{
			System:    scenario.System{Manufacturer: "Example", Product: "Box", Serial: fmt.Sprintf("SER-%d", i)},
			CPU:       scenario.CPU{Architecture: "x86_64", Model: "Example CPU", Count: 32, MHz: 2400, Flags: []string{"vmx", "sse4_2", "avx2"}},
			MemoryMiB: 131072,
			NICs: []scenario.NIC{
				{Name: "eno1", MAC: fmt.Sprintf("52:54:00:%02x:%02x:%02x", i>>16&0xff, i>>8&0xff, i&0xff), IPv4: []string{address + "/8"}, Gateway: "10.0.0.1", SpeedMbps: 25000},
				{Name: "eno2", MAC: fmt.Sprintf("52:54:01:%02x:%02x:%02x", i>>16&0xff, i>>8&0xff, i&0xff), SpeedMbps: 25000},
			},
			Disks: []scenario.Disk{
				{Name: "nvme0n1", SizeGiB: 960, Type: "NVME", Serial: fmt.Sprintf("N-%d", i), WWN: fmt.Sprintf("eui.%016x", i)},
				{Name: "sda", SizeGiB: 4000, Type: "HDD", Serial: fmt.Sprintf("D-%d", i), WWN: fmt.Sprintf("0x5000c500%08x", i)},
			},
		},
	}
}

func (l *load) ready(i int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.registered[i] = true; len(l.registered) == l.order.Agents {
		select {
		case <-l.all:
		default:
			close(l.all)
		}
	}
}

func (l *load) polled(i int, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.polls[i] = append(l.polls[i], poll{time.Now(), took})
}

// counter is a log handler that counts what goes wrong.
type counter struct{ load *load }

func (c *counter) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

func (c *counter) Handle(_ context.Context, r slog.Record) error {
	c.load.mu.Lock()
	defer c.load.mu.Unlock()
	if !c.load.stopping {
		c.load.warnings[r.Message]++
	}
	return nil
}

func (c *counter) WithAttrs([]slog.Attr) slog.Handler { return c }
func (c *counter) WithGroup(string) slog.Handler      { return c }
