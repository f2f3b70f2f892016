package raid_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/bmc/simulator/raid"
)

func TestUsable(t *testing.T) {
	for _, c := range []struct {
		kind         string
		drives, want int // 0 is refused
	}{
		{"RAID0", 1, 1},
		{"RAID0", 3, 3},
		{"RAID1", 2, 1},
		{"RAID1", 3, 0},
		{"RAID5", 2, 0},
		{"RAID5", 4, 3},
		{"RAID6", 4, 2},
		{"RAID10", 4, 2},
		{"RAID10", 5, 0},
		{"RAID50", 6, 4},
		{"RAID50", 7, 0},
		{"RAID60", 8, 4},
		{"RAID60", 6, 0},
	} {
		g := NewWithT(t)
		g.Expect(raid.Known(c.kind)).To(BeTrue())
		usable, err := raid.Usable(c.kind, c.drives)
		g.Expect(usable).To(Equal(c.want), "%s of %d", c.kind, c.drives)
		g.Expect(err == nil).To(Equal(c.want > 0), "%s of %d", c.kind, c.drives)
	}
	NewWithT(t).Expect(raid.Known("RAID2")).To(BeFalse())
}
