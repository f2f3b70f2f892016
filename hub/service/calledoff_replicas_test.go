package service_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/postgres"
)

// deaf is a store whose announcements do not arrive: what is remembered of it stays as it was.
type deaf struct{ store.Store }

func (deaf) Watch(func([]store.Change)) (stop func()) { return func() {} }

// TestAnOrderIsConfirmedAtTheStore: a replica that has not heard of a cancel hands out
// nothing that costs what is on a disk, and reads nothing for a host that has no such order.
func TestAnOrderIsConfirmedAtTheStore(t *testing.T) {
	for name, tc := range map[string]struct {
		prepare func(*world)
		order   wire.StepType
	}{
		"an installation":           {func(w *world) { w.checkDisk(hostA); w.comesTo(hostA, wire.HostStatusInstalling) }, wire.StepTypeInstall},
		"a measurement of its disk": {func(w *world) { w.comesTo(hostA, wire.HostStatusPreparingForInstallation) }, wire.StepTypeInstallationDiskSpeedCheck},
	} {
		t.Run(name, func(t *testing.T) {
			records, err := store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "hub.sqlite"))
			NewWithT(t).Expect(err).NotTo(HaveOccurred())
			t.Cleanup(func() { _ = records.Close() })
			counts := &counting{Store: deaf{records}}
			w := &world{Hub: replica(t, records), WithT: NewWithT(t), t: t, ctx: t.Context()}
			other := &world{Hub: replica(t, counts), WithT: w.WithT, t: t, ctx: w.ctx}
			w.watch()
			_, err = w.EnsureInfraEnv(w.ctx, service.InfraEnvSpec{ID: envID, Name: "env", SingleHost: true, AutoApprove: true})
			w.Expect(err).NotTo(HaveOccurred())
			w.register(hostA)
			w.inventory(hostA, nil)
			tc.prepare(w)
			w.Expect(other.poll(hostA)).To(ContainElement(tc.order))

			view, _, err := w.View(w.ctx, key(hostA))
			w.Expect(err).NotTo(HaveOccurred())
			_, err = w.CancelInstallation(w.ctx, view.ClusterID)
			w.Expect(err).NotTo(HaveOccurred())
			now := w.poll(hostA)
			w.Expect(now).NotTo(ContainElement(tc.order))
			w.Expect(other.poll(hostA)).To(Equal(now))
			counts.work()
			w.Expect(other.poll(hostA)).To(Equal(now))
			views, _ := counts.work()
			w.Expect(views).To(BeZero(), "what costs nothing is answered from memory")
		})
	}
}

// TestNoReplicaOrdersWhatWasCalledOff: whoever was answered that an installation is called off must
// not see a disk wiped afterwards, whichever replica the agent asks next: while announcements of
// changes arrive, and while the connection that they come by hangs.
func TestNoReplicaOrdersWhatWasCalledOff(t *testing.T) {
	db := postgres.New(t)
	a, b := sharing(t, db), sharing(t, db)
	for range 20 {
		a.installingAnother()
		a.Eventually(func() []wire.StepType { return b.poll(a.host) }, time.Minute, "5ms").Should(ContainElement(wire.StepTypeInstall))
		a.cancel()
		a.Expect(b.poll(a.host)).NotTo(ContainElement(wire.StepTypeInstall))
	}
	a.installingAnother()
	a.Eventually(func() []wire.StepType { return b.poll(a.host) }, time.Minute, "5ms").Should(ContainElement(wire.StepTypeInstall))
	hangs(t, db)
	a.cancel()
	for range 10 {
		a.Expect(b.poll(a.host)).NotTo(ContainElement(wire.StepTypeInstall))
	}
}

// sharer is a hub over a database that it shares, and the host that it looks at.
type sharer struct {
	*world
	host string
}

func sharing(t *testing.T, db *postgres.Database) *sharer {
	t.Helper()
	records, err := store.OpenPostgres(t.Context(), store.PostgresOptions{URL: db.URL, PasswordFile: db.PasswordFile})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = records.Close() })
	w := &world{Hub: replica(t, records), WithT: NewWithT(t), t: t, ctx: t.Context()}
	w.watch()
	return &sharer{world: w}
}

// installingAnother has a new host told to install.
func (s *sharer) installingAnother() {
	s.t.Helper()
	_, err := s.EnsureInfraEnv(s.ctx, service.InfraEnvSpec{ID: envID, Name: "env", SingleHost: true, AutoApprove: true})
	s.Expect(err).NotTo(HaveOccurred())
	// The last digit makes its name and addresses, which only hosts of one cluster must not share.
	s.host = uuid.NewString()[:35] + "1"
	s.register(s.host)
	s.inventory(s.host, nil)
	s.checkDisk(s.host)
	s.comesTo(s.host, wire.HostStatusInstalling)
	s.Expect(slices.Contains(s.poll(s.host), wire.StepTypeInstall)).To(BeTrue())
}

func (s *sharer) cancel() {
	s.t.Helper()
	view, _, err := s.View(s.ctx, key(s.host))
	s.Expect(err).NotTo(HaveOccurred())
	_, err = s.CancelInstallation(s.ctx, view.ClusterID)
	s.Expect(err).NotTo(HaveOccurred())
}

// hangs stops the server of the connections that bring announcements: nothing arrives, and
// nothing says so.
func hangs(t *testing.T, db *postgres.Database) {
	t.Helper()
	g := NewWithT(t)
	config, err := pgx.ParseConfig(db.URL)
	g.Expect(err).NotTo(HaveOccurred())
	raw, err := os.ReadFile(db.PasswordFile)
	g.Expect(err).NotTo(HaveOccurred())
	config.Password = strings.TrimSpace(string(raw))
	conn, err := pgx.ConnectConfig(t.Context(), config)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	rows, err := conn.Query(t.Context(), `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'`)
	g.Expect(err).NotTo(HaveOccurred())
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int])
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(pids).To(HaveLen(2))
	for _, pid := range pids {
		g.Expect(syscall.Kill(pid, syscall.SIGSTOP)).To(Succeed())
		t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
	}
}
