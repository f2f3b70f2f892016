package demo

import (
	"context"
	"errors"
	"fmt"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/controllers/host/view"
)

// giveBack returns every host to the pool, deletes it, and checks that Ironic
// has forgotten it.
func (d *demo) giveBack(ctx context.Context) error {
	d.screen.Say("giving every host back: deprovision, clean, available")
	for _, m := range d.machines {
		if err := giveBack(ctx, d.client, m.name); err != nil {
			return err
		}
	}
	err := watchUntil(ctx, d.client, d.screen, d.options.patience(), inState(d.options.Hosts, metal3v1.StateAvailable))
	if err != nil {
		return err
	}
	for _, s := range d.simulatedStates() {
		if s.Disk != nil {
			return fmt.Errorf("machine %s is available, but its disk still holds an installation", s.Name)
		}
	}
	if err := d.disksEmpty(); err != nil {
		return err
	}
	d.summary.Returned = d.options.Hosts
	d.screen.Say("all %d hosts are back in the pool; deleting them", d.options.Hosts)
	return d.deleteHosts(ctx)
}

func (d *demo) deleteHosts(ctx context.Context) error {
	for _, m := range d.machines {
		if err := d.client.Delete(ctx, &metal3v1.BareMetalHost{ObjectMeta: meta(m.name)}); err != nil {
			return fmt.Errorf("delete host %s: %w", m.name, err)
		}
	}
	gone := func(hosts []view.View) bool { return len(hosts) == 0 }
	if err := watchUntil(ctx, d.client, d.screen, d.options.patience(), gone); err != nil {
		return err
	}
	nodes, err := listNodes(ctx, d.lab.Ironic)
	if err != nil {
		return fmt.Errorf("ask Ironic for its nodes: %w", err)
	}
	if len(nodes) > 0 {
		return errors.Join(errors.New("the hosts are deleted, but Ironic still has nodes"), fmt.Errorf("%v", nodes))
	}
	d.screen.Say("Ironic has no node left")
	return nil
}
