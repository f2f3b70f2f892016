package validations

import "github.com/ironflow/ironflow/hub/wire"

func connected(in HostInput) verdict {
	return passIf(in.Connected, "The agent answers", "The agent does not answer; check the host's network and power")
}

func mediaConnected(in HostInput) verdict {
	return passIf(in.MediaConnected, "The boot medium can be read", "The boot medium cannot be read; attach it and reboot the host")
}

func hasInventory(in HostInput) verdict {
	if in.Twin != "" {
		return verdict{Failure, "Two machines have the same id: " + in.Twin}
	}
	if in.unread(theInventory) {
		return unreadable(theInventory)
	}
	return passIf(in.Inventory != nil, "The inventory is known", "The host has not sent its inventory yet")
}

func notFullyTruncated(in HostInput) verdict {
	return passIf(!truncated(in.Inventory, wire.InventoryTruncationTypeFull), "The inventory fits",
		"The inventory was too large to be sent; see the agent's log for what to leave out")
}

func notPartiallyTruncated(in HostInput) verdict {
	return passIf(!truncated(in.Inventory, wire.InventoryTruncationTypePartial), "The inventory is complete",
		"Parts of the inventory were left out because of its size")
}

func truncated(inventory *wire.Inventory, kind string) bool {
	return inventory.Truncation != nil && inventory.Truncation.Type == kind
}

func agentFits(in HostInput) verdict {
	if have := in.Host.DiscoveryAgentVersion; have != in.AgentImage {
		return fail("The agent is %s, the hub wants %s; wait for its upgrade, or boot the host's current live image", have, in.AgentImage)
	}
	return pass("The agent is the one that the hub wants")
}
