package bmc_test

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/lab/emulator"
	"github.com/ironflow/ironflow/test/machine/bmc"
)

// board remembers what it was asked for.
type board struct{ asked []string }

func (b *board) Add(_ context.Context, s emulator.System) error {
	b.asked = append(b.asked, "add "+s.UUID)
	return nil
}

func (b *board) SetPower(_ context.Context, uuid string, power emulator.Power) error {
	b.asked = append(b.asked, string(power)+" "+uuid)
	return nil
}

func (b *board) Remove(_ context.Context, uuid string) error {
	b.asked = append(b.asked, "remove "+uuid)
	return nil
}

func TestBoards(t *testing.T) {
	g := NewWithT(t)
	emulated, simulated := &board{}, &board{}
	boards := bmc.Boards{Default: emulated}.On(simulated, "raid")
	for _, id := range []string{"plain", "raid"} {
		g.Expect(boards.Add(t.Context(), emulator.System{UUID: id})).To(Succeed())
		g.Expect(boards.SetPower(t.Context(), id, emulator.PowerOn)).To(Succeed())
		g.Expect(boards.Remove(t.Context(), id)).To(Succeed())
	}
	g.Expect(emulated.asked).To(Equal([]string{"add plain", "On plain", "remove plain"}))
	g.Expect(simulated.asked).To(Equal([]string{"add raid", "On raid", "remove raid"}))

	none := bmc.Boards{}.On(simulated, "raid")
	g.Expect(none.Add(t.Context(), emulator.System{UUID: "plain"})).To(MatchError(ContainSubstring("no BMC")))
	g.Expect(none.SetPower(t.Context(), "plain", emulator.PowerOn)).To(MatchError(ContainSubstring("no BMC")))
	g.Expect(none.Remove(t.Context(), "plain")).To(MatchError(ContainSubstring("no BMC")))
}
