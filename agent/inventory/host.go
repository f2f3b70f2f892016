package inventory

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ironflow/ironflow/agent/inventory/disks"
	"github.com/ironflow/ironflow/agent/inventory/gpus"
	"github.com/ironflow/ironflow/agent/inventory/ipmi"
	"github.com/ironflow/ironflow/agent/inventory/network"
	"github.com/ironflow/ironflow/agent/inventory/smbios"
	"github.com/ironflow/ironflow/agent/inventory/system"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/mounts"
	"github.com/ironflow/ironflow/customdeploy/source"
	"github.com/ironflow/ironflow/hub/wire"
)

// Host returns the collectors of the machine below the root directory.
func Host(dir hostfile.Dir) []Collector { return Machine(source.Live(dir), gpus.Defaults()) }

// Machine returns the collectors of a machine, real or recorded. They keep what
// cannot change, so make them once and use them again.
func Machine(m source.Machine, accelerators gpus.Config) []Collector {
	h := &host{Machine: m, disks: disks.NewReader(m)}
	h.table = sync.OnceValue(func() smbios.Table { return smbios.Read(m) })
	return oneAtATime([]Collector{
		{"cpu", h.cpu},
		{"memory", h.memory},
		{"system", h.system},
		{"boot", h.boot},
		{"bmc", h.bmc},
		{"gpus", func(context.Context) (Apply, error) {
			list := gpus.Read(m, accelerators)
			return func(inv *wire.Inventory) { inv.GPUs = list }, nil
		}},
		{partNetwork, h.network},
		{"disks", h.readDisks},
	})
}

// host is one machine with what its collectors keep.
type host struct {
	source.Machine
	// table is the firmware's: it is read once, because it changes with a boot only.
	table func() smbios.Table
	disks *disks.Reader
	own   ownBMC
}

func (h *host) cpu(context.Context) (Apply, error) {
	cpu, err := system.CPU(h.Machine)
	return func(inv *wire.Inventory) { inv.CPU = cpu }, err
}

func (h *host) memory(context.Context) (Apply, error) {
	memory, err := system.Memory(h.Machine, h.table())
	return func(inv *wire.Inventory) { inv.Memory = memory }, err
}

func (h *host) system(context.Context) (Apply, error) {
	vendor, err := system.Vendor(h.Machine, h.table())
	return func(inv *wire.Inventory) { inv.SystemVendor = vendor }, err
}

func (h *host) boot(context.Context) (Apply, error) {
	boot, tpm := system.Boot(h.Machine, mounts.Read(h.Machine)), system.TPM(h.Machine)
	return func(inv *wire.Inventory) { inv.Boot, inv.TPMVersion = boot, tpm }, nil
}

func (h *host) network(context.Context) (Apply, error) {
	found, err := network.Read(h.Machine, h.table())
	return func(inv *wire.Inventory) {
		inv.Hostname, inv.Interfaces, inv.Routes = found.Hostname, found.Interfaces, found.Routes
	}, err
}

func (h *host) readDisks(ctx context.Context) (Apply, error) {
	list, err := h.disks.Read(ctx, mounts.Read(h.Machine))
	return func(inv *wire.Inventory) { inv.Disks = list }, err
}

func (h *host) bmc(ctx context.Context) (Apply, error) {
	addresses, err := h.own.read(ctx, h.Machine)
	return func(inv *wire.Inventory) { inv.BmcAddress, inv.BmcV6address = addresses.IPv4, addresses.IPv6 }, err
}

// bmcRetry is how long a BMC that does not answer is left alone: each question
// to it waits for seconds.
const bmcRetry = 10 * time.Minute

// ownBMC keeps the answer of the machine's BMC: twelve channels take its slow
// processor a second or more, and its addresses stay for a boot.
type ownBMC struct {
	mu        sync.Mutex
	addresses ipmi.Addresses
	err       error
	asked     time.Time
}

func (o *ownBMC) read(ctx context.Context, m source.Machine) (ipmi.Addresses, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.addresses.Answered || (!o.asked.IsZero() && time.Since(o.asked) < bmcRetry) {
		return o.addresses, o.err
	}
	addresses, err := ipmi.Read(ctx, m)
	o.addresses, o.err = addresses, nil
	if err != nil && !errors.Is(err, source.ErrNoAnswer) { // that one: no BMC, or its driver is not loaded yet
		o.err, o.asked = err, time.Now()
	}
	return o.addresses, o.err
}
