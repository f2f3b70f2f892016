package coreos

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/customdeploy/blockdev"
)

// TestHintsAreReadAsIPAReadsThem: what Ironic takes is not refused, and what fits there
// fits here.
func TestHintsAreReadAsIPAReadsThem(t *testing.T) {
	g := NewWithT(t)
	for text, want := range map[string]bool{"yes": true, "On": true, "y": true, "1": true, "no": false, "OFF": false, "n": false, "f": false} {
		ok, err := matches(want, text)
		g.Expect(err).NotTo(HaveOccurred(), text)
		g.Expect(ok).To(BeTrue(), text)
	}
	_, err := matches(true, "maybe")
	g.Expect(err).To(MatchError(ContainSubstring("maybe")))

	// A disk that does not say its vendor fits no hint for vendors.
	silent := []blockdev.Disk{{Path: "/dev/sda", SizeBytes: 5 << 30}, {Path: "/dev/sdb", Vendor: "Granite", SizeBytes: 5 << 30}}
	d, _, err := Hints{"vendor": "s!= Kestrel"}.Choose(silent)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(d.Path).To(Equal("/dev/sdb"))

	// Without hints equal disks are told apart by the names that IPA has for them.
	equal := []blockdev.Disk{{Path: "/dev/mapper/a-later", KernelName: "dm-1", SizeBytes: 5 << 30}, {Path: "/dev/mapper/b-first", KernelName: "dm-0", SizeBytes: 5 << 30}}
	d, _, err = Hints{}.Choose(equal)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(d.Path).To(Equal("/dev/mapper/b-first"))
}
