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
	// HeaderWaited is in registrations and replies of a host that was refused with 503 and a Retry-After in the last ten
	// minutes: it has waited for its moment, in whole seconds, and is let in before those that come for the first time.
	// It is ours; other hubs ignore it, and other agents come for the first time each time.
	HeaderWaited = "Ironflow-Waited"
	// HeaderHostToken carries the host's own token in the answer to a registration whose
	// request had the header with the value "wanted": from then on the agent sends it in
	// the place of the one that it was booted with. It is ours; other hubs say nothing,
	// and other agents go on with the token that they have.
	HeaderHostToken = "Ironflow-Host-Token" //nolint:gosec // the name of a header
	// HeaderAuth says "none" in every answer of a hub that checks no tokens. It is ours.
	HeaderAuth = "Ironflow-Auth"
	// HostTokenWanted is the header's value in a request.
	HostTokenWanted = "wanted"
)
