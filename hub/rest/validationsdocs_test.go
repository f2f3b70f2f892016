package rest_test

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/pages"
)

// meaning says what a failure does to the host.
var meaning = map[validations.Group]string{
	validations.Presence: "disconnected, or discovering", validations.Hardware: "insufficient", validations.Network: "pending-for-input",
	validations.Other: "insufficient", validations.Warning: "only a warning",
}

const operatorsCategory = "operators"

func hostValidations(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	var operators []string
	b.WriteString("| id | category | applies to a host | a failure means | is checked | what to do | test |\n|---|---|---|---|---|---|---|\n")
	for _, row := range validations.HostRows {
		if row.Category == operatorsCategory {
			operators = append(operators, string(row.ID))
			continue
		}
		fails := meaning[row.Group]
		if row.MildWithoutRelease {
			fails += "; without a release only a warning"
		}
		if row.Essential {
			fails += "; cannot be ignored"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | `hub/rest.TestHostValidations/%s` |\n", row.ID, row.Category, row.When.Name, fails, row.Checks, row.Do, row.ID)
	}
	return b.String() + counted(t, b.String(), "hosts", len(validations.HostRows), operators)
}

func clusterValidations(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	var operators []string
	b.WriteString("| id | category | applies to a cluster | a failure means | is checked | what to do | test |\n|---|---|---|---|---|---|---|\n")
	for _, row := range validations.ClusterRows {
		if row.Category == operatorsCategory {
			operators = append(operators, string(row.ID))
			continue
		}
		fails := "insufficient"
		if row.Input {
			fails = "pending-for-input"
		}
		if row.Essential {
			fails += "; cannot be ignored"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | `hub/rest.TestClusterValidations/%s` |\n", row.ID, row.Category, row.When.Name, fails, row.Checks, row.Do, row.ID)
	}
	return b.String() + counted(t, b.String(), "clusters", len(validations.ClusterRows), operators)
}

// counted checks that the named tests exist and sums the table up.
func counted(t *testing.T, table, of string, all int, operators []string) string {
	t.Helper()
	NewWithT(t).Expect(pages.Tests(t, "../..", table)).To(Equal(all - len(operators)))
	return fmt.Sprintf(
		"\n%d ids of %s: %d checks, and %d of operators ([operators.md](operators.md)), which succeed where the operator is not selected: %s.\n", all, of,
		all-len(operators), len(operators), strings.Join(operators, ", "),
	)
}

// requirements are those of hosts, for a release as most are.
func requirements() string {
	var b strings.Builder
	b.WriteString("| role | CPUs | memory, MiB | disk, GB | disk sync, ms | round trip, ms | loss, % |\n|---|---|---|---|---|---|---|\n")
	line := func(name string, r validations.Requirements) {
		limit := func(v *float64) string {
			if v == nil {
				return "any"
			}
			return fmt.Sprint(*v)
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %s | %s |\n", name, r.CPUs, r.MemoryMiB, r.DiskGB, r.DiskSpeedMs, limit(r.LatencyMs), limit(r.LossPercent))
	}
	const release = "4.20"
	line("master", validations.OpenShift.For(release, wire.HostRoleMaster, false))
	line("arbiter", validations.OpenShift.For(release, wire.HostRoleArbiter, false))
	line("worker", validations.OpenShift.For(release, wire.HostRoleWorker, false))
	line("worker of a BlueField SoC", validations.OpenShift.For(release, "edge-worker", false))
	line("single node", validations.OpenShift.For(release, wire.HostRoleMaster, true))
	line("single node from 4.22 on", validations.OpenShift.For("4.22", wire.HostRoleMaster, true))
	return b.String()
}
