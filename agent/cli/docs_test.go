package cli

import (
	"bytes"
	"cmp"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/programs"
	"github.com/ironflow/ironflow/agent/program"
	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/test/pages"
)

// root is the top of the tree; reference is the page that the tables below stand in.
const (
	root      = "../.."
	reference = "agent-reference.md"
)

// The page for users names every program and every exit code of the agent.
func TestEveryProgramIsDocumented(t *testing.T) {
	g := NewWithT(t)
	page := pages.Read(t, root, "agent.md")
	for _, p := range everyProgram() {
		g.Expect(page).To(ContainSubstring("| `" + p.Name + "` | " + p.Summary + " |"))
	}
	for _, m := range exitcode.Meanings() {
		if m.Program == BinaryName {
			g.Expect(page).To(ContainSubstring("| " + strconv.Itoa(m.Code) + " | " + m.Text + " |"))
		}
	}
	text := pages.Read(t, root, reference)
	names := []string{}
	for _, row := range pages.Table(t, text, "Programs and their exit codes") {
		names = append(names, unquoted(row["program"]))
	}
	want := []string{}
	for _, p := range everyProgram() {
		want = append(want, p.Name)
	}
	g.Expect(names).To(ConsistOf(want), "docs/%s, table of programs", reference)
	g.Expect(pages.Tests(t, root, text)).To(BeNumerically(">", 50), "the page names its tests in the form that is looked for")
}

// everyProgram are the programs of both binaries that run on hosts: the pages tell of both.
func everyProgram() []program.Program { return slices.Concat(Programs(), programs.Programs()) }

// help is what the program says when it is asked for help.
func help(t *testing.T, p program.Program) string {
	t.Helper()
	var out bytes.Buffer
	p.Run(t.Context(), program.Streams{Out: &out, Err: &out}, p.Name, []string{"--help"})
	return out.String()
}

// option is a flag as its programs have it.
type option struct{ programs, def string }

func TestEveryFlagIsDocumented(t *testing.T) {
	g := NewWithT(t)
	documented := map[string]option{}
	for _, row := range pages.Table(t, pages.Read(t, root, reference), "Flags") {
		documented[strings.TrimPrefix(unquoted(row["flag"]), "--")] = option{row["programs"], row["default"]}
		g.Expect(row["meaning"]).NotTo(BeEmpty(), "%s: no meaning", row["flag"])
		g.Expect(pages.Tests(t, root, row["shown by"])).NotTo(BeZero(), "%s: no test", row["flag"])
	}
	there := options(t)
	for _, name := range slices.Sorted(maps.Keys(there)) {
		g.Expect(documented[name]).To(Equal(there[name]), "docs/%s, table of flags: want a row | `--%s` | %s | %s | meaning | tests |", reference, name, there[name].programs, there[name].def)
	}
	g.Expect(slices.Sorted(maps.Keys(documented))).To(Equal(slices.Sorted(maps.Keys(there))), "flags of docs/%s and those of the programs", reference)
}

// options are the flags of all programs, as their help prints them.
func options(t *testing.T) map[string]option {
	t.Helper()
	users, defaults := map[string][]string{}, map[string]string{}
	for _, p := range everyProgram() {
		for _, found := range helpLine.FindAllStringSubmatch(help(t, p), -1) {
			name := found[1]
			users[name] = append(users[name], p.Name)
			defaults[name] = cmp.Or(strings.Trim(found[4], `"`), map[string]string{"": "false", "int": "0"}[found[2]])
		}
	}
	all := map[string]option{}
	for name, programs := range users {
		list := strings.Join(programs, ", ")
		if len(programs) == len(everyProgram()) {
			list = "all"
		}
		all[name] = option{list, defaults[name]}
	}
	return all
}

// helpLine is a flag in the help: name, type, meaning, default.
var helpLine = regexp.MustCompile(`(?m)^  -([a-z0-9-]+)(?: ([a-z]+))?\n\s+(.*?)(?: \(default (.*)\))?$`)

// byLibraries are variables that libraries read.
var byLibraries = []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "NOTIFY_SOCKET"}

// inSources are forms in which the sources name a variable of the environment.
var inSources = []*regexp.Regexp{
	regexp.MustCompile(`(?:[Gg]etenv|LookupEnv)\("([A-Z][A-Z_0-9]+)"\)`),
	regexp.MustCompile(`\w+Env\s*=\s*"([A-Z][A-Z_0-9]+)"`),
}

func TestEveryVariableIsDocumented(t *testing.T) {
	g := NewWithT(t)
	documented := slices.Clone(byLibraries)
	for _, row := range pages.Table(t, pages.Read(t, root, reference), "Environment") {
		for name := range strings.SplitSeq(row["variable"], ", ") {
			documented = append(documented, unquoted(name))
		}
		g.Expect(pages.Tests(t, root, row["shown by"])).NotTo(BeZero(), "%s: no test", row["variable"])
	}
	used := slices.Clone(byLibraries)
	for _, folder := range []string{"agent", "api/hostfile", "cmd/ironflow-agent", "cmd/ironflow-agent-based"} {
		used = append(used, variables(t, folder)...)
	}
	slices.Sort(documented)
	slices.Sort(used)
	g.Expect(slices.Compact(documented)).To(Equal(slices.Compact(used)), "variables of docs/%s, and those that the sources read", reference)
}

// variables are those that the sources below the folder read, without tests.
func variables(t *testing.T, folder string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		raw, err := os.ReadFile(path)
		for _, form := range inSources {
			for _, found := range form.FindAllStringSubmatch(string(raw), -1) {
				names = append(names, found[1])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func unquoted(cell string) string { return strings.Trim(cell, "`") }
