package vm

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
)

// Fault is what is wrong with a disk: the requests that it answers with an error.
type Fault struct {
	// Reads, Writes and Flushes are the kinds of requests that fail.
	Reads, Writes, Flushes bool
	// Sectors are the bad sectors of 512 bytes; a request that touches one fails.
	// Empty is the whole disk. Flushes have no sector.
	Sectors []int64
}

// node is the block node that makes the errors, over the node of the disk:
// QEMU's blkdebug.
func (f Fault) node(name, over string) map[string]any {
	var rules []map[string]any
	rule := func(kind string, more map[string]any) {
		// The event "none" comes once, when the node is made: the rule then holds.
		r := map[string]any{"event": "none", "iotype": kind, "errno": 5, "once": false}
		maps.Copy(r, more)
		rules = append(rules, r)
	}
	for kind, fails := range map[string]bool{"read": f.Reads, "write": f.Writes, "write-zeroes": f.Writes} {
		switch {
		case !fails:
		case len(f.Sectors) == 0:
			rule(kind, nil)
		default:
			for _, sector := range f.Sectors {
				rule(kind, map[string]any{"sector": sector})
			}
		}
	}
	if f.Flushes {
		rule("flush", nil)
	}
	return map[string]any{"driver": "blkdebug", "node-name": name, "image": over, "inject-error": rules}
}

// option is the node as the value of an argument.
func (f Fault) option(name, over string) string {
	raw, err := json.Marshal(f.node(name, over))
	if err != nil {
		panic(fmt.Sprintf("encode a disk's fault: %v", err)) //nolint:forbidigo // it holds nothing that JSON has not
	}
	return string(raw)
}

// FailDisk makes the n-th disk of a running machine fail from now on, until
// [Machine.MendDisk] or the end of the power.
func (m *Machine) FailDisk(ctx context.Context, n int, fault Fault) error {
	l, err := m.powered()
	if err != nil {
		return err
	}
	id := diskDevice(n)
	node := fmt.Sprintf("%s-fault%d", id, m.count())
	if err := l.qmp.Execute(ctx, "blockdev-add", fault.node(node, id+"-raw"), nil); err != nil {
		return fmt.Errorf("machine %s: make disk %d fail: %w", m.config.Name, n, err)
	}
	if err := l.setDrive(ctx, id, node); err != nil {
		return fmt.Errorf("machine %s: make disk %d fail: %w", m.config.Name, n, err)
	}
	m.record(EventFault, fmt.Sprintf("disk %d fails: %+v", n, fault))
	return nil
}

// MendDisk ends the fault of the n-th disk of a running machine.
func (m *Machine) MendDisk(ctx context.Context, n int) error {
	l, err := m.powered()
	if err != nil {
		return err
	}
	if err := l.setDrive(ctx, diskDevice(n), diskDevice(n)+"-raw"); err != nil {
		return fmt.Errorf("machine %s: mend disk %d: %w", m.config.Name, n, err)
	}
	m.record(EventFault, fmt.Sprintf("disk %d works again", n))
	return nil
}

// SetLink pulls the cable of the n-th network card of a running machine, or
// plugs it in again.
func (m *Machine) SetLink(ctx context.Context, n int, up bool) error {
	l, err := m.powered()
	if err != nil {
		return err
	}
	if err := l.qmp.Execute(ctx, "set_link", map[string]any{"name": cardDevice(n), "up": up}, nil); err != nil {
		return fmt.Errorf("machine %s: link of network card %d: %w", m.config.Name, n, err)
	}
	m.record(EventFault, fmt.Sprintf("link of network card %d: up %t", n, up))
	return nil
}

// PowerCut takes the power away, as in an outage that the BMC outlives: the
// guest has no warning, and the BMC shows that the machine is off. It returns
// when the machine is.
func (m *Machine) PowerCut(ctx context.Context) error {
	m.record(EventFault, "power cut")
	return m.ask(ctx, order{action: cut, self: true})
}

// BreakMedium takes the medium out of the drive although the BMC shows it as
// inserted, as a BMC does that has lost its session; the guest's requests fail.
// The next start, or the next change of the BMC's media, inserts it again.
func (m *Machine) BreakMedium(ctx context.Context) error {
	m.record(EventFault, "medium taken out")
	return m.ask(ctx, order{eject: true})
}

// SetOrder makes the firmware try these sources, whatever its BMC asks for, from
// the next start on; nil ends that.
func (m *Machine) SetOrder(order []Source) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forced = order
}
