package pages

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/spf13/cobra"
)

func TestCommandsOfPages(t *testing.T) {
	g := NewWithT(t)
	root := t.TempDir()
	g.Expect(os.MkdirAll(filepath.Join(root, "docs"), 0o755)).To(Succeed())
	page := "Call `tool image show FILE`, or:\n\n```sh\ntool image set --force FILE   # all of it\nkubectl exec x -- /tool serve\nothertool x\n```\n`tool.io/x`\n"
	g.Expect(os.WriteFile(filepath.Join(root, "docs", "a.md"), []byte(page), 0o600)).To(Succeed())
	g.Expect(Commands(t, root, "tool")).To(Equal([]string{"a.md: image show FILE", "a.md: image set --force FILE   # all of it", "a.md: serve"}))

	tool, image := &cobra.Command{Use: "tool"}, &cobra.Command{Use: "image"}
	run := func(*cobra.Command, []string) {}
	set := &cobra.Command{Use: "set", Run: run}
	set.Flags().Bool("force", false, "")
	image.AddCommand(set, &cobra.Command{Use: "show", Run: run})
	describe := &cobra.Command{Use: "describe HOST", Run: run}
	describe.AddCommand(&cobra.Command{Use: "cluster CLUSTER", Run: run})
	tool.AddCommand(image, &cobra.Command{Use: "serve", Run: run}, describe)
	for line, want := range map[string]string{
		"a: image set --force FILE":      "",
		"a: image show|set FILE":         "",
		"a: serve anything":              "",
		"a: image …":                     "",
		"a: describe machine-2":          "",
		"a: describe cluster prod":       "",
		"a: serve | other --flag":        "",
		"a: image [--nosuch]":            `"tool image" has no flag --nosuch`,
		"a: image show --force":          `"tool image show" has no flag --force`,
		"a: images set":                  `"tool" has no command images`,
		"a: image show|lose FILE":        `"tool image" has no command lose`,
		"a: image set # --nosuch":        "",
		"a: image set FILE --force=true": "",
	} {
		err := Call(tool, line)
		if want == "" {
			g.Expect(err).NotTo(HaveOccurred())
		} else {
			g.Expect(err).To(MatchError(ContainSubstring(want)))
		}
	}
}
