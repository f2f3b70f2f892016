package usage_test

import (
	"io/fs"
	"os"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/bench/usage"
)

func TestUsageOfAProcess(t *testing.T) {
	g := NewWithT(t)
	u, err := usage.Of(os.Getpid())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(u.Resident).To(And(BeNumerically(">", 1<<20), BeNumerically("<=", u.Peak)))
	g.Expect(u.Threads).To(BeNumerically(">", 1))
	_, err = usage.Of(1 << 30)
	g.Expect(err).To(MatchError(fs.ErrNotExist))
}
