//go:build e2e

package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/balance"
	"github.com/ironflow/ironflow/test/postgres"
)

// threeWriting are hosts of a cluster that write their disks, slowly.
func (w *world) threeWriting() (p *pool, id string) {
	w.Helper()
	id = w.newCluster(3)
	p = w.newPool(id)
	for range 3 {
		w.boot(p, slow(wire.HostStageWritingImageToDisk, 15*time.Second))
	}
	w.install(p, id)
	w.untilWriting(p)
	return p, id
}

// arrives expects that the installation goes on to its end, as if nothing had been.
func (w *world) arrives(p *pool, id string) {
	w.Helper()
	w.installs(p)
	w.finish(p, id)
	for _, h := range w.hosts(p) {
		w.Expect(w.written(h.ID)).To(Equal(1), h.ID)
		w.once(h.ID)
	}
}

// once expects that no stage of the host was told twice.
func (w *world) once(host string) {
	w.Helper()
	var events wire.EventList
	w.do(http.MethodGet, "/events?host_id="+host, nil, &events)
	told := map[string]int{}
	for _, e := range events {
		if strings.Contains(e.Message, "reached stage") {
			told[e.Message]++
		}
	}
	w.Expect(told).To(And(Not(BeEmpty()), HaveEach(1)))
}

// TestAReadyHubAnswers: who is sent to a replica that says it is ready is not turned away.
func TestAReadyHubAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 5 {
		_, err := w.user.Call(w.Context(), http.MethodGet, "/clusters", nil)
		w.Expect(err).NotTo(HaveOccurred())
		w.hub.Kill()
		w.start(w.hub)
	}
}

// TestTheHubIsKilled in mid installation and started again. The agents go on
// writing meanwhile, and tell the hub what they have done.
func TestTheHubIsKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, id := w.threeWriting()
	w.hub.Kill()
	<-time.After(3 * time.Second) // a container needs as long to come back
	w.start(w.hub)
	w.arrives(p, id)
}

// TestTheHubIsAwayForTenMinutes in mid installation. Nobody waits for them here:
// while the hub is down, everything that it has stored is made ten minutes older.
func TestTheHubIsAwayForTenMinutes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, id := w.threeWriting()
	w.hub.Kill()
	w.Expect(w.age(10*time.Minute)).To(BeNumerically(">", 6), "times of three hosts and their check-ins")
	w.start(w.hub)
	<-time.After(5 * time.Second) // it has looked at all times by then
	for _, h := range w.hosts(p) {
		w.Expect(h.Status).To(Equal(wire.HostStatusInstallingInProgress), h.StatusInfo)
	}
	w.arrives(p, id)
}

// TestAReplicaIsKilled in mid installation: of two hubs over one PostgreSQL and
// behind a plain balancer, the one that keeps the timers, or the other.
func TestAReplicaIsKilled(t *testing.T) {
	for name, n := range map[string]int{"the first": 0, "the second": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := postgres.New(t)
			args := []string{"--database", db.URL, "--database-password-file", db.PasswordFile}
			w := prepare(t, args...)
			other := w.newHub("other", args...)
			w.start(w.hub)
			w.start(other)
			hosts := balance.TCP(strings.TrimPrefix(w.hub.URL, "https://"), strings.TrimPrefix(other.URL, "https://"))
			w.connect("https://"+balance.Start(t, "127.0.0.1", hosts...), w.hub.CA)
			p, id := w.threeWriting()
			[]interface{ Kill() }{w.hub, other}[n].Kill()
			w.arrives(p, id)
		})
	}
}
