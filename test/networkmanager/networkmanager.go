// Package networkmanager is a host with a real NetworkManager, for tests of what is told to it.
package networkmanager

import (
	_ "embed"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/needs"
)

//go:embed host.sh
var script string

// onTheHost is in the environment of a process that runs on the host.
const onTheHost = "NETWORKMANAGER_TEST_HOST"

// OnHost runs the test once more in namespaces of its own (network, mounts, processes), on a host with one card, eth0, which has the
// connection "old" with 192.0.2.5/24, and a bridge. It returns true there, and false where that run has ended well.
func OnHost(t *testing.T) bool {
	t.Helper()
	if os.Getenv(onTheHost) != "" {
		return true
	}
	needs.Root(t)
	for name, from := range map[string]string{"NetworkManager": "network-manager", "nmcli": "network-manager", "dbus-daemon": "dbus", "unshare": "util-linux", "ip": "iproute2"} {
		needs.Program(t, name, from)
	}
	g := gomega.NewWithT(t)
	self, err := os.Executable()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	host := exec.CommandContext(t.Context(), "unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc",
		"sh", "-s", self, "-test.run", "^"+t.Name()+"$", "-test.v")
	host.Env, host.Stdin = append(os.Environ(), onTheHost+"=1"), strings.NewReader(script)
	out, err := host.CombinedOutput()
	g.Expect(err).NotTo(gomega.HaveOccurred(), string(out))
	g.Expect(string(out)).To(gomega.ContainSubstring("--- PASS: " + t.Name()))
	return false
}
