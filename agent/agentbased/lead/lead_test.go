package lead

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/hostconfig"
	"github.com/ironflow/ironflow/agent/agentbased/messages"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
)

func hosts(states ...string) (all []wire.Host) {
	for i, s := range states {
		all = append(all, wire.Host{ID: "id" + string(rune('a'+i)), RequestedHostname: "edge" + string(rune('1'+i)), Status: s, StatusInfo: "About it."})
	}
	return all
}

func TestWhenTheClusterIsInstalled(t *testing.T) {
	three := Required{Masters: 3}
	for _, tc := range []struct {
		name     string
		required Required
		status   string
		hosts    []wire.Host
		want     step
		says     string
	}{
		{"nobody is there", three, "pending-for-input", nil, step{message: messages.StartHostsMissing}, "0 of 3 hosts are ready (3 of the control plane), 3 have not registered"},
		{
			"one is missing, one is not ready", three, "insufficient", hosts("known", "insufficient"),
			step{message: messages.StartHostsMissing},
			"1 of 3 hosts are ready (3 of the control plane), 1 are not validated, 1 have not registered\n  edge2: insufficient (About it)",
		},
		{"workers and arbiters count", Required{2, 1, 1}, "ready", hosts("known", "known", "known", "known"), step{install: true, message: messages.StartInstalling}, "all hosts are ready"},
		{"ready", three, "ready", hosts("known", "known", "known"), step{install: true, message: messages.StartInstalling}, "all hosts are ready"},
		{"ready again after a preparation that failed", three, "ready", hosts("known", "known", "known"), step{install: true, message: messages.StartInstalling}, "all hosts are ready"},
		{"hosts are, the cluster is not", three, "insufficient", hosts("known", "known", "known"), step{message: messages.StartClusterNotReady}, "insufficient (Sentence)"},
		{"too many", three, "ready", hosts("known", "known", "known", "known"), step{message: messages.StartHostsTooMany}, "1 are too many\n  edge1: known (About it)"},
		{"preparing", three, "preparing-for-installation", hosts("known"), step{message: messages.StartInstalling}, "preparing-for-installation"},
		{"installing", three, "installing", hosts("installed", "installing-in-progress"), step{message: messages.StartInstalling}, "installing, 1 of 2 hosts are installed"},
		{
			"a person has to act", three, "installing-pending-user-action", hosts("installing-in-progress", "installing-pending-user-action"),
			step{message: messages.StartPersonWanted},
			"installing-pending-user-action (Sentence)\n  edge2: installing-pending-user-action (About it)",
		},
		{"failed", three, "error", hosts("error"), step{failed: true, message: messages.StartEnded}, "error (Sentence)"},
		{"installed", three, "installed", nil, step{done: true, message: messages.StartInstalled}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			got := decideCluster(tc.required, wire.Cluster{Status: tc.status, StatusInfo: "Sentence.", Hosts: tc.hosts})
			g.Expect(strings.Join(got.args, "|")).To(ContainSubstring(tc.says))
			got.args = nil
			g.Expect(got).To(Equal(tc.want))
		})
	}
}

func TestAMessageFitsTheScreen(t *testing.T) {
	g := NewWithT(t)
	text := hostsInWords(Required{Masters: 3, Workers: 97}, hosts(slices.Repeat([]string{"insufficient"}, 50)...))
	g.Expect(strings.Count(text, "\n")).To(Equal(9))
	g.Expect(text).To(HaveSuffix("\n  and others"))
}

func TestWhenTheHostIsInstalled(t *testing.T) {
	for status, want := range map[string]step{
		"discovering":                {message: messages.AddNodeWaiting, args: []string{"discovering"}},
		"insufficient":               {message: messages.AddNodeWaiting, args: []string{"insufficient"}},
		"known":                      {install: true, message: messages.AddNodeInstalling, args: []string{"it is ready"}},
		"installing-in-progress":     {message: messages.AddNodeInstalling, args: []string{"installing-in-progress"}},
		"added-to-existing-cluster":  {done: true, message: messages.AddNodeInstalling, args: []string{"added-to-existing-cluster"}},
		"error":                      {failed: true, message: messages.AddNodeEnded, args: []string{"error"}},
		"preparing-for-installation": {message: messages.AddNodeInstalling, args: []string{"preparing-for-installation"}},
	} {
		NewWithT(t).Expect(decideNode(wire.Host{Status: status})).To(Equal(want), status)
	}
	waits := wire.Host{
		Status: "installing-pending-user-action", StatusInfo: "The host booted the live image again instead of its disk; correct its boot order and reboot it.",
		Progress: &wire.HostProgressInfo{CurrentStage: wire.HostStageRebooting},
	}
	NewWithT(t).Expect(decideNode(waits)).To(Equal(step{message: messages.AddNodePersonWanted, args: []string{
		"installing-pending-user-action (The host booted the live image again instead of its disk; correct its boot order and reboot it)",
	}}), "the hub's reason, not the stage")
}

func TestHowManyHostsThereWillBe(t *testing.T) {
	g := NewWithT(t)
	dir := hostfile.Dir{Root: t.TempDir()}
	_, err := required(dir, nil)
	g.Expect(err).To(MatchError(ContainSubstring("neither REQUIRED_MASTER_NODES is set, nor can /etc/assisted/manifests/agent-cluster-install.yaml be read")))
	g.Expect(places.Write(dir, places.AgentClusterInstall, []byte("spec:\n  provisionRequirements:\n    controlPlaneAgents: 3\n    workerAgents: 2\n    arbiterAgents: 1\n"), 0o600)).To(Succeed())
	g.Expect(required(dir, nil)).To(Equal(Required{3, 2, 1}))
	g.Expect(required(dir, map[string]string{"REQUIRED_MASTER_NODES": "1", "REQUIRED_WORKER_NODES": "0"})).To(Equal(Required{Masters: 1}))
	_, err = required(dir, map[string]string{"REQUIRED_MASTER_NODES": "three"})
	g.Expect(err).To(MatchError(`REQUIRED_MASTER_NODES "three": want a number of hosts`))
	_, err = required(dir, map[string]string{"REQUIRED_MASTER_NODES": "0"})
	g.Expect(err).To(MatchError(ContainSubstring("at least one host of the control plane")))
}

// hub is one that the test moves on.
type hub struct {
	err      error
	clusters []wire.Cluster
	envs     []wire.InfraEnv
	hosts    []wire.Host
	refuses  error
	orders   []string
	// closed counts the looks that have ended.
	closed int
}

func (h *hub) Close() { h.closed++ }

func (h *hub) Clusters(context.Context) ([]wire.Cluster, error)   { return h.clusters, h.err }
func (h *hub) InfraEnvs(context.Context) ([]wire.InfraEnv, error) { return h.envs, h.err }
func (h *hub) Hosts(context.Context, string) ([]wire.Host, error) { return h.hosts, h.err }
func (h *hub) InstallCluster(_ context.Context, cluster string) error {
	h.orders = append(h.orders, cluster)
	return h.refuses
}

func (h *hub) InstallHost(_ context.Context, env, host string) error {
	h.orders = append(h.orders, env+"/"+host)
	return h.refuses
}

// noTerminal is a host without one.
type noTerminal struct{}

func (noTerminal) Run(context.Context, command.Command) error { return errors.New("no terminal") }

func leader(t *testing.T, h *hub) (Leader, func(slot messages.Slot) string) {
	dir := hostfile.Dir{Root: t.TempDir()}
	log := slog.New(slog.DiscardHandler)
	l := Leader{
		Dir: dir, Log: log, Console: &messages.Console{Dir: dir, Commands: noTerminal{}, Log: log},
		Hub: func(map[string]string) (Hub, error) { return h, nil },
	}
	return l, func(slot messages.Slot) string {
		raw, _ := os.ReadFile(dir.Path("/etc/motd.d/" + string(slot)))
		return string(raw)
	}
}

// configured has the hosts get what the image says of them.
func configured(t *testing.T, dir hostfile.Dir, hosts []wire.Host) {
	t.Helper()
	applied := hostconfig.Applied{}
	for i := range hosts {
		applied[hostconfig.Of(&hosts[i])] = true
	}
	NewWithT(t).Expect(applied.Write(dir)).To(Succeed())
}

// next lets the hub be asked once more: a second after that, nothing is on its way.
func next() { <-time.After(every); synctest.Wait() }

func TestACluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		h := &hub{err: errors.New("connection refused")}
		l, says := leader(t, h)
		ended := make(chan error, 1)
		go func() { ended <- l.Cluster(t.Context()) }()
		<-time.After(time.Second)
		g.Expect(says(messages.SlotStart)).To(ContainSubstring("The hub does not start the installation: how many hosts"))
		g.Expect(places.Write(l.Dir, places.StartCluster, []byte("REQUIRED_MASTER_NODES=1\n"), 0o600)).To(Succeed())
		next()
		g.Expect(says(messages.SlotStart)).To(Equal("The hub of this installation does not answer: connection refused.\n"))
		h.err = nil
		next()
		g.Expect(says(messages.SlotStart)).To(ContainSubstring("the cluster is not registered yet"))
		h.clusters = make([]wire.Cluster, 2)
		next()
		g.Expect(says(messages.SlotStart)).To(ContainSubstring("it has 2 clusters"))
		h.clusters, h.refuses = []wire.Cluster{{ID: "c", Status: "ready", Hosts: hosts("known")}}, errors.New("409 not now")
		configured(t, l.Dir, nil)
		next()
		g.Expect(says(messages.SlotStart)).To(Equal("The installation has not begun: the roles and disks that the image says are not set yet of 1 hosts (edge1).\n"))
		configured(t, l.Dir, hosts("known"))
		next()
		g.Expect(says(messages.SlotStart)).To(Equal("The hub does not start the installation: 409 not now.\n"))
		g.Expect(h.orders).To(Equal([]string{"c"}))
		h.refuses = nil
		next()
		g.Expect(h.orders).To(Equal([]string{"c", "c"}))
		g.Expect(h.closed).To(Equal(7), "connections of a look do not outlive it")
		h.clusters[0].Status, h.clusters[0].Progress = "installing", &wire.ClusterProgressInfo{TotalPercentage: 40}
		next()
		g.Expect(says(messages.SlotStart)).To(Equal("The cluster is being installed: installing 40%.\n"))
		h.clusters[0].Status = "ready" // the preparation has failed
		next()
		g.Expect(h.orders).To(HaveLen(3), "whenever the cluster is ready")
		h.clusters[0].Hosts[0].CreatedAt = time.Unix(1, 0)
		next()
		g.Expect(h.orders).To(HaveLen(3), "a host that was removed and has registered again")
		h.clusters[0].Status = "installed"
		g.Expect(<-ended).To(Succeed())
		g.Expect(says(messages.SlotStart)).To(Equal("The cluster is installed.\n"))
	})
}

func TestANode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		h := &hub{}
		l, says := leader(t, h)
		ended := make(chan error, 1)
		go func() { ended <- l.Node(t.Context(), "idb") }()
		<-time.After(time.Second)
		g.Expect(says(messages.SlotAddNode)).To(ContainSubstring("INFRA_ENV_ID is not known yet"))
		g.Expect(places.Write(l.Dir, places.ClientConfig, []byte("INFRA_ENV_ID=e\n"), 0o600)).To(Succeed())
		h.hosts = hosts("known")
		next()
		g.Expect(says(messages.SlotAddNode)).To(ContainSubstring("it has not registered yet"))
		g.Expect(h.orders).To(BeEmpty(), "another host's business")
		configured(t, l.Dir, h.hosts)
		h.hosts = hosts("known", "known")
		next()
		g.Expect(says(messages.SlotAddNode)).To(ContainSubstring("the roles and disks that the image says are not set yet of 1 hosts (edge2)"))
		configured(t, l.Dir, h.hosts)
		next()
		g.Expect(h.orders).To(Equal([]string{"e/idb"}))
		h.hosts = hosts("known", "error")
		g.Expect(<-ended).To(MatchError(ErrFailed))
		g.Expect(says(messages.SlotAddNode)).To(Equal("The installation of this host has failed: error (About it).\n"))
	})
}

func TestTheInfraEnvOfTheAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		h := &hub{err: errors.New("connection refused")}
		l, _ := leader(t, h)
		g.Expect(places.Write(l.Dir, places.RendezvousHost, []byte("SERVICE_BASE_URL=http://192.0.2.1:8090/\n"), 0o600)).To(Succeed())
		done := make(chan [2]string, 1)
		go func() {
			id, url, err := l.InfraEnv(t.Context())
			g.Expect(err).NotTo(HaveOccurred())
			done <- [2]string{id, url}
		}()
		<-time.After(time.Second)
		h.err = nil
		next()
		h.envs = []wire.InfraEnv{{ID: "e"}, {ID: "f"}}
		g.Expect(<-done).To(Equal([2]string{"e", "http://192.0.2.1:8090/"}))

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		h.envs = nil
		_, _, err := l.InfraEnv(ctx)
		g.Expect(err).To(MatchError(context.Canceled))
	})
}
