package ports_test

import (
	"net"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/lab/ports"
)

func TestFree(t *testing.T) {
	g := NewWithT(t)
	var mine, theirs ports.Set
	t.Cleanup(func() { g.Expect(mine.Close()).To(Succeed()); g.Expect(theirs.Close()).To(Succeed()) })
	seen := map[int]bool{}
	for i := range 200 {
		set := &mine
		if i%2 == 1 {
			set = &theirs
		}
		port, err := set.Free()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(seen).NotTo(HaveKey(port), "handed out twice")
		g.Expect(ports.Check(port)).To(Succeed())
		g.Expect(port).To(BeNumerically("<", 32768), "inside the range of outgoing connections")
		seen[port] = true
	}
}

func TestCheck(t *testing.T) {
	g := NewWithT(t)
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = listener.Close() })
	port := listener.Addr().(*net.TCPAddr).Port
	g.Expect(ports.Check(port)).To(MatchError(And(ContainSubstring("is taken"), ContainSubstring("choose another port"))))
	g.Expect(ports.Check(70000)).To(MatchError(ContainSubstring("70000")))
}
