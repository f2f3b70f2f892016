// Package lab runs the real parts that Ironflow works with on one machine,
// without root, containers or hardware: a Kubernetes API (etcd and
// kube-apiserver), OpenStack Ironic, and BMCs (sushy-tools' Redfish emulator) in
// front of simulated machines. Demo, tests and benchmarks use it.
//
// [Start] brings up everything in one folder of state, on free loopback ports
// (Ironic on [Options.Address]), with a log per part. [New] and the methods StartControlPlane, StartIronic,
// StartEmulator and StartRedfish bring up only what is needed; package labtest does
// that for tests. StartRedfish are BMCs of our own (package bmc/simulator) for what
// the emulator lacks. What has to be compiled or installed is kept in a cache outside the
// source tree (package cache). Everything that the lab starts ends with
// [Lab.Stop], and also when the calling process is killed (package guard).
//
// The machines behind the BMCs are not part of this package: see package
// emulator for what they are told.
package lab

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/ironflow/ironflow/test/lab/cache"
	"github.com/ironflow/ironflow/test/lab/pki"
	"github.com/ironflow/ironflow/test/lab/ports"
	"github.com/ironflow/ironflow/test/lab/progress"
)

// Options choose where the lab lives. The zero value works.
type Options struct {
	// StateDir is the folder of state. Empty makes a temporary one that Stop
	// removes; a given one is kept, its logs included, and emptied of an earlier
	// lab's state at the next start.
	StateDir string
	// CacheDir is the folder of builds; empty is cache.DefaultDir.
	CacheDir string
	// Address is where Ironic listens, and what it tells machines of itself: an
	// address of this computer that machines with a network of their own can reach.
	// The zero value is loopback. The other parts, which only programs on this
	// computer ask, listen on loopback in any case.
	Address netip.Addr
	// Progress hears what the lab does; nil is silent.
	Progress progress.Func

	// ControlPlane, Ironic, Emulator and Redfish are the options of the parts that
	// [Start] starts; nil leaves a part out.
	ControlPlane *ControlPlaneOptions
	Ironic       *IronicOptions
	Emulator     *EmulatorOptions
	Redfish      *RedfishOptions
}

// Lab is a folder of state and the parts that run in it. Its methods may be
// called from several goroutines; each part can be started once.
type Lab struct {
	// Dir is the folder of state.
	Dir string
	// Authority signs the certificates of all parts. Machines and Ironflow's own
	// listeners can have theirs from it too.
	Authority *pki.Authority
	// CAFile is the authority's certificate as a file.
	CAFile string

	// ControlPlane, Ironic, Emulator and Redfish are the running parts, nil if not
	// started.
	ControlPlane *ControlPlane
	Ironic       *Ironic
	Emulator     *Emulator
	Redfish      *Redfish

	address   netip.Addr
	cacheDir  string
	temporary bool
	progress  progress.Func
	ports     ports.Set
	lock      *os.File

	mu    sync.Mutex
	parts []*part
}

// state are the names below Dir that belong to the lab.
var state = []string{"ca.crt", "kubeconfig", "log", "etcd", "kubernetes", "ironic", "emulator", "keystone"}

// New prepares the folder of state and checks what every part needs. It starts
// nothing. Stop has to be called on the result.
func New(options Options) (*Lab, error) {
	l := &Lab{Dir: options.StateDir, address: options.Address, cacheDir: options.CacheDir, progress: options.Progress}
	if !l.address.IsValid() {
		l.address = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	if err := l.prepare(); err != nil {
		return nil, errors.Join(err, l.Stop(context.Background()))
	}
	return l, nil
}

// prepare makes the folders, takes the lock and makes the authority.
func (l *Lab) prepare() error {
	var err error
	if l.cacheDir == "" {
		if l.cacheDir, err = cache.DefaultDir(); err != nil {
			return err
		}
	}
	if l.Dir == "" {
		sweep(os.TempDir(), time.Now())
		if l.Dir, err = os.MkdirTemp("", temporaryPrefix); err != nil {
			return fmt.Errorf("make a folder of state: %w", err)
		}
		l.temporary = true
	}
	if l.Dir, err = filepath.Abs(l.Dir); err != nil {
		return fmt.Errorf("find the folder of state: %w", err)
	}
	if err := l.takeFolder(); err != nil {
		return err
	}
	if l.Authority, err = pki.New("ironflow lab"); err != nil {
		return err
	}
	l.CAFile = filepath.Join(l.Dir, "ca.crt")
	return writeFiles(l.Dir, map[string][]byte{"ca.crt": l.Authority.PEM})
}

// takeFolder locks the folder of state against other labs and empties it.
func (l *Lab) takeFolder() error {
	if err := os.MkdirAll(filepath.Join(l.Dir, "log"), 0o700); err != nil {
		return fmt.Errorf("make the folder of state: choose another one: %w", err)
	}
	lock, err := lockFolder(l.Dir, os.O_CREATE)
	if err != nil {
		return fmt.Errorf("take the folder of state %s: %w: stop the other lab, or choose another folder", l.Dir, err)
	}
	l.lock = lock
	for _, name := range state {
		if err := os.RemoveAll(filepath.Join(l.Dir, name)); err != nil {
			return fmt.Errorf("remove the state of an earlier lab: %w", err)
		}
	}
	return os.Mkdir(filepath.Join(l.Dir, "log"), 0o700)
}

// Start checks the prerequisites, builds and installs what is missing, and
// starts the chosen parts side by side. When one of them fails, the others are
// stopped and its error is returned.
func Start(ctx context.Context, options Options) (*Lab, error) {
	l, err := New(options)
	if err != nil {
		return nil, err
	}
	if err := l.startAll(ctx, options); err != nil {
		return nil, errors.Join(err, l.Stop(context.WithoutCancel(ctx)))
	}
	return l, nil
}

// startAll starts the chosen parts side by side and returns the first failure,
// at which the other starts are given up.
func (l *Lab) startAll(ctx context.Context, options Options) error {
	if err := l.check(ctx, options); err != nil {
		return err
	}
	// Once for all: two parts share the Python environment.
	if err := prepare(ctx, Options{
		CacheDir: l.cacheDir, ControlPlane: options.ControlPlane, Ironic: options.Ironic, Emulator: options.Emulator,
	}, l.progress); err != nil {
		return err
	}
	var jobs []func(context.Context) error
	if o := options.ControlPlane; o != nil {
		jobs = append(jobs, func(ctx context.Context) error { _, err := l.StartControlPlane(ctx, *o); return err })
	}
	if o := options.Ironic; o != nil {
		jobs = append(jobs, func(ctx context.Context) error { _, err := l.StartIronic(ctx, *o); return err })
	}
	if o := options.Emulator; o != nil {
		jobs = append(jobs, func(ctx context.Context) error { _, err := l.StartEmulator(ctx, *o); return err })
	}
	if o := options.Redfish; o != nil {
		jobs = append(jobs, func(ctx context.Context) error { _, err := l.StartRedfish(ctx, *o); return err })
	}
	return together(ctx, jobs...)
}

// run starts a part, remembers it for Stop and shows its progress.
func (l *Lab) run(ctx context.Context, p *part, usual time.Duration) error {
	l.mu.Lock()
	l.parts = append(l.parts, p)
	l.mu.Unlock()
	return l.progress.Track(p.name, "starting", usual, func() error { return p.start(ctx) })
}

// logFile is the path of a part's log.
func (l *Lab) logFile(name string) string { return filepath.Join(l.Dir, "log", name+".log") }

// Processes lists the living processes of all parts. It is empty after Stop.
func (l *Lab) Processes() []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	var pids []int
	for _, p := range l.parts {
		pids = append(pids, p.processes()...)
	}
	slices.Sort(pids)
	return pids
}

// Stop ends all parts in the reverse order of their start, waits until no
// process is left, and removes a temporary folder of state. When the context
// ends, what still runs is killed instead of asked. It may be called again.
func (l *Lab) Stop(ctx context.Context) error {
	l.mu.Lock()
	parts, redfish := slices.Clone(l.parts), l.Redfish
	l.mu.Unlock()
	for _, p := range slices.Backward(parts) {
		p.stop(ctx)
	}
	if redfish != nil {
		redfish.close()
	}
	errs := []error{l.ports.Close()}
	if l.lock != nil {
		errs = append(errs, l.lock.Close())
		l.lock = nil
	}
	if l.temporary {
		errs = append(errs, os.RemoveAll(l.Dir))
	}
	return errors.Join(errs...)
}
