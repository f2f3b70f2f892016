package demo

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/progress"
	"github.com/ironflow/ironflow/test/machine"
	"github.com/ironflow/ironflow/test/media"
	"github.com/ironflow/ironflow/test/scenario/generate"
)

// heartbeat is how long a ramdisk may be silent; it beats at about half of that.
// Ironic drops a beat that meets a locked node, and with many hosts and its usual
// five minutes, a machine would then stand still for up to three.
const heartbeat = 40 * time.Second

// bringUp starts the machines, the lab and Ironflow.
func (d *demo) bringUp(ctx context.Context) error {
	if err := d.makeDir(); err != nil {
		return err
	}
	if err := d.startMachines(); err != nil {
		return err
	}
	if err := d.startLab(ctx); err != nil {
		return err
	}
	if err := d.fleet.Plug(ctx, d.lab.Emulator); err != nil {
		return fmt.Errorf("connect the machines to their BMCs: %w", err)
	}
	d.describeMachines()
	var err error
	if d.client, err = newClient(d.lab.ControlPlane.Config()); err != nil {
		return err
	}
	if err := installCRDs(ctx, d.client); err != nil {
		return fmt.Errorf("install the CRDs: %w", err)
	}
	if err := lab.InstallAdmission(ctx, d.lab.ControlPlane.Config()); err != nil {
		return fmt.Errorf("install the admission rules: %w", err)
	}
	return d.startIronflow(ctx)
}

func (d *demo) makeDir() error {
	d.dir = d.options.StateDir
	var err error
	if d.dir == "" {
		d.dir, err = os.MkdirTemp("", "ironflow-demo-")
	} else {
		err = os.MkdirAll(d.dir, 0o700)
	}
	if err != nil {
		return fmt.Errorf("make the folder of state: %w; choose another one with --state-dir", err)
	}
	d.dir, err = filepath.Abs(d.dir)
	return err
}

func (d *demo) startMachines() error {
	scenarios := generate.Machines(d.options.Hosts, generate.Options{})
	scenarios[0].Faults = append([]scenario.Fault(nil), faults[d.options.Fault].machine...)
	var err error
	d.fleet, err = machine.NewFleet(machine.Options{
		Dir:       filepath.Join(d.dir, "machines"),
		BinDir:    filepath.Join(d.options.BinDir, "lab"),
		Scenarios: scenarios,
		Fresh:     true,
		Pace:      machine.LabPace,
	})
	if err != nil {
		return fmt.Errorf("prepare the simulated machines: %w", err)
	}
	for _, s := range scenarios {
		spec := machineSpec{name: s.Name, bootMAC: strings.ToLower(s.Hardware.NICs[0].MAC)}
		if len(s.Hardware.Disks) > 0 {
			spec.rootSerial = s.Hardware.Disks[0].Serial
		}
		d.machines = append(d.machines, spec)
	}
	return nil
}

func (d *demo) startLab(ctx context.Context) error {
	user, password := d.fleet.NotifierCredentials()
	ironic := &lab.IronicOptions{CallbackTimeout: faults[d.options.Fault].timeout, HeartbeatTimeout: heartbeat}
	var err error
	d.lab, err = lab.Start(ctx, lab.Options{
		StateDir: d.dir,
		Progress: func(e progress.Event) { d.screen.Say("%s", e) },
		ControlPlane: &lab.ControlPlaneOptions{
			Controllers: true,
		},
		Ironic: ironic,
		Emulator: &lab.EmulatorOptions{
			NotifierURL: d.fleet.NotifierURL(), NotifierUser: user, NotifierPassword: password,
		},
	})
	return err
}

// describeMachines fills in what the user knows about the BMCs.
func (d *demo) describeMachines() {
	bmc := d.lab.Emulator
	for i := range d.machines {
		state, _ := d.fleet.State(d.machines[i].name)
		d.machines[i].bmcAddress = bmc.Address(state.UUID)
		d.machines[i].bmcUser, d.machines[i].bmcPassword = bmc.User, bmc.Password
	}
}

// startIronflow gives Ironflow its settings as an operator would, in files and
// the environment, and waits until it is ready.
func (d *demo) startIronflow(ctx context.Context) error {
	iso := filepath.Join(d.dir, "base.iso")
	if err := media.WriteFile(iso, media.Options{}); err != nil {
		return fmt.Errorf("make the base medium: %w", err)
	}
	auth := filepath.Join(d.dir, "auth")
	if err := os.MkdirAll(filepath.Join(auth, "ironic"), 0o700); err != nil {
		return err
	}
	for name, text := range map[string]string{"username": d.lab.Ironic.User, "password": d.lab.Ironic.Password} {
		if err := os.WriteFile(filepath.Join(auth, "ironic", name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	var addrs [5]string
	for i := range addrs {
		var err error
		if addrs[i], err = freeAddress(ctx); err != nil {
			return err
		}
	}
	var err error
	d.hub, err = startHub(ctx, filepath.Join(d.options.BinDir, "ironflow"), d.dir, map[string]string{
		"KUBECONFIG":                  d.lab.ControlPlane.Kubeconfig,
		"IRONFLOW_DATA_DIR":           filepath.Join(d.dir, "ironflow"),
		"IRONFLOW_HUB_ADDR":           addrs[0],
		"IRONFLOW_HUB_PUBLISH_URL":    "https://" + addrs[0],
		"IRONFLOW_IMAGES_ADDR":        addrs[1],
		"IRONFLOW_IMAGES_PUBLISH_URL": "http://" + addrs[1],
		"IRONFLOW_IMAGES_TLS_ADDR":    addrs[2],
		"IRONFLOW_METRICS_ADDR":       addrs[3],
		"IRONFLOW_HEALTH_ADDR":        addrs[4],
		"DEPLOY_ISO":                  iso,
		"IRONFLOW_HOST_PROGRAMS":      filepath.Join(d.options.BinDir, "lab"),
		"IRONIC_ENDPOINT":             d.lab.Ironic.URL,
		"IRONIC_CACERT_FILE":          d.lab.CAFile,
		"METAL3_AUTH_ROOT_DIR":        auth,
	})
	if err != nil {
		return fmt.Errorf("start ironflow: %w", err)
	}
	return d.hub.waitReady(ctx)
}

// freeAddress returns a loopback address that nobody listens on.
func freeAddress(ctx context.Context) (string, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
