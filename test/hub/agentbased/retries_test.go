//go:build e2e

package agentbased

import (
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/units"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
)

// failsOnce is the programs of the units: those that are tried again fail at their first
// time. All tell what they do.
const failsOnce = `#!/bin/sh
name=$1
[ "$name" = agent-installer-client ] && name=$2
case $name in
node-zero|registerCluster|registerInfraEnv|importCluster|configure)
	if [ ! -e /run/"$name" ]; then
		: >/run/"$name"
		echo "$name failed" >>/var/log/units
		exit 1
	fi ;;
start-cluster-installation|add-node|network-status) ;;
*) exec sleep infinity ;;
esac
[ "$name" = node-zero ] && echo BOOTSTRAP_HOST_MAC=52:54:00:00:00:01 >/etc/assisted/node0
echo "$name done" >>/var/log/units
case $name in node-zero|configure) exec systemd-notify --ready ;; esac
exit 0
`

// TestUnitsThatAreTriedAgain: a real systemd runs all units of an installation though each of
// them has failed once, and none begins the installation before the hosts are configured.
func TestUnitsThatAreTriedAgain(t *testing.T) {
	for workflow, programs := range map[units.Workflow][]string{
		units.Automated: {"node-zero", "registerCluster", "registerInfraEnv", "configure", "start-cluster-installation"},
		units.AddNodes:  {"node-zero", "importCluster", "registerInfraEnv", "configure", "add-node"},
	} {
		t.Run(string(workflow), func(t *testing.T) {
			s := &site{WithT: NewWithT(t), T: t}
			m := systemdtest.Boot(t)
			root := m.Host.Root
			table, err := units.Render(units.Options{Workflow: workflow})
			s.Expect(err).NotTo(HaveOccurred())
			words := []string{"enable"}
			for _, u := range table {
				s.write(root, u.Path, u.Content)
				if u.Enabled {
					words = append(words, u.Name)
				}
				if strings.Contains(u.Content, "\nRestartSec=") {
					s.write(root, u.Path+".d/soon.conf", "[Service]\nRestartSec=1\n")
				}
			}
			s.write(root, "/etc/assisted/rendezvous-host.env", "")
			s.write(root, "/usr/local/share/assisted-service/assisted-service.env", "")
			s.write(root, "/etc/assisted/add-nodes.env", "")
			for _, path := range []string{units.Binary, units.HubBinary} {
				s.write(root, path, failsOnce)
				m.Run(t, "chmod", "+x", path)
			}
			if workflow == units.AddNodes { // its program has nothing to warn of
				s.write(root, "/etc/systemd/system/agent-auth-token-status.service.d/simple.conf", "[Service]\nType=simple\n")
			}
			m.Run(t, "systemctl", words...)
			m.Run(t, "systemctl", "start", "--no-block", "multi-user.target")
			said := func() string {
				out, _ := m.Command(t.Context(), "cat", "/var/log/units").CombinedOutput() // it is not there at once
				return string(out)
			}
			last := programs[len(programs)-1] + " done"
			s.Eventually(said, patience, look).Should(ContainSubstring(last), func() string { return m.Run(t, "journalctl", "--no-pager", "-n", "200") })
			all := strings.Split(said(), "\n")
			for _, name := range programs[:len(programs)-1] {
				s.Expect(all).To(ContainElements(name+" failed", name+" done"))
				s.Expect(slices.Index(all, name+" done")).To(BeNumerically("<", slices.Index(all, last)), "%s: %v", name, all)
			}
		})
	}
}
