package polls

import (
	"fmt"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/snapshots"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
	"github.com/ironflow/ironflow/hub/wire"
)

// TestSnapshotsAreSmall: of an inventory of 30 KB, what polls need fits into 4 KiB.
func TestSnapshotsAreSmall(t *testing.T) {
	g := gomega.NewWithT(t)
	inventory := wire.Inventory{Hostname: "node", CPU: &wire.CPU{Flags: strings.Split(strings.Repeat("avx512 ", 1500), " ")}}
	for i := range 8 {
		inventory.Interfaces = append(inventory.Interfaces, wire.Interface{
			Name: fmt.Sprintf("enp%ds0f0np0", i), MACAddress: "02:00:00:00:00:01", Type: "physical",
			Ipv4Addresses: []string{fmt.Sprintf("192.0.2.%d/24", i)}, Ipv6Addresses: []string{fmt.Sprintf("2001:db8:1:2:3:4:5:%d/64", i)},
		})
	}
	for i := range 36 {
		inventory.Disks = append(inventory.Disks, wire.Disk{ID: fmt.Sprintf("/dev/disk/by-id/wwn-%d", i), Smart: strings.Repeat("s", 300)})
	}
	c := &store.Cluster{Masters: 3}
	c.API = wire.Cluster{
		ID: "cccccccc-0000-4000-8000-000000000001", Name: "cluster", BaseDNSDomain: "long.domain.example", ControlPlaneCount: 3, OpenshiftVersion: "4.20.1",
		MachineNetworks: []wire.MachineNetwork{{CIDR: "192.0.2.0/24"}}, AdditionalNTPSource: "ntp.example",
	}
	host := &store.Host{}
	host.API = wire.Host{
		ID: "aaaaaaaa-0000-4000-8000-000000000001", InfraEnvID: "e", ClusterID: &c.API.ID, Inventory: unit.Text(inventory),
		InstallationDiskID: "/dev/disk/by-id/wwn-1", Role: wire.HostRoleMaster,
	}
	g.Expect(len(host.API.Inventory)).To(gomega.BeNumerically(">", 25_000))
	for _, status := range []string{
		wire.HostStatusDiscovering, wire.HostStatusKnown, wire.HostStatusInsufficient, wire.HostStatusPreparingForInstallation,
		wire.HostStatusInstalling, wire.HostStatusInstallingInProgress, wire.HostStatusError,
	} {
		host.API.Status = status
		s, skipped := snapshotOf(evaluate.Evaluator{Rules: &evaluate.Rules{}}, host, &store.InfraEnv{}, c, asked{})
		g.Expect(skipped).To(gomega.BeEmpty(), status)
		g.Expect(s.Size()).To(gomega.BeNumerically("<=", snapshots.MaxSize), status)
	}
}
