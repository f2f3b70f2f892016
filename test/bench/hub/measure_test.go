package main

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/wire"
)

func TestVerdict(t *testing.T) {
	g := NewWithT(t)
	good := figures{Cores: 0.5, RSS: 500, Instruction: 50, Reaction: 100, Polls: 10_000, Storm: 180, Clusters: 300, Start: 2, List: 50}
	g.Expect(verdict([]byte(text(good)), limits)).To(Succeed())
	slow := good
	slow.Polls, slow.Reaction = 9_999, 100.1
	g.Expect(verdict([]byte(text(slow)), limits)).To(MatchError(And(ContainSubstring("polls_per_s is 9999, less than 10000"), ContainSubstring("reaction_p99_ms is 100.1, more than 100"))))
}

func TestVerdictOfAStorm(t *testing.T) {
	g := NewWithT(t)
	good := overload{Storm: 240, Half: 110, Ratio: 2.2, RefusedMost: 1, Refusals: 5000}
	g.Expect(verdict([]byte(text(good)), overloadLimits)).To(Succeed())
	bad := good
	bad.RefusedMost, bad.Panics = 2, 1
	g.Expect(verdict([]byte(text(bad)), overloadLimits)).To(MatchError(And(ContainSubstring("refused_most is 2, more than 1"), ContainSubstring("panics is 1, more than 0"))))
}

// TestAMachineIsAsLargeAsReal ones, and different from all others.
func TestAMachineIsAsLargeAsReal(t *testing.T) {
	g := NewWithT(t)
	seen := map[string]bool{}
	for _, group := range []group{{Size: 5000}, {First: 5000, Size: 500, Network: 6}, {First: 5500, Size: 3, Network: 7}} {
		for _, place := range []int{0, group.Size - 1} {
			m := machine{group, group.First + place, place}
			raw := m.inventory(true)
			g.Expect(len(raw)).To(BeNumerically(">=", inventorySize))
			var in wire.Inventory
			g.Expect(json.Unmarshal([]byte(raw), &in)).To(Succeed())
			for _, own := range []string{m.ip(), m.mac(), in.Hostname, in.SystemVendor.SerialNumber, hostID(m.number)} {
				g.Expect(seen).NotTo(HaveKey(own))
				seen[own] = true
			}
		}
	}
}
