package quickstart_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/quickstart"
)

func page(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(name)))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return string(raw)
}

// TestTheQuickStartIsKnown: each command of the page is one that the test which installs Ironflow does, and what a site replaces is in them.
func TestTheQuickStartIsKnown(t *testing.T) {
	g := NewWithT(t)
	commands, err := quickstart.Commands(page(t, quickstart.Page), quickstart.Heading)
	g.Expect(err).NotTo(HaveOccurred())
	done := map[quickstart.Step]int{}
	by := map[quickstart.Step]func(quickstart.Command){}
	for _, step := range quickstart.Steps {
		by[step] = func(quickstart.Command) { done[step]++ }
	}
	g.Expect(quickstart.Run(commands, by)).To(Succeed())
	for _, step := range quickstart.Steps {
		g.Expect(done).To(HaveKey(step), "the page no longer does this")
	}
	var whole strings.Builder
	for _, c := range commands {
		whole.WriteString(c.String() + "\n" + c.Text)
	}
	for _, example := range []string{
		"VERSION=" + quickstart.Version + " ", quickstart.Image, quickstart.Ironic, quickstart.BaseImage, quickstart.Address, quickstart.User, quickstart.Password,
		quickstart.CA, "sha256sum " + quickstart.LiveISO, " " + quickstart.SiteFile, " " + quickstart.HostFolder + "\n", " " + quickstart.Tree + "chart ",
	} {
		g.Expect(whole.String()).To(ContainSubstring(example), "a site replaces this")
	}
}

// TestOtherPagesSayTheSame: README.md and the page of the samples have some of the commands of the quick start, and none that it lacks.
func TestOtherPagesSayTheSame(t *testing.T) {
	g := NewWithT(t)
	commands, err := quickstart.Commands(page(t, quickstart.Page), quickstart.Heading)
	g.Expect(err).NotTo(HaveOccurred())
	var lines []string
	for _, c := range commands {
		lines = append(lines, inShort(c))
	}
	readme, err := quickstart.Commands(page(t, "README.md"), "Install")
	g.Expect(err).NotTo(HaveOccurred())
	_, samples, found := strings.Cut(page(t, "config/samples/README.md"), "# Samples\n")
	g.Expect(found).To(BeTrue())
	applied, err := quickstart.Commands("\n## Samples\n"+samples, "Samples")
	g.Expect(err).NotTo(HaveOccurred())
	for _, c := range slices.Concat(readme, applied) {
		g.Expect(lines).To(ContainElement(inShort(c)))
	}
}

// inShort is a command without what another page may leave out: the folder of helm, and that the namespace is there already.
func inShort(c quickstart.Command) string {
	return strings.ReplaceAll(strings.TrimPrefix(c.String(), "bin/"), " --create-namespace", "")
}

func TestCommandsOfABlock(t *testing.T) {
	g := NewWithT(t)
	const text = "# T\n\n## Other\n\n```sh\nno\n```\n\n## Start\n\nText\n\n```sh\n# what it is about\nmake images A=1   # said\ncat > f.yaml <<END\na: \"$(x | y)\"\nEND\n" +
		"kubectl -n a exec deployment/b -- /c\n```\n"
	commands, err := quickstart.Commands(text, "Start")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(commands).To(HaveLen(3))
	g.Expect(commands[0].Words).To(Equal([]string{"make", "images", "A=1"}))
	g.Expect(commands[1].File).To(Equal("f.yaml"))
	g.Expect(commands[1].Text).To(Equal("cat > f.yaml <<END\na: \"$(x | y)\"\nEND\n"))
	g.Expect(commands[2].Step()).To(Equal(quickstart.Exec))
	for name, c := range map[string]struct{ text, want string }{
		"no heading":         {"# T\n", `no heading "Start"`},
		"no block":           {"\n## Start\n\ntext\n\n## Next\n\n```sh\nmake\n```\n", "no block of commands"},
		"no end":             {"\n## Start\n\n```sh\nmake\n", "has no end"},
		"no commands":        {"\n## Start\n\n```sh\n# none\n```\n", "no commands"},
		"no end of the text": {"\n## Start\n\n```sh\ncat > f <<END\na\n```\n", "is understood"},
		"a pipe":             {"\n## Start\n\n```sh\nmake images | tee\n```\n", "not understood"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := quickstart.Commands(c.text, "Start")
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(c.want)))
		})
	}
	unknown, err := quickstart.Commands("\n## Start\n\n```sh\nmake images\nrm -rf a\n```\n", "Start")
	g.Expect(err).NotTo(HaveOccurred())
	nothing := true
	g.Expect(quickstart.Run(unknown, map[quickstart.Step]func(quickstart.Command){quickstart.MakeImages: func(quickstart.Command) { nothing = false }})).
		To(MatchError("nobody knows how to do this: rm -rf a"))
	g.Expect(quickstart.Run(unknown[:1], nil)).To(MatchError("nobody does this: make images"))
	g.Expect(nothing).To(BeTrue(), "nothing is done of a page that is not known as a whole")
}
