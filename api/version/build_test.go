package version

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestBuild(t *testing.T) {
	g := NewWithT(t)
	b := Of()
	g.Expect(b.Release).To(Equal(Release()))
	g.Expect(b.Go).To(HavePrefix("go1."))
	g.Expect(b.Platform).To(MatchRegexp(`^[a-z]+/[a-z0-9]+$`))
	known := Build{Revision: "0123456789ab", Time: "2026-01-02T03:04:05Z", Changed: true, Go: "go1.26", Platform: "linux/amd64"}
	g.Expect(known.String()).To(Equal("  commit: 0123456789ab, with changes (2026-01-02T03:04:05Z)\n  go: go1.26\n  platform: linux/amd64\n"))
	g.Expect(Build{Go: "go1.26", Platform: "linux/amd64"}.String()).NotTo(ContainSubstring("commit"))
}
