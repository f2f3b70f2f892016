package dryrun_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/dryrun"
)

func TestSettingsFromTheEnvironment(t *testing.T) {
	g := NewWithT(t)
	for name, value := range map[string]string{
		dryrun.EnableEnv: "true", dryrun.HostIDEnv: "id", dryrun.MACEnv: "mac", dryrun.HostnameEnv: "name",
		dryrun.IPv4Env: "ip", dryrun.MarkerEnv: "marker", dryrun.ScenarioEnv: "file",
	} {
		t.Setenv(name, value)
	}
	g.Expect(dryrun.FromEnv()).To(Equal(dryrun.Settings{
		Enabled: true, HostID: "id", MAC: "mac", Hostname: "name", IPv4: "ip", RebootMarker: "marker", Scenario: "file",
	}))
	t.Setenv(dryrun.EnableEnv, "maybe")
	g.Expect(dryrun.FromEnv().Enabled).To(BeFalse())
}

func TestAScenarioCountsOnlyInADryRun(t *testing.T) {
	g := NewWithT(t)
	g.Expect(dryrun.Settings{Scenario: "/missing"}.Machine()).To(BeNil())
	_, err := dryrun.Settings{Enabled: true, Scenario: "/missing"}.Machine()
	g.Expect(err).To(MatchError(ContainSubstring("/missing")))
	_, taken, err := dryrun.Settings{}.Faults(nil).Take("install", "")
	g.Expect(taken, err).To(BeFalse())
}
