package edge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/agent/agentbased/units"
	"github.com/ironflow/ironflow/test/bench/usage"
	"github.com/ironflow/ironflow/test/edge/live"
	"github.com/ironflow/ironflow/test/systemd/booted"
	"github.com/ironflow/ironflow/test/systemd/cable"
)

// Systemd returns the root file system of hosts that are booted systemds. An error says what
// this computer lacks for them.
func Systemd(ctx context.Context, say func(format string, args ...any)) (string, error) {
	if lacks := booted.Lacks(); lacks != "" {
		return "", errors.New(lacks)
	}
	return booted.Rootfs(ctx, booted.Packages, say)
}

// beginMachines boots a systemd for each host, and has it do the rest.
func (s *Site) beginMachines(ctx context.Context) error {
	config, err := s.image(ctx)
	if err != nil {
		return err
	}
	s.url = "http://" + addressOf(0) + ":8090/"
	var ends []cable.End
	for i := range s.options.Hosts {
		dir := filepath.Join(s.options.Dir, nameOf(i))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		m, err := booted.Boot(ctx, s.options.Root, dir)
		if err != nil {
			return fmt.Errorf("boot %s: %w", nameOf(i), err)
		}
		s.machines, s.hosts = append(s.machines, m), append(s.hosts, host{nameOf(i), m.Host})
		programs := live.Programs{Agent: s.program("ironflow-agent"), AgentBased: s.program("ironflow-agent-based")}
		if i == 0 {
			programs.Hub = s.program("ironflow")
		}
		if err := errors.Join(live.Install(m, config, programs), live.Pretend(ctx, m, s.machine(i, "EDGE-"+uuid.NewString()))); err != nil {
			return fmt.Errorf("give %s the image: %w", nameOf(i), err)
		}
		ends = append(ends, cable.End{Namespace: m.Network(), MAC: macOf(i), Address: addressOf(i) + "/24"})
	}
	if err := cable.Lay(ends); err != nil {
		return err
	}
	s.client = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DialContext: s.machines[0].Dial}}
	s.booted = time.Now()
	for i, m := range s.machines {
		if err := live.Start(ctx, m, units.Automated); err != nil {
			return err
		}
		s.options.Say("%s boots the image: systemd starts its units", nameOf(i))
	}
	return nil
}

func (s *Site) program(name string) string { return filepath.Join(s.options.BinDir, name) }

// machinePeak is the most memory that the hub has had, whose process is one of a machine's.
func (s *Site) machinePeak() (int64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	pid, err := s.machines[0].Run(ctx, "systemctl", "show", "--value", "--property=MainPID", units.HubUnit)
	if err != nil {
		return 0, err
	}
	u, err := usage.In(s.machines[0].Host.Path("/proc"), pid)
	return u.Peak, err
}

// saveJournals writes what each machine has said into the folder of logs.
func (s *Site) saveJournals() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var errs []error
	for i, m := range s.machines {
		out, err := m.Run(ctx, "journalctl", "--no-pager", "--quiet")
		errs = append(errs, err, put(filepath.Join(s.Logs(), nameOf(i)+".log"), out))
	}
	return errors.Join(errs...)
}
