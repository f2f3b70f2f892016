package service_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/ironflow/ironflow/hub/filestore"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
	"github.com/ironflow/ironflow/test/postgres"
)

func TestMain(m *testing.M) {
	postgres.Main(m, func() error { return goleak.Find() }, rulesDecided)
}

const (
	envID = "11111111-1111-4111-8111-111111111111"
	hostA = "aaaaaaaa-0000-4000-8000-000000000001"
	hostB = "aaaaaaaa-0000-4000-8000-000000000002"
	hostC = "aaaaaaaa-0000-4000-8000-000000000003"
)

func key(host string) store.HostKey { return store.HostKey{InfraEnvID: envID, HostID: host} }

// world is a hub with one infra-env and what a test does with it.
type world struct {
	*service.Hub
	*WithT
	t       *testing.T
	ctx     context.Context
	records store.Store
}

// start makes a hub without HTTP. spec is the infra-env; nil means single hosts that start approved.
func start(t *testing.T, o service.Options, spec *service.InfraEnvSpec) *world {
	t.Helper()
	runs(t)
	dir := t.TempDir()
	s, err := store.OpenSQLite(t.Context(), filepath.Join(dir, "hub.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	root, err := filestore.OpenDirectory(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = s.Close(), root.Close() })
	o.Store, o.Files, o.Keys = s, root, testhub.Keys()
	hub, err := service.New(o)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{Hub: hub, WithT: NewWithT(t), t: t, ctx: t.Context(), records: s}
	w.watch()
	if spec == nil {
		spec = &service.InfraEnvSpec{SingleHost: true, AutoApprove: true}
	}
	spec.ID, spec.Name = envID, "env"
	_, err = hub.EnsureInfraEnv(w.ctx, *spec)
	w.Expect(err).NotTo(HaveOccurred())
	return w
}

// watch has the hub do its own work until the test ends, or the returned function is called.
func (w *world) watch() (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.ctx))
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		w.Expect(<-done).To(Succeed())
	})
	w.t.Cleanup(stop)
	return stop
}

// comesTo waits for a status that follows from slow work.
func (w *world) comesTo(host, status string) {
	w.t.Helper()
	w.Eventually(func() string { return w.status(host) }, time.Minute).Should(Equal(status), w.info(host))
}

func (w *world) register(host string) string {
	w.t.Helper()
	answer, err := w.RegisterHost(w.ctx, service.Registration{InfraEnvID: envID, HostID: host, AgentVersion: "agent:1"})
	w.Expect(err).NotTo(HaveOccurred())
	return answer.Status
}

func (w *world) status(host string) string {
	w.t.Helper()
	h, err := w.Host(w.ctx, key(host))
	w.Expect(err).NotTo(HaveOccurred())
	return h.Status
}

func (w *world) info(host string) string {
	w.t.Helper()
	h, err := w.Host(w.ctx, key(host))
	w.Expect(err).NotTo(HaveOccurred())
	return h.StatusInfo
}

func (w *world) reply(host string, step wire.StepType, output any) error {
	raw, err := json.Marshal(output)
	w.Expect(err).NotTo(HaveOccurred())
	return w.Reply(w.ctx, key(host), wire.StepReply{StepType: step, Output: string(raw)})
}

func (w *world) inventory(host string, change func(*wire.Inventory)) {
	w.t.Helper()
	n := host[len(host)-1:]
	inventory := wire.Inventory{
		Hostname: "node-" + n, CPU: &wire.CPU{Count: 8, Architecture: "x86_64"}, Memory: &wire.Memory{PhysicalBytes: 32 << 30},
		Disks: []wire.Disk{{ID: "/dev/disk/by-id/wwn-" + n, Path: "/dev/sda", Name: "sda", DriveType: wire.DriveTypeSsd, SizeBytes: 200e9}},
		Interfaces: []wire.Interface{
			{Name: "eno1", MACAddress: "02:00:00:00:00:0" + n, Type: "physical", Ipv4Addresses: []string{"192.0.2." + n + "/24"}},
			{Name: "br0", MACAddress: "0A:00:00:00:00:FF", Type: "bridge"},
		},
		Routes: []wire.Route{{Destination: "0.0.0.0", Gateway: "192.0.2.254", Interface: "eno1"}},
	}
	if change != nil {
		change(&inventory)
	}
	w.Expect(w.reply(host, wire.StepTypeInventory, inventory)).To(Succeed())
}

func (w *world) poll(host string) []wire.StepType {
	w.t.Helper()
	steps, err := w.Instructions(w.ctx, key(host), service.Poll{Timestamp: time.Now().Unix()})
	w.Expect(err).NotTo(HaveOccurred())
	var types []wire.StepType
	for _, s := range steps.Instructions {
		types = append(types, s.StepType)
	}
	return types
}

func (w *world) checkDisk(host string) {
	w.t.Helper()
	w.Expect(w.reply(host, wire.StepTypeInstallationDiskSpeedCheck, wire.DiskSpeedCheckResponse{
		IoSyncDuration: 1, Path: "/dev/disk/by-id/wwn-" + host[len(host)-1:],
	})).To(Succeed())
}

func (w *world) stage(host string, stage wire.HostStage) error {
	return w.Progress(w.ctx, key(host), wire.HostProgress{CurrentStage: stage})
}

// installing brings a single host as far as its first stage.
func (w *world) installing(host string) {
	w.t.Helper()
	w.register(host)
	w.inventory(host, nil)
	w.checkDisk(host)
	w.comesTo(host, wire.HostStatusInstalling)
	w.Expect(w.stage(host, wire.HostStageInstalling)).To(Succeed())
}

// pass lets time pass in a bubble of synctest.
func pass(d time.Duration) { <-time.After(d) }
