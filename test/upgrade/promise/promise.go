// Package promise holds names that users, scripts and other programs write down against
// what the releases had: fields of resources, flags, metrics and the like. A release has a
// folder in test/upgrade/testdata with a file for each [Topic], one promise a line. The main
// function is [Kept]; tests call it where the names are known.
package promise

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Topic is a kind of names.
type Topic struct {
	// File has them, in the folder of a release.
	File string
	// Are says what they are.
	Are string
	// Replaced tells that one may go if docs/upgrade.md says what comes in its place. Others
	// never go: objects and programs of before have them, and no person reads a page for those.
	Replaced bool
}

// The topics.
var (
	Values     = Topic{File: "values.txt", Are: "values of the Helm chart, with their types"}
	Operations = Topic{File: "operations.txt", Are: "operations of the hub's REST API"}
	Models     = Topic{File: "models.txt", Are: "members of what the hub's REST API takes and answers, with their types"}
	HostFiles  = Topic{File: "hostfiles.txt", Are: "files and units of a live image that programs on a host share"}
	Migrations = Topic{File: "migrations.txt", Are: "steps of the hub's tables, with digests"}
	Variables  = Topic{File: "variables.txt", Are: "environment variables and fields of the configuration file", Replaced: true}
	Metrics    = Topic{File: "metrics.txt", Are: "metrics, with type and labels", Replaced: true}
	Conditions = Topic{File: "conditions.txt", Are: "conditions of the host side by kind, with status and reason", Replaced: true}
	Events     = Topic{File: "events.txt", Are: "reasons of events by kind", Replaced: true}
	Names      = Topic{File: "names.txt", Are: "annotations, labels, finalizers, leases and deploy steps", Replaced: true}
	Words      = Topic{File: "words.txt", Are: "condition types, reasons, states and roles of the kinds of the hub", Replaced: true}
)

// Flags are the commands of a program and their flags.
func Flags(program string) Topic {
	return Topic{File: "flags-" + program + ".txt", Are: "commands of " + program + ", and their flags", Replaced: true}
}

// Releases are the folders of the supported releases below the repository's root, the
// oldest first.
func Releases(root string) ([]string, error) {
	found, err := filepath.Glob(filepath.Join(root, "test", "upgrade", "testdata", "[0-9]*.[0-9]*"))
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, errors.New("no release is recorded in test/upgrade/testdata")
	}
	slices.SortFunc(found, func(a, b string) int { return slices.Compare(numbers(a), numbers(b)) })
	return found, nil
}

// numbers are those of a folder's name, so that 0.10 is after 0.9.
func numbers(folder string) (list []int) {
	for part := range strings.SplitSeq(filepath.Base(folder), ".") {
		var n int
		_, _ = fmt.Sscan(part, &n) // the pattern of the names has digits only at the start
		list = append(list, n)
	}
	return list
}

// Kept fails the test for each promise of a release that the present names do not keep.
// With update, names that are new are added to the record of the newest release.
func Kept(t testing.TB, root string, topic Topic, have []string, update bool) {
	t.Helper()
	if len(have) == 0 {
		t.Fatalf("nothing is there of %s: is the test still looking at the right place?", topic.Are)
	}
	releases, err := Releases(root)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "upgrade.md"))
	if err != nil {
		t.Fatal(err)
	}
	replaced := Replaced(string(page))
	for _, release := range releases {
		promised, err := read(filepath.Join(release, topic.File))
		switch {
		case errors.Is(err, fs.ErrNotExist) && update:
		case err != nil:
			t.Fatalf("%v: run this with -update to record the release", err)
		}
		for _, line := range Broken(promised, have) {
			switch {
			case !topic.Replaced:
				t.Errorf("release %s had %q, and it is gone: %s stay", filepath.Base(release), line, topic.Are)
			case !slices.Contains(replaced, line):
				t.Errorf("release %s had %q, and it is gone: have a way for those who use it, and a row with `%s` in docs/upgrade.md, section %q", filepath.Base(release), line, line, section)
			}
		}
	}
	if update && !t.Failed() {
		if err := add(filepath.Join(releases[len(releases)-1], topic.File), topic, have); err != nil {
			t.Fatal(err)
		}
	}
}

// Broken are the promises that are not among the names.
func Broken(promised, have []string) (broken []string) {
	there := make(map[string]bool, len(have))
	for _, line := range have {
		there[line] = true
	}
	for _, line := range promised {
		if !there[line] {
			broken = append(broken, line)
		}
	}
	return broken
}

// section is where docs/upgrade.md names what has gone.
const section = "What has gone"

var quoted = regexp.MustCompile("`([^`]+)`")

// Replaced are the names that the page says have gone.
func Replaced(page string) (names []string) {
	_, text, _ := strings.Cut(page, "\n## "+section+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	for _, found := range quoted.FindAllStringSubmatch(text, -1) {
		names = append(names, found[1])
	}
	return names
}

// read returns the promises of a file.
func read(file string) (lines []string, err error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines, nil
}

// add puts the names to those of a file.
func add(file string, topic Topic, have []string) error {
	lines, err := read(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	lines = append(lines, have...)
	slices.Sort(lines)
	head := "# " + strings.ToUpper(topic.Are[:1]) + topic.Are[1:] + ".\n# Promised: written by tests with -update, which add what is new and never take anything back.\n"
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(head+strings.Join(slices.Compact(lines), "\n")+"\n"), 0o644)
}
