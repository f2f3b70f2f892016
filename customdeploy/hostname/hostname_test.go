package hostname_test

import (
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
