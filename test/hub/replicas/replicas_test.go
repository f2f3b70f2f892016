package replicas_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/rest"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
	"github.com/ironflow/ironflow/test/postgres"
)

// patience is for a machine that has other work.
const patience = 5 * time.Minute

// world is a cluster of three hosts whose agents reach the hub through the balancer.
type world struct {
	*WithT
	t   *testing.T
	url string
	// hub sees the same records; it serves nobody and keeps no timers.
	hub   *service.Hub
	hosts []store.HostKey
}

// call makes a call as agents do: what may pass is repeated.
func (w *world) call(method, path string, in, out any) {
	w.t.Helper()
	raw, err := json.Marshal(in)
	w.Expect(err).NotTo(HaveOccurred())
	w.Eventually(func() error {
		r, err := http.NewRequestWithContext(w.t.Context(), method, w.url+rest.Base+"/v2/infra-envs/"+path, bytes.NewReader(raw))
		if err != nil {
			return err
		}
		r.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		switch {
		case err != nil:
			return err
		case answer.StatusCode >= 500: // a balancer's 502, or 503
			return fmt.Errorf("%s %s: %s", method, path, answer.Status)
		case answer.StatusCode >= 300:
			return StopTrying(fmt.Sprintf("%s %s: %s: %s", method, path, answer.Status, text))
		case out != nil:
			return json.Unmarshal(text, out)
		}
		return nil
	}, patience, 50*time.Millisecond).Should(Succeed())
}

func path(h store.HostKey) string { return h.InfraEnvID + "/hosts/" + h.HostID }

func (w *world) register(h store.HostKey) {
	w.call(http.MethodPost, h.InfraEnvID+"/hosts", wire.HostCreateParams{HostID: h.HostID, DiscoveryAgentVersion: "agent:test"}, nil)
}

func (w *world) poll(h store.HostKey) (steps wire.Steps) {
	w.call(http.MethodGet, path(h)+"/instructions", nil, &steps)
	return steps
}

func (w *world) reply(h store.HostKey, step wire.StepType, output any) {
	raw, err := json.Marshal(output)
	w.Expect(err).NotTo(HaveOccurred())
	w.call(http.MethodPost, path(h)+"/instructions", wire.StepReply{StepType: step, Output: string(raw)}, nil)
}

func (w *world) stage(stage wire.HostStage) {
	for _, h := range w.hosts {
		w.call(http.MethodPut, path(h)+"/progress", wire.HostProgress{CurrentStage: stage}, nil)
	}
}

func (w *world) status(h store.HostKey) func() (string, error) {
	return func() (string, error) {
		found, err := w.hub.Host(w.t.Context(), h)
		return found.Status, err
	}
}

// begin brings three hosts to the beginning of their installation.
func (w *world) begin() {
	const cluster = "22222222-2222-4222-8222-222222222222"
	_, err := w.hub.EnsureCluster(w.t.Context(), service.ClusterSpec{ID: cluster, Name: "edge", Masters: 1, Workers: 2})
	w.Expect(err).NotTo(HaveOccurred())
	env := uuid.NewString()
	_, err = w.hub.EnsureInfraEnv(w.t.Context(), service.InfraEnvSpec{ID: env, Name: "env", ClusterID: cluster, AutoApprove: true})
	w.Expect(err).NotTo(HaveOccurred())
	for range 3 {
		w.hosts = append(w.hosts, store.HostKey{InfraEnvID: env, HostID: uuid.NewString()})
	}
	for i, h := range w.hosts {
		w.register(h)
		w.poll(h)
		w.reply(h, wire.StepTypeInventory, testhub.Inventory(i+1))
	}
	for i, h := range w.hosts {
		w.reply(h, wire.StepTypeInstallationDiskSpeedCheck, wire.DiskSpeedCheckResponse{IoSyncDuration: 1, Path: testhub.Inventory(i + 1).Disks[0].ID})
	}
	for _, h := range w.hosts {
		w.Eventually(w.status(h), patience).Should(Equal(wire.HostStatusInstalling), "an order that the hub has prepared")
	}
	w.stage(wire.HostStageWritingImageToDisk)
}

// TestReplicaThatIsKilled in mid installation: the other one goes on with everything,
// nothing is lost, and nothing is told twice.
func TestReplicaThatIsKilled(t *testing.T) {
	for name, first := range map[string]bool{"the one that keeps the timers": true, "the other one": false} {
		t.Run(name, func(t *testing.T) {
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
			w.begin()

			kill := killFollower
			if first {
				kill = killLeader
			}
			kill()
			for _, h := range w.hosts {
				w.poll(h)
				w.Expect(w.status(h)()).To(Equal(wire.HostStatusInstallingInProgress))
			}
			w.stage(wire.HostStageRebooting)
			w.Eventually(held, patience).Should(HaveLen(2), "the lease of the dead one is given up")
			w.stage(wire.HostStageDone)
			for _, h := range w.hosts {
				w.Eventually(w.status(h), patience).Should(Equal(wire.HostStatusInstalled))
			}

			// The timers go on: a host that falls silent is noticed, once.
			silent := store.HostKey{InfraEnvID: uuid.NewString(), HostID: uuid.NewString()}
			_, err = w.hub.EnsureInfraEnv(t.Context(), service.InfraEnvSpec{ID: silent.InfraEnvID, Name: "pool"})
			w.Expect(err).NotTo(HaveOccurred())
			w.register(silent)
			w.Eventually(w.status(silent), patience).Should(Equal(wire.HostStatusDisconnectedUnbound))
			w.once(append(w.hosts, silent))
		})
	}
}

// once expects that nothing about the hosts was told twice.
func (w *world) once(hosts []store.HostKey) {
	for _, h := range hosts {
		events, _, err := w.hub.Events(w.t.Context(), store.EventFilter{HostIDs: []string{h.HostID}})
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
