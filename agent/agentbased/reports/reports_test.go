package reports_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/messages"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/agentbased/reports"
	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
)

// noTerminal is a host without one.
type noTerminal struct{}

func (noTerminal) Run(context.Context, command.Command) error { return errors.New("no terminal") }

type hub struct {
	err error
	// unknown tells that it knows no host.
	unknown bool
	events  []wire.Event
}

func (h *hub) AddEvent(_ context.Context, e wire.Event) error {
	if h.unknown && e.HostID != nil {
		return &hubclient.StatusError{Code: 404}
	}
	if h.err == nil {
		h.events = append(h.events, e)
	}
	return h.err
}

func (h *hub) Close() {}

func TestTheHubIsToldWhatTheConsoleSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		dir := hostfile.Dir{Root: t.TempDir()}
		log := slog.New(slog.DiscardHandler)
		console := &messages.Console{Dir: dir, Commands: noTerminal{}, Log: log}
		h := &hub{err: errors.New("connection refused")}
		begin := func() (stop func()) {
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			p := reports.Program{
				Dir: dir, Log: log, HostID: func() string { return "h" }, Hostname: func() string { return "edge1" },
				Hub: func(map[string]string) (reports.Hub, error) { return h, nil },
			}
			go func() { ended <- p.Run(ctx) }()
			return func() {
				cancel()
				g.Expect(<-ended).To(Or(Succeed(), MatchError(context.Canceled)))
			}
		}
		stop := begin()
		console.Show(t.Context(), messages.RendezvousIs, "192.0.2.1", "eth0")
		<-time.After(time.Minute)
		g.Expect(places.Write(dir, places.ClientConfig, []byte("INFRA_ENV_ID=e\n"), 0o600)).To(Succeed())
		h.err = nil
		<-time.After(time.Minute)
		synctest.Wait()
		g.Expect(h.events).To(HaveLen(1))
		e := h.events[0]
		g.Expect(e.Message).To(Equal("Host edge1: This host is the rendezvous host: it has 192.0.2.1 on eth0."))
		g.Expect(e.Name).To(Equal("agent_based_rendezvous_is"))
		g.Expect(e.Severity).To(Equal("info"))
		g.Expect(*e.HostID + *e.InfraEnvID).To(Equal("he"))
		g.Expect(e.ClusterID).To(BeNil())

		stop()
		stop = begin()
		<-time.After(time.Minute)
		synctest.Wait()
		g.Expect(h.events).To(HaveLen(1), "a restart tells nothing twice")
		h.err = &hubclient.StatusError{Code: 400}
		console.Show(t.Context(), messages.StartInstalled)
		<-time.After(time.Minute)
		h.err = nil
		console.Show(t.Context(), messages.RendezvousIsNot, "192.0.2.1", "192.0.2.7 on eth0")
		<-time.After(time.Minute)
		synctest.Wait()
		g.Expect(h.events).To(HaveLen(2), "one that it refuses holds the others up no longer")
		g.Expect(h.events[1].Message).To(ContainSubstring("is not the rendezvous host"))
		h.unknown = true
		console.Show(t.Context(), messages.TokensExpired, "now", "then")
		<-time.After(time.Minute)
		synctest.Wait()
		g.Expect(h.events).To(HaveLen(3), "a host that cannot register is heard as well")
		g.Expect(h.events[2].HostID).To(BeNil())
		h.unknown = false
		g.Expect(places.Write(dir, places.AddNodes, []byte("CLUSTER_ID=its-own\n"), 0o600)).To(Succeed())
		console.Show(t.Context(), messages.AddNodeInstalling, "it is ready")
		<-time.After(time.Minute)
		synctest.Wait()
		g.Expect(h.events).To(HaveLen(4))
		g.Expect(h.events[3].ClusterID).To(BeNil(), "the hub does not know a running cluster by the id that it has there")
		stop()
	})
}
