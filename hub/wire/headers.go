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
	// HeaderPollGap is the least time between two polls of an agent in whole
	// seconds, in the answer to a poll: the more hosts a hub has, the seldomer it
	// is asked beside the time that next_instruction_seconds sets. It is ours;
	// other hubs say nothing, other agents ignore it.
	HeaderPollGap = "Ironflow-Poll-Gap"
)
