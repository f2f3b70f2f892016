package nodezero

import (
	"context"
	"time"

	"github.com/ironflow/ironflow/agent/agentbased/installed"
	"github.com/ironflow/ironflow/agent/agentbased/messages"
	"github.com/ironflow/ironflow/agent/agentbased/places"
)

// before returns the record of an earlier installation of this host by this image; nil for none.
func (p Program) before(ctx context.Context) *installed.Record {
	if p.Installed == nil {
		return nil
	}
	record := p.Installed(ctx)
	if record == nil {
		p.Console.Clear(ctx, messages.SlotInstalled)
	}
	return record
}

// refuse has this host start no hub, for as long as it runs: it would be installed again, and again,
// each time that its firmware starts the image. Nothing that waits for this program goes on. Of a host
// that is not the rendezvous host, the hub decides, which knows of the others.
func (p Program) refuse(ctx context.Context, before *installed.Record) error {
	if err := places.Remove(p.Dir, places.NodeZero); err != nil {
		return err
	}
	p.Log.WarnContext(ctx, "this image has installed this host before; it starts no hub", "at", before.At, "disk", before.Disk)
	p.Console.Show(ctx, messages.InstalledBefore, before.At.Format(time.RFC3339), before.Disk, installed.Again)
	<-ctx.Done()
	return context.Cause(ctx)
}
