package pages_test

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/pages"
)

// TestLinksOfTheTree: each link of each page leads to a file that is there, and to a heading that it has.
func TestLinksOfTheTree(t *testing.T) {
	g := NewWithT(t)
	files, err := pages.Markdown("../..")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(files).To(ContainElements("README.md", "docs/install.md", "config/samples/README.md"))
	for _, file := range files {
		broken, err := pages.BrokenLinks("../..", file)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(broken).To(BeEmpty())
	}
}

func TestBrokenLinks(t *testing.T) {
	g, root := NewWithT(t), t.TempDir()
	g.Expect(os.Mkdir(filepath.Join(root, "docs"), 0o755)).To(Succeed())
	write := func(name, text string) {
		g.Expect(os.WriteFile(filepath.Join(root, filepath.FromSlash(name)), []byte(text), 0o600)).To(Succeed())
	}
	write("docs/b.md", "# `kubectl x`: A, b\n\n## Same\n\n## Same\n\n```sh\n# no heading\n```\n")
	write("README.md", "# Top\n\n[a](docs/b.md#kubectl-x-a-b), [b](docs/b.md#same-1), [c](#top), [d](docs), [e](https://example.com/#x), `[f](g)`\n")
	g.Expect(pages.BrokenLinks(root, "README.md")).To(BeEmpty())
	write("docs/c.md", "[a](b.md#no-heading) [b](nowhere.md) [c](../README.md#bottom)\n")
	g.Expect(pages.BrokenLinks(root, "docs/c.md")).To(Equal([]string{
		"docs/c.md: b.md#no-heading: there is no such heading",
		"docs/c.md: nowhere.md: there is no such file",
		"docs/c.md: ../README.md#bottom: there is no such heading",
	}))
}
