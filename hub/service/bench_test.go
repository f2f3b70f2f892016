package service_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/ironflow/ironflow/hub/filestore"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// fleet makes a hub with n hosts that wait for approval, each with an inventory.
func fleet(b *testing.B, n int) (*service.Hub, []store.HostKey) {
	b.Helper()
	dir := b.TempDir()
	s, err := store.OpenSQLite(b.Context(), filepath.Join(dir, "hub.sqlite"))
	if err != nil {
		b.Fatal(err)
	}
	root, err := filestore.OpenDirectory(dir)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _, _ = s.Close(), root.Close() })
	hub, err := service.New(service.Options{Store: s, Files: root, Keys: testhub.Keys()})
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	if _, err := hub.EnsureInfraEnv(ctx, service.InfraEnvSpec{ID: envID, Name: "env", SingleHost: true}); err != nil {
		b.Fatal(err)
	}
	var keys []store.HostKey
	for i := range n {
		k := key(fmt.Sprintf("aaaaaaaa-0000-4000-8000-%012d", i))
		if _, err := hub.RegisterHost(ctx, service.Registration{InfraEnvID: k.InfraEnvID, HostID: k.HostID}); err != nil {
			b.Fatal(err)
		}
		inventory := fmt.Sprintf(`{"hostname":"node-%d","cpu":{"count":8},"memory":{"physical_bytes":34359738368},
			"disks":[{"id":"/dev/sda","path":"/dev/sda","name":"sda","drive_type":"SSD","size_bytes":200000000000}],
			"interfaces":[{"name":"eno1","mac_address":"02:00:00:%02x:%02x:%02x","type":"physical"}]}`, i, i>>16&0xff, i>>8&0xff, i&0xff)
		if err := hub.Reply(ctx, k, wire.StepReply{StepType: wire.StepTypeInventory, Output: inventory}); err != nil {
			b.Fatal(err)
		}
		keys = append(keys, k)
	}
	return hub, keys
}

// BenchmarkPoll is what a fleet costs at rest: one poll of one host.
func BenchmarkPoll(b *testing.B) {
	hub, keys := fleet(b, 200)
	b.ResetTimer()
	for i := range b.N {
		if _, err := hub.Instructions(b.Context(), keys[i%len(keys)], service.Poll{Timestamp: 1}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkProgress is one stage report of one host.
func BenchmarkProgress(b *testing.B) {
	hub, keys := fleet(b, 1)
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() { done <- hub.Run(ctx) }()
	b.Cleanup(func() {
		stop()
		must(<-done)
	})
	must(hub.ApproveHost(b.Context(), keys[0], true))
	must(hub.Reply(b.Context(), keys[0], wire.StepReply{StepType: wire.StepTypeInstallationDiskSpeedCheck, Output: `{"path":"/dev/sda","io_sync_duration":1}`}))
	for status := ""; status != wire.HostStatusInstalling; {
		h, err := hub.Host(b.Context(), keys[0])
		must(err)
		status = h.Status
	}
	b.ResetTimer()
	for i := range b.N {
		must(hub.Progress(b.Context(), keys[0], wire.HostProgress{CurrentStage: wire.HostStageWritingImageToDisk, ProgressInfo: fmt.Sprintf("%d%%", i%100)}))
	}
}

// BenchmarkHostByMAC is what a controller asks for each BareMetalHost.
func BenchmarkHostByMAC(b *testing.B) {
	hub, keys := fleet(b, 500)
	b.ResetTimer()
	for i := range b.N {
		n := i % len(keys)
		if _, found, err := hub.HostByMAC(b.Context(), keys[n].InfraEnvID, fmt.Sprintf("02:00:00:%02x:%02x:%02x", n>>16&0xff, n>>8&0xff, n&0xff)); err != nil || !found {
			b.Fatal(found, err)
		}
	}
}
