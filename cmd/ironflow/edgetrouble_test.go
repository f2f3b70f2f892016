package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/image"
	"github.com/ironflow/ironflow/agent/agentbased/messages"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/agentbased/programs"
	"github.com/ironflow/ironflow/agent/agentbased/waitfor"
	"github.com/ironflow/ironflow/agent/hubclient"
	hostprogram "github.com/ironflow/ironflow/agent/program"
	"github.com/ironflow/ironflow/api/hostfile"
)

// TestWhyTheHubRefusesTheCluster: what the hub says to the client on node zero is on the console, and
// who waits elsewhere reads the same.
func TestWhyTheHubRefusesTheCluster(t *testing.T) {
	h := newEdgeHost(t, image.Options{Dir: "kubernetes", RendezvousIP: "2001:db8::10"})
	h.Expect(places.Write(h.dir, places.NodeZero, nil, 0o644)).To(Succeed())
	settings, err := places.ReadEnv(h.dir, places.RendezvousHost)
	h.Expect(err).NotTo(HaveOccurred())
	settings[places.ServiceBaseURL] = h.env[places.ServiceBaseURL]
	h.Expect(places.Write(h.dir, places.RendezvousHost, []byte(places.FormatEnv(settings)), 0o600)).To(Succeed())
	raw, err := os.ReadFile(h.dir.Path(places.AgentClusterInstall))
	h.Expect(err).NotTo(HaveOccurred())
	networks := []byte("  networking:\n")
	h.Expect(bytes.Count(raw, networks)).To(Equal(1))
	raw = bytes.Replace(raw, networks, append(networks, "    clusterNetwork: [{cidr: \"2001:db8::/48\", hostPrefix: 64}]\n"...), 1)
	h.Expect(places.Write(h.dir, places.AgentClusterInstall, raw, 0o600)).To(Succeed()) // it has the hosts' own network

	code := programs.Main(t.Context(), hostprogram.Streams{Out: io.Discard, Err: io.Discard}, []string{programs.BinaryName, "agent-installer-client", "registerCluster"})
	h.Expect(code).To(Equal(1))
	said, err := os.ReadFile(h.dir.Path("/etc/motd.d/" + string(messages.SlotRegisterCluster)))
	h.Expect(err).NotTo(HaveOccurred())
	text := strings.TrimSpace(string(said))
	h.Expect(text).To(And(HavePrefix("Installation cannot proceed: the cluster is not registered at the hub, which is tried again: "+
		"register cluster edge: hub answered 400"), ContainSubstring("overlaps")))

	ctx, stop := context.WithCancel(t.Context())
	told := make(chan int, 1)
	go func() {
		told <- programs.Main(ctx, hostprogram.Streams{Out: io.Discard, Err: io.Discard}, []string{programs.BinaryName, "report-messages"})
	}()
	defer func() { stop(); <-told }()
	hub, err := hubclient.New(hubclient.Options{URL: h.env[places.ServiceBaseURL], Header: http.Header{"Watcher-Authorization": {h.env[places.WatcherToken]}}})
	h.Expect(err).NotTo(HaveOccurred())
	defer hub.Close()
	waiting, enough := context.WithCancel(t.Context())
	defer enough()
	var lines []waitfor.Line
	waitfor.Wait{
		Hub: hub, Goal: waitfor.InstallComplete, Every: 100 * time.Millisecond, Quiet: time.Hour, Deadline: time.Hour, Patience: time.Hour,
		Tell: func(l waitfor.Line) {
			if lines = append(lines, l); l.Kind == waitfor.KindEvent {
				enough()
			}
		},
	}.Run(waiting)
	h.Expect(lines).NotTo(BeEmpty())
	h.Expect(lines[0].Text).To(HaveSuffix(text))
	h.Expect(lines[0].Severity).To(Equal("error"))
}

// TestWhyTheHubDoesNotStart: nobody can ask a hub that does not start, so its host says why.
func TestWhyTheHubDoesNotStart(t *testing.T) {
	g := NewWithT(t)
	dir := hostfile.Dir{Root: t.TempDir()}
	t.Setenv(hostfile.RootEnv, dir.Root)
	addr := free(g)
	run := func(ctx context.Context, mac string) error {
		cmd := newAgentBasedCommand()
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetArgs([]string{"--service-base-url=http://" + addr, "--hub-addr=" + addr, "--infra-env-id=11111111-1111-4111-8111-111111111111", "--bootstrap-host-mac=" + mac, "--data-dir=" + t.TempDir()})
		return cmd.ExecuteContext(ctx)
	}
	console := func() string {
		raw, _ := os.ReadFile(dir.Path("/etc/motd.d/" + string(messages.SlotHub))) // missing: it has started
		return string(raw)
	}
	g.Expect(run(t.Context(), "none")).NotTo(Succeed())
	g.Expect(console()).To(BeEmpty(), "not on a host of an installation")
	g.Expect(places.Write(dir, places.NodeZero, nil, 0o644)).To(Succeed())
	g.Expect(run(t.Context(), "none")).NotTo(Succeed())
	g.Expect(console()).To(HavePrefix(`Installation cannot proceed: the hub of this installation does not start, and is tried again: --bootstrap-host-mac "none" is no hardware address`))
	t.Setenv("IRONFLOW_HUB_LOG_LIMIT", "much")
	g.Expect(run(t.Context(), "02:00:00:00:00:0a")).NotTo(Succeed())
	g.Expect(console()).To(ContainSubstring("IRONFLOW_HUB_LOG_LIMIT"))
	t.Setenv("IRONFLOW_HUB_LOG_LIMIT", "1000000")

	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, "02:00:00:00:00:0a") }()
	g.Eventually(get(addr)).Should(Equal(http.StatusOK))
	g.Expect(console()).To(BeEmpty(), "it runs")
	stop()
	g.Expect(<-ended).To(Or(Succeed(), MatchError(context.Canceled)))
}
