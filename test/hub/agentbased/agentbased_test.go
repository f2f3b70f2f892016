//go:build e2e

package agentbased

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/wire"
)

// TestThreeHostsInstallThemselves: the hub is killed between any two steps and in the
// middle of most, and node zero leaves last.
func TestThreeHostsInstallThemselves(t *testing.T) {
	t.Parallel()
	s := newSite(t, 3)
	again := func() {
		s.Helper()
		s.hub.kill()
		s.startHub()
	}
	s.startHub()
	again()
	s.register()
	again()
	s.register() // what a unit does that was interrupted
	first := s.cluster().ID
	for i := range s.hosts {
		s.agents = append(s.agents, s.boot(i))
	}
	s.oneshot("agent-installer-client", "configure")
	again()
	lead := s.start(s.hosts[0], nil, "ironflow-agent-based", "start-cluster-installation")
	watch := s.waitFor()

	s.reaches(1, wire.HostStageWritingImageToDisk)
	again()
	s.Expect(s.zero().Status).To(Equal(wire.HostStatusInstalling), "it waits for its order: %s", s.zero().StatusInfo)
	s.Expect(s.zero().StatusInfo).To(ContainSubstring("it is installed last"))
	lead.kill()
	s.start(s.hosts[0], nil, "ironflow-agent-based", "start-cluster-installation")
	s.reaches(0, wire.HostStageWritingImageToDisk)
	again()
	s.Expect([]wire.HostStage{s.stage(1), s.stage(2)}).To(HaveEach(wire.HostStageRebooting), "before node zero began")
	s.reaches(0, wire.HostStageRebooting)
	s.Log("most memory of the hub, MiB:", s.hub.peak(s))
	for _, a := range s.agents {
		s.Eventually(a.ended, patience).Should(BeClosed(), a.tail)
		s.Expect(a.command.ProcessState.ExitCode()).To(Equal(0), a.tail)
	}
	s.Eventually(watch.ended, patience).Should(BeClosed(), watch.tail)
	s.Expect(watch.command.ProcessState.ExitCode()).To(Equal(0), watch.tail)
	s.Expect(watch.tail()).To(ContainSubstring("has handed over"))
	s.Expect(s.cluster().ID).To(Equal(first))
	zero := s.zero()
	s.Expect([]any{zero.Bootstrap, string(zero.Role), zero.InstallationDiskPath}).To(Equal([]any{true, "master", "/dev/nvme0n1"}))
	for _, h := range s.cluster().Hosts {
		s.Expect(h.InfraEnvID).To(Equal(infraEnv))
		s.Expect(s.told(h.ID, "reached stage "+string(wire.HostStageWritingImageToDisk))).To(Equal(1), "written once: %s", s.story)
	}
}

// TestNodeZeroLosesItsPower before the installation: all that its hub knew was in memory.
// The hosts are found again, and nobody is told of another infra-env.
func TestNodeZeroLosesItsPower(t *testing.T) {
	t.Parallel()
	s := newSite(t, 3)
	s.startHub()
	s.register()
	for i := range s.hosts {
		s.agents = append(s.agents, s.boot(i))
	}
	s.Eventually(func() (map[string]wire.HostStage, error) { return s.stages() }, patience, look).Should(HaveLen(3))

	s.hub.kill()
	s.agents[0].kill()
	s.Expect(os.RemoveAll(s.data())).To(Succeed())
	s.Expect(os.Remove(filepath.Join(s.hosts[0], "/etc/assisted/client_config"))).To(Succeed())
	s.startHub()
	s.register()
	s.agents[0] = s.boot(0)
	s.oneshot("agent-installer-client", "configure")
	s.start(s.hosts[0], nil, "ironflow-agent-based", "start-cluster-installation")
	s.reaches(0, wire.HostStageRebooting)
	s.Expect([]wire.HostStage{s.stage(1), s.stage(2)}).To(HaveEach(wire.HostStageRebooting))
}

// TestWhoMayCall the hub of an installation.
func TestWhoMayCall(t *testing.T) {
	t.Parallel()
	s := newSite(t, 3)
	s.startHub()
	s.register()
	for name, tc := range map[string]struct {
		header, token string
		want          int
	}{
		"a user":                         {"Authorization", "USER_AUTH_TOKEN", http.StatusOK},
		"a watcher":                      {"Watcher-Authorization", "WATCHER_AUTH_TOKEN", http.StatusOK},
		"an agent":                       {"X-Secret-Key", "AGENT_AUTH_TOKEN", http.StatusUnauthorized},
		"an agent's token, as a user's":  {"Authorization", "AGENT_AUTH_TOKEN", http.StatusForbidden},
		"a watcher's token, as a user's": {"Authorization", "WATCHER_AUTH_TOKEN", http.StatusForbidden},
	} {
		err := s.ask(tc.header, tc.token, "/clusters", nil)
		if tc.want == http.StatusOK {
			s.Expect(err).NotTo(HaveOccurred(), name)
			continue
		}
		s.Expect(err).To(MatchError(ContainSubstring(http.StatusText(tc.want))), name)
	}
}
