package flows

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/test/vm"
)

// Spec is what a machine of a flow is made of.
type Spec struct {
	// Name is the machine's and its BareMetalHost's name.
	Name string
	// Config is changed before the machine is made; nil leaves it as it is.
	Config func(*vm.Config)
}

// Host is a machine and its BareMetalHost.
type Host struct {
	Name    string
	UUID    string
	Config  vm.Config
	Machine *vm.Machine
	// Timeline is what was seen of it so far.
	Timeline *Timeline

	world  *World
	stop   context.CancelFunc
	follow sync.WaitGroup
}

// MachineDir is the folder of a machine in a world whose folder of state is dir.
func MachineDir(dir, name string) string { return filepath.Join(dir, "machines", name) }

// defaultConfig is a machine of two processors, two disks and two network cards.
func (w *World) defaultConfig(name string) vm.Config {
	id := uuid.NewString()
	return vm.Config{
		UUID: id, Name: name, Dir: MachineDir(w.options.Dir, name),
		Board: w.Lab.Emulator,
		CPUs:  2, CPU: w.cpu, MemoryMiB: 3072,
		Disks: []vm.Disk{
			{Kind: vm.DiskSCSI, SizeMiB: 12 << 10, Serial: "S" + strings.ToUpper(id[:8]), WWN: "0x5000c500" + id[:8]},
			{Kind: vm.DiskNVMe, SizeMiB: 11 << 10, Serial: "N" + strings.ToUpper(id[:8])},
		},
		NICs: []vm.NIC{{MAC: mac(id, 0)}, {MAC: mac(id, 1)}},
	}
}

// mac is the n-th card's address, made from the machine's id.
func mac(id string, n int) string {
	return fmt.Sprintf("52:54:%s:%s:%s:%02x", id[0:2], id[2:4], id[4:6], n)
}

// NewHost makes a machine behind a BMC, switched off. Nothing is in Kubernetes yet.
func (w *World) NewHost(ctx context.Context, spec Spec) (*Host, error) {
	h := &Host{Name: spec.Name, Config: w.defaultConfig(spec.Name), Timeline: NewTimeline(time.Now()), world: w}
	h.Timeline.Tell = func(line string) { w.say("%s: %s", h.Name, line) }
	if spec.Config != nil {
		spec.Config(&h.Config)
	}
	h.UUID = h.Config.UUID
	for i := range h.Config.NICs {
		tap, err := w.Network.Tap(ctx, fmt.Sprintf("t%s%d", h.UUID[:6], i))
		if err != nil {
			return nil, fmt.Errorf("plug machine %s in: %w", h.Name, err)
		}
		h.Config.NICs[i].Tap = tap
	}
	h.Config.OnEvent = func(e vm.Event) { h.Timeline.Happened(e.Time, strings.TrimSpace(string(e.Kind)+" "+e.Detail)) }
	var err error
	// A test's context ends before what a failed machine leaves is kept; Close ends the machine.
	if h.Machine, err = vm.New(context.WithoutCancel(ctx), h.Config); err != nil {
		return nil, fmt.Errorf("make machine %s: %w", h.Name, err)
	}
	w.connect(h.UUID, h.Machine)
	if err := w.Lab.Emulator.Add(ctx, h.Machine.System()); err != nil {
		return nil, errors.Join(fmt.Errorf("add machine %s to the BMCs: %w", h.Name, err), h.Machine.Close())
	}
	return h, nil
}

// Close takes the power and forgets the machine; its files stay.
func (h *Host) Close() error {
	h.unfollow()
	return h.Machine.Close()
}

// unfollow ends the record.
func (h *Host) unfollow() {
	if h.stop != nil {
		h.stop()
	}
	h.follow.Wait()
}

// Create writes the host's objects: its BMC's Secret and the BareMetalHost, which
// change may alter first.
func (h *Host) Create(ctx context.Context, change func(*metal3v1.BareMetalHost)) error {
	host := h.bareMetalHost()
	if change != nil {
		change(host)
	}
	if err := h.world.create(ctx, h.bmcSecret(), host); err != nil {
		return err
	}
	following, cancel := context.WithCancel(context.WithoutCancel(ctx))
	h.stop = cancel
	h.follow.Go(func() { h.watch(following) })
	return nil
}

// look is how often a host is read by one who waits for something.
const look = 500 * time.Millisecond

// watch records what a user sees of the host, again and again.
func (h *Host) watch(ctx context.Context) {
	for {
		h.see(ctx)
		select {
		case <-ctx.Done():
			return
		case <-time.After(look):
		}
	}
}

// see records each state of the host, until the Kubernetes API ends the watch. By
// looking now and then an error would be missed that is gone at once, because what
// follows it is under way.
func (h *Host) see(ctx context.Context) {
	changes, err := h.world.Client.Watch(ctx, &metal3v1.BareMetalHostList{}, client.InNamespace(Namespace), client.MatchingFields{"metadata.name": h.Name})
	if err != nil {
		return
	}
	defer changes.Stop()
	for change := range changes.ResultChan() {
		if host, ok := change.Object.(*metal3v1.BareMetalHost); ok {
			h.Timeline.Look(time.Now(), view.Of(host))
		}
	}
}

// Get reads the BareMetalHost.
func (h *Host) Get(ctx context.Context) (*metal3v1.BareMetalHost, error) {
	host := &metal3v1.BareMetalHost{}
	return host, h.world.Client.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: h.Name}, host)
}

// Patch changes the BareMetalHost by a merge patch.
func (h *Host) Patch(ctx context.Context, patch map[string]any) error {
	raw, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	host := &metal3v1.BareMetalHost{ObjectMeta: meta(h.Name)}
	return h.world.Client.Patch(ctx, host, client.RawPatch("application/merge-patch+json", raw))
}

// Until waits until the host is as wanted. The error says what was waited for, and
// what the host was.
func (h *Host) Until(ctx context.Context, what string, limit time.Duration, done func(view.View) bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not %s within %s", what, limit))
	defer cancel()
	var last view.View
	for {
		if host, err := h.Get(ctx); err == nil {
			if last = view.Of(host); done(last) {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w: it is %s, %s %s; %s", h.Name, context.Cause(ctx), last.Phase, last.Step, last.Text, last.Reason)
		case <-time.After(look):
		}
	}
}

// UntilState waits for a provisioning state without an error. An error of the host
// that stays for a minute ends the wait.
func (h *Host) UntilState(ctx context.Context, state metal3v1.ProvisioningState, limit time.Duration) error {
	var failing time.Time
	var reason string
	err := h.Until(ctx, string(state), limit, func(v view.View) bool {
		if v.ErrorType == "" {
			failing = time.Time{}
			return v.State == string(state)
		}
		if failing.IsZero() {
			failing, reason = time.Now(), v.Reason
		}
		return time.Since(failing) > time.Minute
	})
	if err == nil && !failing.IsZero() {
		return fmt.Errorf("%s: %s", h.Name, reason)
	}
	return err
}
