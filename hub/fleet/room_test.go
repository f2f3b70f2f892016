package fleet

import (
	"testing"

	. "github.com/onsi/gomega"
)

// TestTwoReplicasFillAnInfraEnv: hosts register at either of them, in turn or most at one, and no room is left. One replica
// lets none in that is too many, two of them hardly any. Removed hosts make room again.
func TestTwoReplicasFillAnInfraEnv(t *testing.T) {
	for name, other := range map[string]int{"in turn": 2, "one of ten at the other": 10, "at one": maxHosts * 2} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			hosts, counted := 0, 0
			count := func() (int, error) { counted++; return min(hosts, maxHosts), nil }
			var replicas [2]room
			register := func(i int) {
				at := &replicas[0]
				if i%other == other-1 {
					at = &replicas[1]
				}
				there, err := at.take("env", count)
				g.Expect(err).NotTo(HaveOccurred())
				if there {
					hosts++
				}
			}
			for i := range maxHosts {
				register(i)
			}
			g.Expect(counted).To(BeNumerically("<", 100), "hosts are not counted for each of them")
			for i := range maxHosts {
				register(i)
			}
			tooMany := 0
			if other <= maxHosts {
				tooMany = atOnce
			}
			full := And(BeNumerically(">=", maxHosts), BeNumerically("<=", maxHosts+tooMany))
			g.Expect(hosts).To(full)
			hosts = maxHosts - 10
			for i := range 100 {
				register(i)
			}
			g.Expect(hosts).To(full)
		})
	}
}
