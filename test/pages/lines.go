package pages

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// said is what a page says of a command: a comment, or words behind two blanks or more.
	said = regexp.MustCompile(`\s+#.*$|\s{2,}[^-\[\s].*$`)
	// shell is what the shell does with a command and its output.
	shell = regexp.MustCompile(`\s+(?:\||[<>]|&&).*$`)
	// optional is a part of a command that may be left out.
	optional = regexp.MustCompile(`\[([^\]]*)\]`)
)

// texts are the pages for users of a repository: those of docs and at the top, and those that stand beside what they are about.
func texts(t *testing.T, root string) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"docs/*.md", "*.md", "config/samples/README.md", "customdeploy/ipa/README.md"} {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	return files
}

// Lines are the commands of a program that pages have on a line of their own, to be copied or filled in: without the program, and without
// what is said of them. Each is there once, however many pages have it.
func Lines(t *testing.T, root, program string) (lines []string) {
	t.Helper()
	line := regexp.MustCompile(`(?m)^ *(?:\$ )?(?:kubectl [^\n]* -- /|bin/)?` + program + ` ([^\n]+)$`)
	for _, file := range texts(t, root) {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range line.FindAllStringSubmatch(string(raw), -1) {
			text := strings.TrimSuffix(shell.ReplaceAllString(said.ReplaceAllString(found[1], ""), ""), " ...")
			if text = strings.Join(strings.Fields(text), " "); !slices.Contains(lines, text) {
				lines = append(lines, text)
			}
		}
	}
	return lines
}

// Variants are the calls that a line stands for: with and without each part in brackets.
func Variants(line string) (calls [][]string) {
	part := optional.FindStringSubmatchIndex(line)
	if part == nil {
		return [][]string{strings.Fields(line)}
	}
	before, inside, after := line[:part[0]], strings.TrimSuffix(line[part[2]:part[3]], "..."), line[part[1]:]
	return append(Variants(before+after), Variants(before+inside+after)...)
}

// Example is how a test runs a command of a page.
type Example struct {
	// Line is the command as [Lines] has it.
	Line string
	// With has what stands in the place of words that nobody types, such as FILE or an address of an example. A value may be several words.
	With map[string]string
	// More are flags that lead to what the test has, such as its folders.
	More string
	// In is the standard input, Want a part of the output.
	In, Want string
	// By names the test that runs this command, where it needs more than there is here. It is the only member beside Line then.
	By string
}

// Program runs a call of a program, and returns its standard output, and why it failed.
type Program func(in string, args []string) (output string, err error)

// Run runs the commands that pages have of a program, in the order of the examples. There has to be an example for each of them, and no other.
func Run(t *testing.T, root, program string, examples []Example, call Program) {
	t.Helper()
	for _, problem := range matched(Lines(t, root, program), examples) {
		t.Errorf("%s %s", program, problem)
	}
	var here []Example
	for _, e := range examples {
		switch {
		case e.By == "":
			here = append(here, e)
		case Tests(t, root, "`"+e.By+"`") != 1:
			t.Errorf("%s is not the name of a test", e.By)
		}
	}
	RunExamples(t, program, here, call)
}

// RunExamples runs commands of pages that are no more than some of them.
func RunExamples(t *testing.T, program string, examples []Example, call Program) {
	t.Helper()
	for _, e := range examples {
		t.Run(e.Line, func(t *testing.T) {
			for _, problem := range e.run(call) {
				t.Errorf("%s %s", program, problem)
			}
		})
	}
}

// matched says which lines have no example, and which examples no line.
func matched(lines []string, examples []Example) (problems []string) {
	for _, e := range examples {
		if !slices.Contains(lines, e.Line) {
			problems = append(problems, e.Line+": no page has it, remove the example")
		}
	}
	for _, line := range lines {
		if !slices.ContainsFunc(examples, func(e Example) bool { return e.Line == line }) {
			problems = append(problems, line+": a page has it, and no test runs it: add an example")
		}
	}
	return problems
}

// run calls each variant of the line, and says what went wrong.
func (e Example) run(call Program) (problems []string) {
	for _, words := range Variants(e.Line) {
		args := append(e.fill(words), strings.Fields(e.More)...)
		output, err := call(e.In, args)
		switch {
		case err != nil:
			problems = append(problems, fmt.Sprintf("%s: %v\n%s", strings.Join(args, " "), err, output))
		case !strings.Contains(output, e.Want):
			problems = append(problems, fmt.Sprintf("%s: want %q in\n%s", strings.Join(args, " "), e.Want, output))
		}
	}
	return problems
}

// fill puts in what stands for words.
func (e Example) fill(words []string) (args []string) {
	for _, word := range words {
		if value, is := e.With[word]; is {
			args = append(args, strings.Fields(value)...)
			continue
		}
		args = append(args, word)
	}
	return args
}
