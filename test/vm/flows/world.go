package flows

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/progress"
	"github.com/ironflow/ironflow/test/machine"
	"github.com/ironflow/ironflow/test/machine/bmc"
	"github.com/ironflow/ironflow/test/shipped"
	"github.com/ironflow/ironflow/test/vm"
	"github.com/ironflow/ironflow/test/vm/lan"
	"github.com/ironflow/ironflow/test/vm/medium"
	"github.com/ironflow/ironflow/test/vm/registry"
)

// Options choose the world.
type Options struct {
	// Dir is the folder of state, on a disk with room for the machines' disks.
	Dir string
	// BinDir holds the programs as shipped: ironflow, ironflow-agent, ironflow-step.
	BinDir string
	// Source is the source tree, of which ironic-python-agent's image is made.
	Source string
	// LiveISO is the medium that live images are made of: CoreOS, or one with its
	// layout. Empty takes the one of package medium.
	LiveISO string
	// IPAImage is the container image of ironic-python-agent with our plugin
	// (make images), in a registry that the machines reach. Empty
	// takes the one of package registry.
	IPAImage string
	// Network is the machines' network; its folder is chosen here.
	Network lan.Options
	// InspectionLimit is how long Ironic waits for an inspection; zero is its own half
	// an hour.
	InspectionLimit time.Duration
	// Settings are further ones of Ironflow, as its environment has them.
	Settings map[string]string
	// Prepare is called when the network is there, and returns further settings; nil has none.
	Prepare func(context.Context, *lan.Network) (map[string]string, error)
	// Simulated are machines besides, of package machine.
	Simulated []*scenario.Scenario
	// Out hears what is started.
	Out io.Writer
}

// World is everything around the machines. Its methods may be called from
// several goroutines.
type World struct {
	Lab      *lab.Lab
	Ironflow *shipped.Process
	// Client is a user's access to the Kubernetes API.
	Client  client.WithWatch
	Network *lan.Network
	// Fleet are the simulated machines, nil for none.
	Fleet *machine.Fleet

	options  Options
	cpu      string             // of the machines, as package vm takes it
	registry *registry.Registry // nil if the image is elsewhere
	receiver *bmc.Receiver

	mu       sync.Mutex
	machines map[string]bmc.Taker // by UUID
}

// Start brings up the world. Close has to be called on the result.
func Start(ctx context.Context, o Options) (*World, error) {
	w := &World{options: o, machines: map[string]bmc.Taker{}}
	if err := w.start(ctx); err != nil {
		return nil, errors.Join(err, w.Close(context.WithoutCancel(ctx)))
	}
	return w, nil
}

func (w *World) start(ctx context.Context) error {
	var err error
	network := w.options.Network
	network.Dir = filepath.Join(w.options.Dir, "lan")
	if w.Network, err = lan.Start(ctx, network); err != nil {
		return fmt.Errorf("make the machines' network: %w", err)
	}
	prepared, err := w.prepare(ctx)
	if err != nil {
		return err
	}
	if err := w.fetch(ctx); err != nil {
		return err
	}
	if w.receiver, err = bmc.Listen(nil, w.find, slog.New(slog.DiscardHandler)); err != nil {
		return err
	}
	if err := w.simulate(); err != nil {
		return err
	}
	user, password := w.receiver.Credentials()
	w.Lab, err = lab.Start(ctx, lab.Options{
		StateDir: filepath.Join(w.options.Dir, "lab"), Address: w.Network.Address,
		Progress:     func(e progress.Event) { w.say("%s", e) },
		ControlPlane: &lab.ControlPlaneOptions{Controllers: true},
		Ironic:       metal3(w.options.InspectionLimit),
		Emulator:     &lab.EmulatorOptions{NotifierURL: w.receiver.URL(), NotifierUser: user, NotifierPassword: password},
	})
	if err != nil {
		return err
	}
	if w.Fleet != nil {
		if err := w.Fleet.Plug(ctx, w.Lab.Emulator); err != nil {
			return fmt.Errorf("connect the simulated machines to their BMCs: %w", err)
		}
	}
	settings := map[string]string{
		"IRONIC_AGENT_IMAGE":                   w.options.IPAImage,
		"IRONFLOW_IRONIC_AGENT_IMAGE_INSECURE": "true",
	}
	maps.Copy(settings, w.options.Settings)
	maps.Copy(settings, prepared)
	if w.Ironflow, err = shipped.Start(ctx, shipped.Options{
		Lab: w.Lab, Program: filepath.Join(w.options.BinDir, "ironflow"), HostPrograms: w.options.BinDir,
		BaseISO: w.options.LiveISO, Address: w.Network.Address, Settings: settings,
	}); err != nil {
		return err
	}
	if w.Client, err = shipped.NewClient(w.Lab.ControlPlane.Config()); err != nil {
		return err
	}
	return w.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Namespace}})
}

// prepare makes what is to be there before Ironflow starts.
func (w *World) prepare(ctx context.Context) (map[string]string, error) {
	if w.options.Prepare == nil {
		return nil, nil
	}
	settings, err := w.options.Prepare(ctx, w.Network)
	if err != nil {
		return nil, fmt.Errorf("prepare what the machines need: %w", err)
	}
	return settings, nil
}

// fetch makes the medium and ironic-python-agent's image where the options name
// none; both take minutes at the first time only.
func (w *World) fetch(ctx context.Context) error {
	w.cpu = vm.FullCPU // what a site's medium needs is not known here
	if w.options.LiveISO == "" {
		w.cpu = vm.LeanCPU
		w.say("the live ISO of Debian packages (made at the first time)")
		media, err := medium.Make(ctx)
		if err != nil {
			return fmt.Errorf("make the medium: %w", err)
		}
		w.options.LiveISO = media.ISO
	}
	if w.options.IPAImage != "" {
		return nil
	}
	w.say("ironic-python-agent's image (made at the first time)")
	dir := filepath.Join(w.options.Dir, "registry")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	var err error
	w.registry, err = registry.Start(ctx, registry.Options{Address: w.Network.Address.String(), Source: w.options.Source, Dir: dir})
	if err != nil {
		return fmt.Errorf("start the registry: %w", err)
	}
	w.options.IPAImage = w.registry.IPA()
	return nil
}

// simulate makes the simulated machines.
func (w *World) simulate() error {
	if len(w.options.Simulated) == 0 {
		return nil
	}
	var err error
	w.Fleet, err = machine.NewFleet(machine.Options{
		Dir: filepath.Join(w.options.Dir, "simulated"), BinDir: filepath.Join(w.options.BinDir, "lab"),
		Scenarios: w.options.Simulated, Fresh: true, Pace: machine.LabPace,
	})
	if err != nil {
		return fmt.Errorf("prepare the simulated machines: %w", err)
	}
	return nil
}

func (w *World) say(format string, args ...any) {
	if w.options.Out != nil {
		fmt.Fprintf(w.options.Out, format+"\n", args...)
	}
}

// find is how the BMCs find their machines.
func (w *World) find(uuid string) (bmc.Taker, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if m, ok := w.machines[uuid]; ok {
		return m, true
	}
	if w.Fleet == nil {
		return nil, false
	}
	return w.Fleet.Find(uuid)
}

// connect puts a machine behind its BMC.
func (w *World) connect(uuid string, m bmc.Taker) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.machines[uuid] = m
}

// Close ends everything that Start has started.
func (w *World) Close(ctx context.Context) error {
	var errs []error
	if w.Ironflow != nil {
		errs = append(errs, w.Ironflow.Stop())
	}
	if w.Fleet != nil {
		errs = append(errs, w.Fleet.Close())
	}
	if w.Lab != nil {
		errs = append(errs, w.Lab.Stop(ctx))
	}
	if w.receiver != nil {
		errs = append(errs, w.receiver.Close())
	}
	if w.registry != nil {
		w.registry.Close()
	}
	if w.Network != nil {
		errs = append(errs, w.Network.Close())
	}
	return errors.Join(errs...)
}

// Logs is the folder with the logs of all parts.
func (w *World) Logs() string { return filepath.Join(w.options.Dir, "lab", "log") }
