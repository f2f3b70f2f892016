package livesystem_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/livesystem"
	"github.com/ironflow/ironflow/test/needs"
)

// TestTheImageIsLaidOutAsTestsBelieve looks at the places where tests look for its partitions.
func TestTheImageIsLaidOutAsTestsBelieve(t *testing.T) {
	needs.Program(t, "sfdisk", "fdisk")
	needs.Program(t, "mkfs.ext4", "e2fsprogs")
	g := NewWithT(t)
	image := livesystem.MakeImage(t, "../fixtures/coreos-disk/make.sh")
	g.Expect(string(livesystem.Section(t, image, 512, 8))).To(Equal("EFI PART"))
	for _, sector := range []int64{20480, 69632} { // boot and root: the magic number of their file system
		g.Expect(livesystem.Section(t, image, sector*512+1080, 2)).To(Equal([]byte{0x53, 0xef}))
	}
}
