package wire

// Headers of the protocol, besides those of authentication.
const (
	// HeaderAgentVersion carries the agent's image reference with each call.
	HeaderAgentVersion = "discovery_agent_version"
	// HeaderAgentToken carries the agent's secret.
	HeaderAgentToken = "X-Secret-Key"
	// HeaderAttempt tells one run of the deploy step from the next, in a
	// registration: any text that is the same for one attempt and different for
	// the next, at most 128 characters. It is ours; other hubs ignore it.
	HeaderAttempt = "Ironflow-Attempt"
)
