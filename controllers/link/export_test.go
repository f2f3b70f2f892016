package link

// The indexes, for the fake API server.
const (
	MACIndex     = macIndex
	BootMACIndex = bootMACIndex
)

// What the manager's indexers and watches call.
var (
	AgentMACs    = agentMACs
	BootMAC      = bootMAC
	HostsOfAgent = (*Reconciler).hostsOfAgent
)
