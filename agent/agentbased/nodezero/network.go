package nodezero

import (
	"context"

	"github.com/ironflow/ironflow/agent/agentbased/messages"
)

// show says what the addresses mean. A host without any whose own network is not set up is told
// that: whoever looks at cables and DHCP would look in vain.
func (p Program) show(ctx context.Context, v verdict) {
	if v.message == messages.RendezvousNoAddress {
		for _, slot := range []messages.Slot{messages.SlotNmstate, messages.SlotNetwork} {
			if note, told := p.Console.Shows(slot); told {
				p.Console.Show(ctx, messages.RendezvousNoNetwork, v.args[0], note.Text)
				return
			}
		}
	}
	p.Console.Show(ctx, v.message, v.args...)
}
