package register

import (
	"net/http"
	"time"

	"github.com/ironflow/ironflow/agent/backoff"
)

// answer is what came back from one attempt, reduced to what the rules look at.
type answer int

const (
	answerOK answer = iota
	// answerBusy: the hub or the network is away for a moment (502, 503, 504, no connection).
	answerBusy
	// answerError: any other failure of hub or network.
	answerError
	// answerUnauthorized: 401, the token is missing or wrong.
	answerUnauthorized
	// answerRefused: 403, 404, 409: this host, here and now, is not wanted.
	answerRefused
	// answerNoCommand: accepted, but without next_step_runner_command.
	answerNoCommand
	// answerBadCommand: accepted, but with a command that cannot be used.
	answerBadCommand
	// answerNoID: there is no id to register with yet; the hub was not asked.
	answerNoID
)

// rule says how patient the agent is with an answer, and what a person can do.
type rule struct {
	policy backoff.Policy
	// quick delays come before the policy's; they vary by a quarter.
	quick []time.Duration
	hint  string
}

// quickJitter spreads the quick delays: hosts of one rack boot in the same second.
const quickJitter = 0.25

// rules returns the table of answers; interval is the --interval of the command line.
func rules(interval time.Duration) map[answer]rule {
	slow := backoff.Policy{First: interval, Factor: 1.5, Max: max(interval, 2*time.Minute), Jitter: 0.2}
	quick := []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second, 15 * time.Second, 30 * time.Second}
	refused := backoff.Policy{First: 75 * time.Second, Factor: 1.5, Max: 5 * time.Minute, Jitter: 0.2, Floor: time.Minute}
	return map[answer]rule{
		answerBusy:         {policy: slow, quick: quick, hint: "look at the hub and at the way to it"},
		answerError:        {policy: slow, hint: "look at the hub's log"},
		answerUnauthorized: {policy: refused, hint: "the token is not accepted; make the image again with a valid one"},
		answerRefused:      {policy: refused, hint: "look at the infra-env and its cluster in the hub"},
		answerNoCommand:    {policy: backoff.Policy{First: time.Minute, Factor: 1.5, Max: 5 * time.Minute, Jitter: 0.2}, hint: "the hub gave no command"},
		answerBadCommand:   {policy: backoff.Policy{First: 5 * time.Second, Factor: 2, Max: 2 * time.Minute, Jitter: 0.2}, hint: "the hub's command cannot be used"},
		answerNoID:         {policy: backoff.Policy{First: 5 * time.Second, Factor: 1.5, Max: time.Minute, Jitter: 0.2}, hint: "check the network interfaces and the SMBIOS data"},
	}
}

// delay is how long to wait after the n-th answer of this kind in a row, from 1.
func (r rule) delay(n int, random float64) time.Duration {
	if n <= len(r.quick) {
		return time.Duration(float64(r.quick[n-1]) * (1 + quickJitter*(2*random-1)))
	}
	return r.policy.Delay(n-len(r.quick), random)
}

// classify maps the status of a failed call (0: no answer) to a kind of answer.
func classify(code int) answer {
	switch code {
	case 0, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusTooManyRequests:
		return answerBusy
	case http.StatusUnauthorized:
		return answerUnauthorized
	case http.StatusForbidden, http.StatusNotFound, http.StatusConflict:
		return answerRefused
	default:
		return answerError
	}
}
