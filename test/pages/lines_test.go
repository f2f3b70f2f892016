package pages

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestLinesOfAPage(t *testing.T) {
	const page = "Call `tool version`.\n\n```\ntool show [--all] FILE    all of it\ntool  get   --url http://x | less   # a page\n" +
		"$ tool show [--all] FILE\nkubectl exec x -- /tool serve ...\ntoolbox x\n```\n"
	g, root := NewWithT(t), t.TempDir()
	g.Expect(os.MkdirAll(filepath.Join(root, "docs"), 0o755)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(root, "docs", "a.md"), []byte(page), 0o600)).To(Succeed())
	g.Expect(Lines(t, root, "tool")).To(Equal([]string{"show [--all] FILE", "get --url http://x", "serve"}))
}

func TestVariants(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Variants("check")).To(Equal([][]string{{"check"}}))
	g.Expect(Variants("extract [-C DIR] ISO [PATH...]")).To(ConsistOf(
		[]string{"extract", "ISO"}, []string{"extract", "ISO", "PATH"}, []string{"extract", "-C", "DIR", "ISO"}, []string{"extract", "-C", "DIR", "ISO", "PATH"},
	))
}

// TestExamples: each command is called as the page has it, filled in; a line without an example is a failure, and so is an example without a line.
func TestExamples(t *testing.T) {
	g := NewWithT(t)
	var calls []string
	call := func(in string, args []string) (string, error) {
		calls = append(calls, strings.Join(args, " ")+in)
		return "shown", nil
	}
	show := Example{Line: "show [--all] FILE", With: map[string]string{"FILE": "a b"}, More: "--dir x", In: "<", Want: "show"}
	g.Expect(show.run(call)).To(BeEmpty())
	g.Expect(calls).To(ConsistOf("show a b --dir x<", "show --all a b --dir x<"))
	g.Expect(Example{Line: "serve", Want: "hidden"}.run(call)).To(ConsistOf(ContainSubstring(`serve: want "hidden" in`)))
	g.Expect(Example{Line: "serve"}.run(func(string, []string) (string, error) { return "", errors.New("no such port") })).To(ConsistOf(ContainSubstring("no such port")))

	g.Expect(matched([]string{"show [--all] FILE"}, []Example{show})).To(BeEmpty())
	g.Expect(matched([]string{"show [--all] FILE", "serve"}, []Example{show})).To(ConsistOf(HavePrefix("serve: a page has it")))
	g.Expect(matched([]string{"serve"}, []Example{show, {Line: "serve"}})).To(ConsistOf(HavePrefix("show [--all] FILE: no page has it")))
}
