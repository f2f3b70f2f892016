package model

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// mutation is a fault that is put into the controller, to see that it is found.
type mutation struct {
	name     string
	file     string // below controllers/host
	old, new string
	// test finds it where the model does not: a package, and a pattern for -run.
	pkg, run string
}

// root is the repository's.
const root = "../.."

// fewestMutations is how many must have their place in the code.
const fewestMutations = 30

// TestMutationsApply fails for a mutation that has lost its place in the code, by which it would be
// found by nobody when they are tried.
func TestMutationsApply(t *testing.T) {
	g := NewWithT(t)
	for _, m := range mutations {
		raw, err := os.ReadFile(filepath.Join(root, "controllers/host", m.file))
		g.Expect(err).NotTo(HaveOccurred(), m.name)
		g.Expect(strings.Count(string(raw), m.old)).To(Equal(1), "the mutation %q has no place any more: %q in %s", m.name, m.old, m.file)
	}
	g.Expect(len(mutations)).To(BeNumerically(">=", fewestMutations))
}

// killed tries a mutation, on a copy of its file, and reports whether it is found.
func (m mutation) killed(dir string) (by string, err error) {
	path, err := filepath.Abs(filepath.Join(root, "controllers/host", m.file))
	if err != nil {
		return "", err
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	copied := filepath.Join(dir, "mutated.go")
	if err := os.WriteFile(copied, []byte(strings.Replace(string(raw), m.old, m.new, 1)), 0o600); err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{path: copied}})
	if err != nil {
		return "", err
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return "", err
	}
	tries := [][]string{
		{"-short", "-run", "^(TestLives|TestHistories|TestMended|TestRetriesAreBounded)$", "./test/model"},
		{"-run", "^TestHistories$", "./test/model"},
	}
	if m.pkg != "" {
		tries = [][]string{{"-run", m.run, m.pkg}}
	}
	for _, args := range tries {
		c := exec.Command("go", append([]string{"test", "-overlay", list, "-vet=off", "-count", "1"}, args...)...)
		c.Dir, c.Env = root, append(os.Environ(), "MODEL_DURATION=", "MODEL_STORY=")
		out, err := c.CombinedOutput()
		if strings.Contains(string(out), "build failed") {
			return "", fmt.Errorf("mutation %q does not compile: %s", m.name, out)
		}
		if err != nil { // a test that fails has found it
			return firstFinding(string(out)), nil //nolint:nilerr // as is wanted
		}
	}
	return "", nil
}

// firstFinding is the line of a test's output that says what was found.
func firstFinding(out string) string {
	lines := strings.Split(out, "\n")
	for _, broken := range []string{"UNASKED", "TWICE", "NOTHING", "NO END", "NO REST", "UNTRUE", "TWO NODES", "LEFT BEHIND", "ON HOLD", "    --- FAIL", "--- FAIL"} {
		for _, line := range lines {
			if strings.Contains(line, broken) {
				return strings.TrimSpace(line)
			}
		}
	}
	return "a test fails"
}

// tryMutations counts the mutations, and those that are found.
func tryMutations(t *testing.T) (all, killed int) {
	t.Helper()
	only := os.Getenv("MODEL_MUTATIONS")
	for _, m := range mutations {
		if only == "none" || !strings.Contains(m.name, only) {
			continue
		}
		all++
		by, err := m.killed(t.TempDir())
		switch {
		case err != nil:
			t.Error(err)
		case by == "":
			t.Errorf("nobody finds the mutation %q", m.name)
		default:
			killed++
			fmt.Printf("mutation %q: %s\n", m.name, by)
		}
	}
	return all, killed
}
