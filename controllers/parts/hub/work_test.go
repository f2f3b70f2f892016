package hub

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/pki"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

func TestSettingsOfTheHubsWork(t *testing.T) {
	g := NewWithT(t)
	s := defaults(t.TempDir())
	w := NodeZero{}.Work(&s)
	w.StageTimeouts, w.SoftTimeouts = []string{"Rebooting=1h", "Applying olm manifests=0"}, true
	w.InstallerImage, w.LogMiB = "registry.example/installer:1", 1
	var o service.Options
	g.Expect(w.Apply(&o)).To(Succeed())
	g.Expect(o.Timers).To(Equal(service.Timers{
		Disconnected: 3 * time.Minute, Prepare: 17 * time.Minute, Logs: 10 * time.Minute, KeepEvents: 30 * 24 * time.Hour, Soft: true,
		DiskCheck: 8 * time.Minute, Images: 16 * time.Minute, Monitor: time.Second, Renewal: 5 * time.Second, Repeat: time.Minute,
		Stages:     map[wire.HostStage]time.Duration{wire.HostStageRebooting: time.Hour},
		Finalizing: map[wire.FinalizingStage]time.Duration{wire.FinalizingStageApplyingOlmManifests: 0},
	}))
	g.Expect(o.Images.Installer).To(Equal("registry.example/installer:1"))
	g.Expect(o.MaxLogBytes).To(Equal(int64(1 << 20)))
	w.IgnitionDir = "/none"
	_, err := w.Ignition()
	g.Expect(err).To(MatchError(ContainSubstring("--hub-ignition-dir")))
}

// TestIgnitionComesFromTheFolder: with the wiring that ships.
func TestIgnitionComesFromTheFolder(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(dir, "master.ign"), []byte(`{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/etc/from-the-folder"}]}}`), 0o600)).To(Succeed())
	s := defaults(t.TempDir())
	s.HubInstallation.IgnitionDir = dir
	h, err := New(t.Context(), Options{Settings: s, Cert: pki.Files{}, Log: slog.New(slog.DiscardHandler)})
	g.Expect(err).NotTo(HaveOccurred())
	ran := make(chan error, 1)
	go func() { ran <- h.Core.Run(t.Context()) }()
	t.Cleanup(func() {
		g.Expect(<-ran).To(Succeed())
		_ = h.Close()
	})

	key := store.HostKey{InfraEnvID: "11111111-1111-4111-8111-111111111111", HostID: "aaaaaaaa-0000-4000-8000-000000000001"}
	_, err = h.Core.EnsureInfraEnv(t.Context(), service.InfraEnvSpec{ID: key.InfraEnvID, Name: "env", SingleHost: true, AutoApprove: true})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = h.Core.RegisterHost(t.Context(), service.Registration{InfraEnvID: key.InfraEnvID, HostID: key.HostID})
	g.Expect(err).NotTo(HaveOccurred())
	for _, reply := range []wire.StepReply{
		{StepType: wire.StepTypeInventory, Output: `{"hostname":"one","cpu":{"count":8,"architecture":"x86_64"},"memory":{"physical_bytes":34359738368},
			"disks":[{"id":"/dev/disk/by-id/wwn-1","path":"/dev/sda","name":"sda","drive_type":"SSD","size_bytes":200000000000}],
			"interfaces":[{"name":"eno1","mac_address":"02:00:00:00:00:01","type":"physical","ipv4_addresses":["192.0.2.1/24"]}],
			"routes":[{"destination":"0.0.0.0","gateway":"192.0.2.254","interface":"eno1"}]}`},
		{StepType: wire.StepTypeInstallationDiskSpeedCheck, Output: `{"path":"/dev/disk/by-id/wwn-1","io_sync_duration":1}`},
	} {
		g.Expect(h.Core.Reply(t.Context(), key, reply)).To(Succeed())
	}
	g.Eventually(func() (string, error) {
		f, err := h.Core.HostIgnition(t.Context(), key)
		return string(f.Content), err
	}, time.Minute, "20ms").Should(ContainSubstring("/etc/from-the-folder"))
}
