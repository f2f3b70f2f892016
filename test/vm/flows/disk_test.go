package flows

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/needs"
)

func TestSignatures(t *testing.T) {
	needs.Program(t, "sfdisk", "fdisk")
	needs.Program(t, "mke2fs", "e2fsprogs")
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "disk.img")
	g.Expect(os.WriteFile(path, nil, 0o600)).To(Succeed())
	g.Expect(os.Truncate(path, 4<<30)).To(Succeed())
	g.Expect(Signatures(path)).To(BeEmpty())
	g.Expect(UseDisk(t.Context(), path)).To(Succeed())
	g.Expect(Signatures(path)).To(ConsistOf("MBR", "GPT", "second GPT", "ext file system"))
}
