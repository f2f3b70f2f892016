package hostname_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/customdeploy/hostname"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
)

func TestNameless(t *testing.T) {
	g := NewWithT(t)
	for name, want := range map[string]bool{"": true, "localhost": true, "localhost.localdomain": true, "node-1": false, "localhostess": false} {
		g.Expect(hostname.Nameless(name)).To(Equal(want), name)
	}
}

func TestIsNode(t *testing.T) {
	g := NewWithT(t)
	for name, want := range map[string]bool{
		"master-0": true, "master-0.example.com": true, "0": true, strings.Repeat("a", 63): true,
		"": false, "localhost": false, "localhost.localdomain": false, "MASTER-0": false, "master_0": false, "Node.Example.COM": false,
		"a.": false, "-a": false, "a-": false, "a..b": false, strings.Repeat("a", 64): false,
	} {
		g.Expect(hostname.IsNode(name)).To(Equal(want), name)
	}
}

func TestSetDefault(t *testing.T) {
	g := NewWithT(t)
	m := systemdtest.Boot(t)
	_, err := hostname.SetDefault(t.Context(), m.Bus(), "localhost")
	g.Expect(err).To(MatchError(ContainSubstring("no name for a host")))

	changed, err := hostname.SetDefault(t.Context(), m.Bus(), "node-7")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(changed).To(BeFalse(), "the machine has a name of its own")

	m.Run(t, "sh", "-c", "rm -f /etc/hostname; hostname localhost; systemctl stop systemd-hostnamed; true")
	changed, err = hostname.SetDefault(t.Context(), m.Bus(), "node-7")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(changed).To(BeTrue())
	g.Expect(m.Run(t, "cat", "/etc/hostname")).To(Equal("node-7"))
	g.Expect(m.Run(t, "hostname")).To(Equal("node-7"))
}

func TestSet(t *testing.T) {
	g := NewWithT(t)
	m := systemdtest.Boot(t)
	g.Expect(hostname.Set(t.Context(), m.Bus(), "localhost")).To(MatchError(ContainSubstring("no name for a host")))
	g.Expect(hostname.Set(t.Context(), m.Bus(), "node-7")).To(Succeed())
	g.Expect(m.Run(t, "cat", "/etc/hostname")).To(Equal("node-7"))
	g.Expect(m.Run(t, "hostname")).To(Equal("node-7"))
}
