package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/ironflow/ironflow/test/bench/usage"
	"github.com/ironflow/ironflow/test/lab/guard"
)

// agentImage is what all agents say they are.
const agentImage = "quay.example/ironflow/agent:bench"

// loadOrder is what the process with the fleet is told.
type loadOrder struct {
	URL, CA, InfraEnv string
	Agents            int
	Watch             time.Duration
}

// loadReport is what it tells at its end.
type loadReport struct {
	// Registered is the seconds until the last agent was registered; all start at once.
	Registered float64
	// Polls were answered; Cycle, CycleP50, CycleP99 are seconds between two answered
	// polls of one agent, Answer and AnswerP99 seconds that an answer took.
	Polls                     int
	Cycle, CycleP50, CycleP99 float64
	Answer, AnswerP99         float64
	// Silent agents were not answered at all in the last cycle.
	Silent int
	// Warnings are log lines of agents at level warning or above, by their message.
	Warnings map[string]int
	// RSS is the process's memory in MiB.
	RSS float64
}

// fleet runs the agents in a process of their own and returns the longest time
// between two answered polls of any of them, in seconds.
func fleet(ctx context.Context, o options, h *hubUnderLoad) (float64, error) {
	order, err := json.Marshal(loadOrder{URL: h.URL, CA: h.CA, InfraEnv: h.infraEnv, Agents: o.agents, Watch: o.watch})
	if err != nil {
		return 0, err
	}
	before, err := usage.Sum(guard.Descendants(h.PID()))
	if err != nil {
		return 0, err
	}
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	command := exec.CommandContext(ctx, self, "-load", string(order))
	command.Env = append(os.Environ(), "PULL_SECRET_TOKEN="+h.token)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return 0, fmt.Errorf("the fleet: %w\n%s", err, h.Tail())
	}
	var r loadReport
	if err := json.Unmarshal(out[bytes.LastIndexByte(bytes.TrimSpace(out), '\n')+1:], &r); err != nil {
		return 0, fmt.Errorf("the fleet: %w", err)
	}
	after, err := usage.Sum(guard.Descendants(h.PID()))
	if err != nil {
		return 0, err
	}
	fmt.Printf("fleet: %d agents registered within %.1f s; %d polls in %s after it\n", o.agents, r.Registered, r.Polls, o.watch)
	fmt.Printf("fleet: time between two answered polls of one agent: median %.1f s, 99%% within %.1f s, longest %.1f s\n", r.CycleP50, r.CycleP99, r.Cycle)
	fmt.Printf("fleet: answer to a poll: 99%% within %.3f s, longest %.3f s\n", r.AnswerP99, r.Answer)
	fmt.Printf("fleet: agents' process %.0f MiB (%.2f each); the hub's used %.1f s of CPU; log lines at warning: %v\n", r.RSS, r.RSS/float64(o.agents), (after.CPU - before.CPU).Seconds(), r.Warnings)
	if r.Silent > 0 {
		return 0, fmt.Errorf("%d of %d agents were not answered in the last cycle", r.Silent, o.agents)
	}
	return r.Cycle, nil
}
