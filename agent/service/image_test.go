package service_test

import (
	"archive/tar"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/handover"
	"github.com/ironflow/ironflow/agent/service"
	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
)

const newer = "quay.example/ironflow/agent:v2"

// upgrading is what a hub with ENABLE_UPGRADE_AGENT does: as long as the host does
// not poll as the image that the hub wants, upgrade-agent replaces all other steps.
func upgrading(h *hub) wire.Steps {
	if h.versions[len(h.versions)-1] != newer {
		h.names = newer
		raw, _ := json.Marshal(wire.UpgradeAgentRequest{AgentImage: newer})
		return instructions(60, step(wire.StepTypeUpgradeAgent, string(raw)))
	}
	return installAfterInventory(h)
}

// An agent that comes with the live image cannot be exchanged; the hub must go on all the same.
func TestUpgradeOfAnAgentThatStays(t *testing.T) {
	m := newMachine(t)
	h := newHub(t, upgrading)
	m.g.Expect(m.run(h)).To(Equal(exitcode.AgentInstalled))
	m.g.Expect(h.registrations).To(Equal(2), "after a successful upgrade a host registers again, once")
	reply := h.replies[0]
	m.g.Expect(reply.StepType).To(Equal(wire.StepTypeUpgradeAgent))
	m.g.Expect(reply.ExitCode).To(BeZero())
	m.g.Expect(reply.Output).To(MatchJSON(`{"agent_image":"quay.example/ironflow/agent:v2","result":"success"}`))
	m.g.Expect(reply.Error).To(ContainSubstring("stays"))
	m.g.Expect(h.replied(wire.StepTypeInventory)).To(BeTrue())
}

// A hub whose registration answers name another image than its upgrade step would make the host register for ever.
func TestUpgradeByAHubThatContradictsItself(t *testing.T) {
	m := newMachine(t)
	h := newHub(t, func(h *hub) wire.Steps {
		out := upgrading(h)
		h.names = image
		return out
	})
	m.g.Expect(m.run(h)).To(Equal(exitcode.AgentInstalled))
	m.g.Expect(h.registrations).To(Equal(2))
}

// podman gives out an agent.
type podman struct{}

func (podman) Run(_ context.Context, c command.Command) error {
	if c.Args[0] != "cp" {
		return nil
	}
	w := tar.NewWriter(c.Stdout)
	_ = w.WriteHeader(&tar.Header{Name: "agent", Typeflag: tar.TypeReg, Size: 1})
	_, _ = io.WriteString(w, "x")
	return w.Close()
}

func TestAgentOfAnotherImageTakesOver(t *testing.T) {
	m := newMachine(t)
	h := newHub(t, func(*hub) wire.Steps { return instructions(60) })
	h.names = newer
	config := m.config(h)
	var became []string
	var told []string
	config.Notify = func(state string) error { told = append(told, state); return nil }
	config.Image = handover.Handover{
		Running: image, Args: []string{"--url", h.URL}, Dir: m.dir, Commands: podman{}, Log: slog.New(slog.DiscardHandler),
		Exec: func(path string, argv, _ []string) error {
			m.g.Expect(told).To(ContainElement("READY=1"), "a foreign agent would never say so, and the unit's start would time out")
			became = slices.Concat(argv, []string{path})
			return nil
		},
	}
	service.Run(t.Context(), config)
	m.g.Expect(strings.Join(became, " ")).To(Equal("agent --url " + h.URL + " " + m.dir.Path(handover.Binary)))
	m.g.Expect(h.polls).To(BeZero(), "the new agent polls")
	m.g.Expect(m.dir.Read(hostfile.ReasonFile, &hostfile.Reason{})).To(MatchError(hostfile.ErrNoState), "nothing has ended")

	// It crashed; the unit starts the old one, which must not hand over for ever.
	ctx, cancel := context.WithCancel(t.Context())
	h.decide = func(*hub) wire.Steps { cancel(); return instructions(60) }
	became = nil
	m.g.Expect(service.Run(ctx, config)).To(Equal(exitcode.AgentCancelled))
	m.g.Expect(became).To(BeEmpty())
	m.g.Expect(h.versions).To(Equal([]string{newer}), "it polls under the name that the hub's answer gave")
}
