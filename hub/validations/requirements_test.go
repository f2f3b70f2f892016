package validations_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

func TestRequirementsByRole(t *testing.T) {
	for name, tc := range map[string]struct {
		version string
		role    wire.HostRole
		single  bool
		cpus    int64
	}{
		"no release asks for little":   {"", wire.HostRoleMaster, true, 1},
		"single node":                  {"4.20.3", wire.HostRoleMaster, true, 8},
		"single node from 4.22 on":     {"4.22.0-rc.1", wire.HostRoleMaster, true, 4},
		"single node of a later one":   {"4.100", wire.HostRoleMaster, true, 4},
		"master":                       {"4.20", wire.HostRoleMaster, false, 4},
		"master where only others are": {"4.22.1", wire.HostRoleMaster, false, 4},
		"undecided":                    {"4.20", wire.HostRoleAutoAssign, false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(validations.OpenShift.For(tc.version, tc.role, tc.single).CPUs).To(Equal(tc.cpus))
		})
	}
}

func TestRequirementsOfAFile(t *testing.T) {
	g := NewWithT(t)
	table, err := validations.ParseTable([]byte(`[
		{"version":"default","master":{"cpu_cores":4,"ram_mib":16384},"worker":{"cpu_cores":2,"ram_mib":8192,"packet_loss_percentage":10}},
		{"version":"4.18","match_type":"min_version","master":{"cpu_cores":5}},
		{"version":"4.20","match_type":"min_version","master":{"cpu_cores":6}},
		{"version":"4.19.7","master":{"cpu_cores":7}}]`))
	g.Expect(err).NotTo(HaveOccurred())
	for version, cpus := range map[string]int64{"4.17": 4, "4.18": 5, "4.19.7": 7, "4.19.8": 5, "4.20.1": 6, "5.0": 6} {
		g.Expect(table.For(version, wire.HostRoleMaster, false).CPUs).To(Equal(cpus), version)
	}
	g.Expect(table.For("4.20", wire.HostRoleArbiter, false).CPUs).To(BeEquivalentTo(2), "an arbiter without an entry is a worker")
	g.Expect(*table.For("4.20", wire.HostRoleWorker, false).LossPercent).To(Equal(10.0))
	for _, bad := range []string{
		`{}`, `[]`, `[{"version":"latest","master":{},"worker":{}}]`, `[{"version":"default","master":{"cpu_cores":1}}]`,
		`[{"version":"default","master":{"cpu_cores":1,"network_latency_threshold_ms":0.5},"worker":{"cpu_cores":1}}]`,
	} {
		_, err := validations.ParseTable([]byte(bad))
		g.Expect(err).To(HaveOccurred(), bad)
	}
}
