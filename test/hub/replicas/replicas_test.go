package replicas_test

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/flow/dryhost"
	"github.com/ironflow/ironflow/test/postgres"
	"github.com/ironflow/ironflow/test/scenario/generate"
)

// patience is for a machine that has other work.
const patience = 5 * time.Minute

// agents is the path of the host agent.
var agents string

// world is a cluster of three hosts whose agents reach the hub through the balancer. All
// that the hub hears of a host comes from its agent, as it is shipped, in dry run.
type world struct {
	*WithT
	t   *testing.T
	url string
	// hub sees the same records; it serves nobody and keeps no timers.
	hub *service.Hub
	env string
}

// agent is one that runs on a pretended host.
type agent struct {
	command *exec.Cmd
	log     bytes.Buffer
	ended   chan int
}

// boot starts the agent of a host in an infra-env. Its disk is written for a while, so that
// a replica can be killed meanwhile.
func (w *world) boot(index int, env string) *agent {
	w.t.Helper()
	s := generate.Machine(index, generate.Options{})
	s.Install = scenario.Install{
		DefaultStage: scenario.Duration{Duration: 50 * time.Millisecond},
		Stages:       map[string]scenario.Duration{string(wire.HostStageWritingImageToDisk): {Duration: 40 * time.Second}},
	}
	m, err := dryhost.New(w.t.TempDir(), agents, s)
	w.Expect(err).NotTo(HaveOccurred())
	a := &agent{ended: make(chan int, 1)}
	a.command, err = m.Agent(context.WithoutCancel(w.t.Context()), dryhost.Hub{URL: w.url, InfraEnv: env, Token: "anybody"})
	w.Expect(err).NotTo(HaveOccurred())
	a.command.Stderr = &a.log
	w.Expect(a.command.Start()).To(Succeed())
	go func() {
		code, err := dryhost.ExitCode(a.command.Wait())
		if err != nil {
			code = -2
		}
		a.ended <- code
	}()
	w.t.Cleanup(func() {
		a.kill()
		if w.t.Failed() {
			w.t.Log(a.log.String())
		}
	})
	return a
}

// kill ends it wherever it is, and waits for that.
func (a *agent) kill() {
	if a.ended == nil {
		return
	}
	_ = a.command.Process.Kill() // it may have ended
	<-a.ended
	a.ended = nil
}

// arrives waits for the agent's own good end.
func (w *world) arrives(a *agent) {
	w.t.Helper()
	w.Eventually(a.ended, patience).Should(Receive(Equal(exitcode.AgentInstalled)))
	a.ended = nil
}

// hosts are those of an infra-env.
func (w *world) hosts(env string) func() ([]*wire.Host, error) {
	return func() (all []*wire.Host, err error) {
		found, err := w.hub.Hosts(w.t.Context(), store.HostFilter{InfraEnvID: env})
		for i := range found {
			all = append(all, &found[i])
		}
		return all, err
	}
}

func status(s string) OmegaMatcher { return HaveField("Status", s) }

// begin brings three hosts to where their disks are written.
func (w *world) begin() (all []*agent) {
	const cluster = "22222222-2222-4222-8222-222222222222"
	_, err := w.hub.EnsureCluster(w.t.Context(), service.ClusterSpec{ID: cluster, Name: "edge", Masters: 1, Workers: 2})
	w.Expect(err).NotTo(HaveOccurred())
	w.env = uuid.NewString()
	_, err = w.hub.EnsureInfraEnv(w.t.Context(), service.InfraEnvSpec{ID: w.env, Name: "env", ClusterID: cluster, AutoApprove: true})
	w.Expect(err).NotTo(HaveOccurred())
	for i := range 3 {
		all = append(all, w.boot(i+1, w.env))
	}
	w.Eventually(w.hosts(w.env), patience).Should(And(HaveLen(3), HaveEach(HaveField("Progress", And(
		Not(BeNil()), HaveField("CurrentStage", wire.HostStageWritingImageToDisk))))), "an order that the hub has prepared")
	return all
}

// TestReplicaThatIsKilled in mid installation: the other one goes on with everything,
// nothing is lost, and nothing is told twice.
func TestReplicaThatIsKilled(t *testing.T) {
	for name, first := range map[string]bool{"the one that keeps the timers": true, "the other one": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // most of it is waiting for a host to be called silent
			db := postgres.New(t)
			leader, killLeader := start(t, db)
			hub, s, err := open(t.Context(), db.URL, db.PasswordFile, t.TempDir())
			w := &world{WithT: NewWithT(t), t: t, hub: hub}
			w.Expect(err).NotTo(HaveOccurred())
			t.Cleanup(func() { _ = s.Close() })
			held := func() (names []string) {
				w.Expect(s.View(t.Context(), func(r *store.Reader) error {
					found, err := r.Leases()
					for _, l := range found {
						names = append(names, l.Name)
					}
					return err
				})).To(Succeed())
				return names
			}
			w.Eventually(held, patience).Should(ContainElement("timers"))
			follower, killFollower := start(t, db)
			w.Eventually(held, patience).Should(HaveLen(3))
			w.url = balance(t, leader, follower)
			installing := w.begin()

			kill := killFollower
			if first {
				kill = killLeader
			}
			kill()
			// A host falls silent, which the timers have to notice.
			pool := uuid.NewString()
			_, err = w.hub.EnsureInfraEnv(t.Context(), service.InfraEnvSpec{ID: pool, Name: "pool"})
			w.Expect(err).NotTo(HaveOccurred())
			silent := w.boot(9, pool)
			w.Eventually(w.hosts(pool), patience).Should(HaveLen(1))
			silent.kill()

			for _, a := range installing {
				w.arrives(a)
			}
			w.Eventually(held, patience).Should(HaveLen(2), "the lease of the dead one is given up")
			w.Eventually(w.hosts(w.env), patience).Should(HaveEach(status(wire.HostStatusInstalled)), "nobody is inside the cluster: the hub ends it by its timers")
			w.Eventually(w.hosts(pool), patience).Should(HaveEach(status(wire.HostStatusDisconnectedUnbound)))
			w.once(w.env, pool)
		})
	}
}

// once expects that nothing about the hosts of infra-envs was told twice.
func (w *world) once(envs ...string) {
	for _, env := range envs {
		hosts, err := w.hosts(env)()
		w.Expect(err).NotTo(HaveOccurred())
		for _, h := range hosts {
			events, _, err := w.hub.Events(w.t.Context(), store.EventFilter{HostIDs: []string{h.ID}})
			w.Expect(err).NotTo(HaveOccurred())
			told := map[string]int{}
			for _, e := range events {
				for _, what := range []string{"reached stage", "installing", "installed (", "disconnected"} {
					if strings.Contains(e.Message, what) {
						told[e.Message]++
						break
					}
				}
			}
			w.Expect(told).NotTo(BeEmpty())
			w.Expect(told).To(HaveEach(1))
		}
	}
}
