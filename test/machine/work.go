package machine

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/test/liveimage"
	"github.com/ironflow/ironflow/test/machine/boot"
	"github.com/ironflow/ironflow/test/machine/host"
	"github.com/ironflow/ironflow/test/machine/ipa"
	"github.com/ironflow/ironflow/test/systemd/standin"
)

const (
	// truncatedAt is where a medium ends for a machine with that fault.
	truncatedAt = 0.6
	// restartIPA is how long systemd waits before it starts IPA again.
	restartIPA = 5 * time.Second
)

// work does what a machine does in the state, until it is over or the context
// ends; the outcome then does not matter.
func (m *Machine) work(ctx context.Context, state State) outcome {
	switch state {
	case POST:
		return m.post(ctx)
	case Reading:
		return m.readMedium(ctx)
	case Booting:
		return m.bootMedium(ctx)
	case Live:
		return outcome{Failed, m.live(ctx)}
	case DiskBooting:
		pause(ctx, m.scenario.Timing.DiskBoot.Duration)
		return outcome{Up, nil}
	default:
		<-ctx.Done()
		return outcome{}
	}
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// post waits for the firmware and lets it choose what to boot.
func (m *Machine) post(ctx context.Context) outcome {
	pause(ctx, m.scenario.Timing.POST.Duration)
	if ctx.Err() != nil {
		return outcome{}
	}
	m.mu.Lock()
	medium, err := bootSource(m.bmc, m.status.Disk != nil)
	m.medium = medium
	m.mu.Unlock()
	m.update(func(s *Status) { s.Boots++ })
	switch {
	case err != nil:
		return outcome{Failed, err}
	case medium == "":
		return outcome{FoundDisk, nil}
	}
	fault, ok, err := m.faults.Take(scenario.FaultNoBoot, "")
	if err == nil && ok {
		err = fmt.Errorf("the machine does not boot its medium: %s", cmp.Or(fault.Text, "no boot device found"))
	}
	if err != nil {
		return outcome{Failed, err}
	}
	return outcome{FoundMedium, nil}
}

func (m *Machine) mediumFile() string { return filepath.Join(m.dir, "medium.iso") }

// readMedium lets the BMC read the medium into a file of the machine.
func (m *Machine) readMedium(ctx context.Context) outcome {
	reader := boot.Reader{
		Client: m.fleet.images, MiBps: m.scenario.Timing.ReadMiBps,
		Progress: func(read, size int64) {
			m.update(func(s *Status) { s.ReadBytes, s.MediumBytes = max(s.ReadBytes, read), size })
		},
	}
	_, truncated, err := m.faults.Take(scenario.FaultTruncatedRead, "")
	if err != nil {
		return outcome{Failed, err}
	}
	if truncated {
		reader.TruncateAt = truncatedAt
	}
	file, err := os.Create(m.mediumFile())
	if err != nil {
		return outcome{Failed, err}
	}
	defer file.Close()
	m.log.Info("reading the medium", "from", boot.Place(m.medium))
	if _, err := reader.Read(ctx, m.medium, file); err != nil {
		return outcome{Failed, fmt.Errorf("boot from virtual media: %w", err)}
	}
	return outcome{Read, nil}
}

// bootMedium makes the live system of the medium's Ignition config.
func (m *Machine) bootMedium(ctx context.Context) outcome {
	pause(ctx, m.scenario.Timing.Boot.Duration)
	if err := m.makeRoot(); err != nil {
		return outcome{Failed, fmt.Errorf("the live system does not start: %w", err)}
	}
	return outcome{Up, nil}
}

func (m *Machine) makeRoot() error {
	medium, err := os.Open(m.mediumFile())
	if err != nil {
		return err
	}
	defer medium.Close()
	defer os.Remove(m.mediumFile()) // the live system runs from memory
	info, err := medium.Stat()
	if err != nil {
		return err
	}
	ignition, err := liveimage.Ignition(medium, info.Size())
	if err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(m.root.Root), os.Mkdir(m.root.Root, 0o755)); err != nil {
		return err
	}
	root, err := os.OpenRoot(m.root.Root)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	system, err := host.Write(root, ignition)
	if err != nil {
		return err
	}
	if err := system.Check(); err != nil {
		return err
	}
	return m.startKernel(root)
}

// startKernel gives the boot its id and what the stand-in for systemd needs.
func (m *Machine) startKernel(root *os.Root) error {
	id := uuid.NewString()
	for name, text := range map[string]string{
		hostfile.BootIDPath(): id + "\n",
		standin.ExtraEnv: strings.Join([]string{
			"DRY_ENABLE=true", hostfile.RootEnv + "=" + m.root.Root, "DRY_SCENARIO=" + m.faults.Path, "",
		}, "\n"),
	} {
		name = strings.TrimPrefix(name, "/")
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := root.WriteFile(name, []byte(text), 0o600); err != nil {
			return err
		}
	}
	m.mu.Lock()
	m.identity = &ipa.Identity{}
	m.mu.Unlock()
	m.update(func(s *Status) { s.BootID = id })
	return nil
}

// live runs IPA as its unit does: again after it ended, within the same boot.
// The error is one that a restart would not mend.
func (m *Machine) live(ctx context.Context) error {
	config, err := m.ipaConfig()
	if err != nil {
		return err
	}
	roots, err := m.ironicCAs(config)
	if err != nil {
		return err
	}
	options := ipa.Options{
		Config: config, Roots: roots, Inventory: ipa.NewInventory(m.scenario),
		Managers: []ipa.Manager{newPlugin(m), genericManager{m}}, Power: m, Pace: m.fleet.options.Pace,
		WriteImage: m.imageWriter(roots),
		Logs: func(context.Context) ([]byte, error) {
			return host.Logs(m.root.Root, map[string]string{"console.log": m.console.Name(), "step.log": m.stepLog()})
		},
		Identity: m.identity, Log: m.log,
		Observe: func(p ipa.Phase) { m.update(func(s *Status) { s.Agent = p }) },
	}
	for ctx.Err() == nil {
		if err := ipa.Run(ctx, options); err != nil {
			m.log.Error("IPA ended and is started again", "error", err)
			m.update(func(s *Status) { s.Reason = err.Error() })
			pause(ctx, restartIPA)
		}
	}
	return ctx.Err()
}

func (m *Machine) ipaConfig() (ipa.Config, error) {
	file, err := os.Open(m.root.Path(hostfile.IPAConfig))
	if errors.Is(err, fs.ErrNotExist) {
		return ipa.Config{}, fmt.Errorf("IPA cannot start: the image has no %s", hostfile.IPAConfig)
	}
	if err != nil {
		return ipa.Config{}, err
	}
	defer file.Close()
	return ipa.ReadConfig(file)
}

// ironicCAs returns what the live system trusts for Ironic: the file that IPA's
// configuration names, the image's own, or the fleet's.
func (m *Machine) ironicCAs(config ipa.Config) (*x509.CertPool, error) {
	var files []string
	if config.CAFile != "" {
		files = append(files, m.root.Path(config.CAFile))
	}
	files = append(files, m.root.Path(hostfile.IronicCA))
	if m.fleet.options.IronicCAFile != "" {
		files = append(files, m.fleet.options.IronicCAFile)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(raw) {
			return nil, fmt.Errorf("IPA cannot start: %s holds no certificate", file)
		}
		return pool, nil
	}
	return nil, nil
}
