package service_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
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

// BenchmarkBoot is what a host costs that boots: its registration, its first poll, and its inventory of 30 KB.
func BenchmarkBoot(b *testing.B) {
	for _, size := range []int{0, 3, 50} {
		b.Run(fmt.Sprintf("clusters of %d", size), func(b *testing.B) {
			hub, _ := fleet(b, 0)
			ctx := b.Context()
			disk := fmt.Sprintf(`{"id":"/dev/%%s","path":"/dev/%%s","name":"%%s","drive_type":"SSD","size_bytes":200000000000,"smart":%q}`, strings.Repeat("SMART attribute ok; ", 750))
			b.ResetTimer()
			for i := range b.N {
				env := bootEnv(b, hub, size, i)
				k := store.HostKey{InfraEnvID: env, HostID: fmt.Sprintf("bbbbbbbb-0000-4000-8000-%012d", i)}
				if _, err := hub.RegisterHost(ctx, service.Registration{InfraEnvID: k.InfraEnvID, HostID: k.HostID}); err != nil {
					b.Fatal(err)
				}
				if _, err := hub.Instructions(ctx, k, service.Poll{Timestamp: 1}); err != nil {
					b.Fatal(err)
				}
				inventory := fmt.Sprintf(`{"hostname":"node-%d","cpu":{"count":8},"memory":{"physical_bytes":34359738368},"disks":[%s,%s],
					"interfaces":[{"name":"eno1","mac_address":"02:00:00:%02x:%02x:%02x","type":"physical"}]}`,
					i, fmt.Sprintf(disk, "sda", "sda", "sda"), fmt.Sprintf(disk, "sdb", "sdb", "sdb"), i>>16&0xff, i>>8&0xff, i&0xff)
				if err := hub.Reply(ctx, k, wire.StepReply{StepType: wire.StepTypeInventory, Output: inventory}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// bootEnv is the infra-env of the i-th host: one without a cluster, or of the next cluster of so many hosts.
func bootEnv(b *testing.B, hub *service.Hub, size, i int) string {
	b.Helper()
	if size == 0 {
		i, size = 0, 1
	}
	id, cluster := fmt.Sprintf("eeeeeeee-0000-4000-8000-%012d", i/size), ""
	if i%size != 0 {
		return id
	}
	b.StopTimer()
	defer b.StartTimer()
	if size > 1 {
		cluster = fmt.Sprintf("cccccccc-0000-4000-8000-%012d", i/size)
		if _, err := hub.EnsureCluster(b.Context(), service.ClusterSpec{ID: cluster, Name: fmt.Sprint("c", i/size), Masters: 3, Workers: size}); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := hub.EnsureInfraEnv(b.Context(), service.InfraEnvSpec{ID: id, Name: fmt.Sprint("env", i/size), ClusterID: cluster}); err != nil {
		b.Fatal(err)
	}
	return id
}
