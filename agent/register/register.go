// Package register announces the host to the hub and does not give up: each kind
// of refusal has its own patience (a table of rules), and while it waits the
// reason and what a person can do are the unit's status text.
package register

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/agent/backoff"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/imageref"
	"github.com/ironflow/ironflow/hub/wire"
)

// Hub is the part of the hub that registration needs.
type Hub interface {
	Register(ctx context.Context, h hubclient.Host) (wire.HostRegistrationResponse, error)
	// ReloadToken reads the token again; true means that it is a new one.
	ReloadToken() bool
}

// Registration is what a successful registration says.
type Registration struct {
	// Host is the identity that counts from now on: the hub's, not the agent's own.
	Host hubclient.Host
	// AgentVersion is the agent image that the hub wants.
	AgentVersion string
	// Status and StatusInfo are the host's state right after it.
	Status, StatusInfo string
}

// newToken is the delay after which a token is tried that was not refused yet.
const newToken = 2 * time.Second

// Loop registers until it succeeds.
type Loop struct {
	Hub Hub
	// InfraEnvID is where the host registers.
	InfraEnvID string
	// HostID computes the id anew for each attempt.
	HostID func() (string, error)
	// Interval is the usual delay between failed attempts.
	Interval time.Duration
	// Status tells people what is going on.
	Status func(text string)
	Log    *slog.Logger
}

// Run registers the host; it returns an error only when the context ends.
func (l *Loop) Run(ctx context.Context) (Registration, error) {
	table := rules(l.Interval)
	last, inRow := answerOK, 0
	l.Status("registering with the hub")
	for {
		registration, kind, err := l.attempt(ctx)
		if kind == answerOK {
			l.Log.Info("registered", "host", registration.Host.HostID, "infraEnv", registration.Host.InfraEnvID, "status", registration.Status)
			return registration, nil
		}
		if ctx.Err() != nil {
			return Registration{}, context.Cause(ctx)
		}
		if kind != last {
			last, inRow = kind, 0
		}
		inRow++
		delay := hubclient.Delay(err, table[kind].delay(inRow, backoff.Random()))
		if kind == answerUnauthorized && l.Hub.ReloadToken() {
			delay = min(delay, newToken)
		}
		l.Status(fmt.Sprintf("not registered: %v; %s", err, table[kind].hint))
		l.Log.Warn("registration failed", "error", err, "retryIn", delay.Round(time.Second))
		timer := time.NewTimer(delay)
		select {
		case <-ctx.Done():
			timer.Stop()
			return Registration{}, context.Cause(ctx)
		case <-timer.C:
		}
	}
}

// attempt makes one call and says what kind of answer it brought.
func (l *Loop) attempt(ctx context.Context) (Registration, answer, error) {
	id, err := l.HostID()
	if err != nil {
		return Registration{}, answerNoID, err
	}
	response, err := l.Hub.Register(ctx, hubclient.Host{InfraEnvID: l.InfraEnvID, HostID: id})
	if err != nil {
		return Registration{}, classify(hubclient.Code(err)), err
	}
	command := response.NextStepRunnerCommand
	if command == nil || len(command.Args) == 0 {
		return Registration{}, answerNoCommand, errors.New("the hub's reply to the registration has no next_step_runner_command")
	}
	registration, err := parseArgs(command.Args)
	if err != nil {
		return Registration{}, answerBadCommand, err
	}
	registration.Status, registration.StatusInfo = response.Status, response.StatusInfo
	return registration, answerOK, nil
}

// parseArgs reads the one string of JSON in the command's args.
func parseArgs(args []string) (Registration, error) {
	var command struct {
		InfraEnvID   string `json:"infra_env_id"`
		HostID       string `json:"host_id"`
		AgentVersion string `json:"agent_version"`
	}
	if len(args) != 1 {
		return Registration{}, fmt.Errorf("next_step_runner_command has %d args, want 1", len(args))
	}
	if err := json.Unmarshal([]byte(args[0]), &command); err != nil {
		return Registration{}, fmt.Errorf("args of next_step_runner_command are not JSON: %w", err)
	}
	for name, id := range map[string]string{"infra_env_id": command.InfraEnvID, "host_id": command.HostID} {
		if _, err := uuid.Parse(id); err != nil {
			return Registration{}, fmt.Errorf("next_step_runner_command: %s %q is not a UUID", name, id)
		}
	}
	if !imageref.Valid(command.AgentVersion) {
		return Registration{}, fmt.Errorf("next_step_runner_command: agent_version %q is not an image reference", command.AgentVersion)
	}
	return Registration{Host: hubclient.Host{InfraEnvID: command.InfraEnvID, HostID: command.HostID}, AgentVersion: command.AgentVersion}, nil
}
