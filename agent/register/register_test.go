package register

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/hub/wire"
)

const goodArgs = `{"infra_env_id":"11111111-1111-4111-8111-111111111111","host_id":"22222222-2222-4222-8222-222222222222","agent_version":"quay.example/ironflow/agent:v1"}`

// script is a hub that fails as scripted and then accepts.
type script struct {
	fail     []error
	replies  []wire.HostRegistrationResponse
	at       []time.Time
	reloaded int
}

func (s *script) Register(context.Context, hubclient.Host) (wire.HostRegistrationResponse, error) {
	s.at = append(s.at, time.Now())
	if len(s.fail) > 0 {
		err := s.fail[0]
		s.fail = s.fail[1:]
		return wire.HostRegistrationResponse{}, err
	}
	if len(s.replies) > 0 {
		reply := s.replies[0]
		s.replies = s.replies[1:]
		return reply, nil
	}
	return reply(goodArgs), nil
}

func (s *script) ReloadToken() bool { s.reloaded++; return false }

func reply(args ...string) wire.HostRegistrationResponse {
	return wire.HostRegistrationResponse{NextStepRunnerCommand: &wire.HostRegistrationResponseNextStepRunnerCommand{Args: args}}
}

func status(code int) error {
	return &hubclient.StatusError{Method: "POST", Code: code, Reason: "because"}
}

func repeat(err error, n int) []error {
	out := make([]error, n)
	for i := range out {
		out[i] = err
	}
	return out
}

func TestPatience(t *testing.T) {
	network := errors.New("connection refused")
	for name, tc := range map[string]struct {
		hub script
		// shortest and longest allowed delays, one pair per failure
		from, to []time.Duration
		hint     string
	}{
		"no answer: quick at first, then the interval": {
			hub:  script{fail: repeat(network, 7)},
			from: fractions(1.5, 3, 6, 11.25, 22.5, 48, 72), to: fractions(2.5, 5, 10, 18.75, 37.5, 72, 108), hint: "connection refused",
		},
		"an internal error waits the interval and grows to two minutes": {
			hub: script{fail: repeat(status(500), 4)}, from: seconds(48, 72, 96, 96), to: seconds(72, 108, 144, 144), hint: "because",
		},
		"404 is never asked faster than once a minute": {
			hub: script{fail: repeat(status(404), 5)}, from: seconds(60, 60, 60, 60, 60), to: seconds(90, 135, 203, 304, 360), hint: "infra-env",
		},
		"401 reads the token again": {hub: script{fail: repeat(status(401), 1)}, from: seconds(60), to: seconds(90), hint: "token"},
		"accepted without a command": {
			hub: script{replies: []wire.HostRegistrationResponse{{}}}, from: seconds(48), to: seconds(72), hint: "next_step_runner_command",
		},
		"accepted with a broken command": {
			hub:  script{replies: []wire.HostRegistrationResponse{reply("{"), reply(strings.ReplaceAll(goodArgs, "quay", "!"))}},
			from: seconds(4, 8), to: seconds(6, 12), hint: "cannot be used",
		},
		"a proxy's 400, 405 and 501 are asked again too": {
			hub: script{fail: []error{status(400), status(405), status(501)}}, from: seconds(48, 72, 96), to: seconds(72, 108, 144), hint: "because",
		},
		"403 and 409 freeze nobody": {
			hub: script{fail: []error{status(403), status(409)}}, from: seconds(60, 60), to: seconds(90, 135), hint: "infra-env",
		},
		"Retry-After of a hub that is full": {
			hub: script{fail: repeat(&hubclient.StatusError{Code: 503, RetryAfter: 20 * time.Second}, 3)}, from: seconds(20, 20, 20), to: seconds(25, 25, 25), hint: "503",
		},
		"Retry-After below our own patience changes nothing": {
			hub: script{fail: repeat(&hubclient.StatusError{Code: 404, RetryAfter: time.Second}, 1)}, from: seconds(60), to: seconds(90), hint: "infra-env",
		},
		"another kind of failure starts anew": {
			hub:  script{fail: []error{network, network, status(503), status(500), network}},
			from: fractions(1.5, 3, 6, 48, 1.5), to: fractions(2.5, 5, 10, 72, 2.5), hint: "not registered",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				var said []string
				loop := Loop{
					Hub: &tc.hub, InfraEnvID: "11111111-1111-4111-8111-111111111111", Interval: time.Minute,
					HostID: func() (string, error) { return "x", nil },
					Status: func(text string) { said = append(said, text) }, Log: slog.New(slog.DiscardHandler),
				}
				registration, err := loop.Run(t.Context())
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(registration.Host.HostID).To(Equal("22222222-2222-4222-8222-222222222222"))
				g.Expect(tc.hub.at).To(HaveLen(len(tc.from) + 1))
				for i := range tc.from {
					delay := tc.hub.at[i+1].Sub(tc.hub.at[i])
					g.Expect(delay).To(And(BeNumerically(">=", tc.from[i]), BeNumerically("<=", tc.to[i])), "delay %d", i)
				}
				g.Expect(strings.Join(said, "\n")).To(ContainSubstring(tc.hint))
				if name == "401 reads the token again" {
					g.Expect(tc.hub.reloaded).To(Equal(1))
				}
			})
		})
	}
}

func seconds(s ...int) []time.Duration {
	out := make([]time.Duration, len(s))
	for i := range s {
		out[i] = time.Duration(s[i]) * time.Second
	}
	return out
}

func fractions(s ...float64) []time.Duration {
	out := make([]time.Duration, len(s))
	for i := range s {
		out[i] = time.Duration(s[i] * float64(time.Second))
	}
	return out
}

func TestWithoutAnIDTheHubIsNotAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		hub, tries := &script{}, 0
		loop := Loop{Hub: hub, Interval: time.Minute, Status: func(string) {}, Log: slog.New(slog.DiscardHandler), HostID: func() (string, error) {
			if tries++; tries < 3 {
				return "", errors.New("nothing to identify it by")
			}
			return "id", nil
		}}
		_, err := loop.Run(t.Context())
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(hub.at).To(HaveLen(1))
	})
}

func TestRegistrationEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Minute, errors.New("enough"))
		defer cancel()
		loop := Loop{Hub: &script{fail: repeat(status(409), 100)}, Interval: time.Minute, Status: func(string) {}, Log: slog.New(slog.DiscardHandler), HostID: func() (string, error) { return "x", nil }}
		_, err := loop.Run(ctx)
		g.Expect(err).To(MatchError("enough"))
	})
}

func TestEveryAnswerHasARule(t *testing.T) {
	g := NewWithT(t)
	table := rules(time.Minute)
	for kind := answerBusy; kind <= answerNoID; kind++ {
		g.Expect(table).To(HaveKey(kind))
		g.Expect(table[kind].hint).NotTo(BeEmpty())
		g.Expect(table[kind].delay(50, 0.99)).To(BeNumerically("<=", 6*time.Minute))
	}
	for code, want := range map[int]answer{
		0: answerBusy, 503: answerBusy, 504: answerBusy,
		400: answerError, 405: answerError, 500: answerError, 501: answerError,
		401: answerUnauthorized,
		403: answerRefused, 404: answerRefused, 409: answerRefused,
	} {
		g.Expect(classify(code)).To(Equal(want), "%d", code)
	}
}

func FuzzParseArgs(f *testing.F) {
	f.Add(goodArgs)
	f.Add(`{"infra_env_id":null}`)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := parseArgs([]string{text})
		if err == nil && (r.Host.HostID == "" || r.Host.InfraEnvID == "" || r.AgentVersion == "") {
			t.Errorf("accepted without an identity: %q", text)
		}
	})
}
