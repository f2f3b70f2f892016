// Package pages reads the tables of docs/ for tests that hold them against the
// code, and finds the tests that a page names. A table is found by the heading
// above it; a [Row] is one of its lines. [Generated] are the parts of a page that
// tests write.
package pages

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Row is one line of a table: column by title.
type Row map[string]string

// Read returns the text of a page below docs/ of the tree whose top is root.
func Read(t testing.TB, root, page string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// Table returns the rows of the first table below the heading, which is given
// without its signs #. A cell may hold a bar as \|.
func Table(t testing.TB, text, heading string) []Row {
	t.Helper()
	var titles []string
	var rows []Row
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#"):
			if titles != nil {
				return rows
			}
			inside = strings.TrimLeft(line, "# ") == heading
		case !inside:
		case !strings.HasPrefix(line, "|"):
			if titles != nil {
				return rows
			}
		case titles == nil:
			titles = cells(line)
		case strings.HasPrefix(line, "|-"):
		default:
			rows = append(rows, row(t, heading, titles, cells(line)))
		}
	}
	if titles == nil {
		t.Fatalf("no table below the heading %q", heading)
	}
	return rows
}

func row(t testing.TB, heading string, titles, values []string) Row {
	t.Helper()
	if len(values) != len(titles) {
		t.Fatalf("%s: %d cells below %d titles: %q", heading, len(values), len(titles), values)
	}
	r := Row{}
	for i, title := range titles {
		r[title] = values[i]
	}
	return r
}

func cells(line string) []string {
	line = strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|")
	parts := strings.Split(strings.ReplaceAll(line, `\|`, "\x00"), "|")
	for i := range parts {
		parts[i] = strings.ReplaceAll(strings.TrimSpace(parts[i]), "\x00", "|")
	}
	return parts
}

// named is a test in a page: `package.TestName`, `package.TestName/case` or a
// fuzz test.
var named = regexp.MustCompile("`([a-z0-9/-]+)\\.((?:Test|Fuzz|Benchmark)[A-Za-z0-9]*)(?:/([^`]+))?`")

// inPython is a test in Python: `file.py::test_name`.
var inPython = regexp.MustCompile("`([a-z0-9_/-]+\\.py)::(test_[a-z0-9_]+)`")

// Named tells whether the text is the name of a test, as a page writes it between signs `.
func Named(text string) bool {
	text = "`" + text + "`"
	return named.FindString(text) == text || inPython.FindString(text) == text
}

// Tests returns how many tests the text names, and checks that each exists in
// the tree whose top is root: the function, and the case by its quoted name.
func Tests(t testing.TB, root, text string) int {
	t.Helper()
	pythons := inPython.FindAllStringSubmatch(text, -1)
	for _, match := range pythons {
		raw, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(match[1])))
		if err != nil || !strings.Contains(string(raw), "\ndef "+match[2]+"(") {
			t.Errorf("%s has no %s", match[1], match[2])
		}
	}
	found := named.FindAllStringSubmatch(text, -1)
	for _, match := range found {
		folder, test, name := match[1], match[2], match[3]
		body := function(sources(t, root, folder), test)
		switch {
		case body == "":
			t.Errorf("%s has no %s", folder, test)
		case name != "" && !strings.Contains(body, `"`+name+`"`):
			t.Errorf("%s of %s has no case %q", test, folder, name)
		}
	}
	return len(found) + len(pythons)
}

// sources are the tests of a package, of every tier.
func sources(t testing.TB, root, folder string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(folder), "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Errorf("%s has no tests", folder)
		return ""
	}
	var all strings.Builder
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(raw)
	}
	return all.String()
}

// function is the source of a test function, without what follows it; empty if
// there is none.
func function(source, name string) string {
	_, rest, found := strings.Cut(source, "func "+name+"(")
	if !found {
		return ""
	}
	body, _, _ := strings.Cut(rest, "\nfunc ")
	return body
}
