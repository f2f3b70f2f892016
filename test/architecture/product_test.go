package architecture

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

const module = "github.com/ironflow/ironflow"

// TestTheProductHoldsTheProduct: a package outside of test/ and tools/ is there for a program below cmd/, or is run by go generate.
// What only tests, lab and benches use lies below test/, what only writes files of the repository below tools/.
func TestTheProductHoldsTheProduct(t *testing.T) {
	g := gomega.NewWithT(t)
	used := map[string]bool{}
	for _, p := range goList(t, "-deps", "./cmd/...") {
		used[p] = true
		g.Expect(p).NotTo(gomega.Or(gomega.HavePrefix(module+"/test/"), gomega.HavePrefix(module+"/tools/")), "a program of the product imports it")
	}
	g.Expect(used).To(gomega.HaveKey(module + "/controllers/host"))
	// A package of test files alone has nothing that another could use.
	packages := goList(t, "-f", "{{if .GoFiles}}{{.ImportPath}}{{end}}", "./...")
	for _, p := range packages {
		if strings.HasPrefix(p, module+"/test/") || strings.HasPrefix(p, module+"/tools/") || used[p] {
			continue
		}
		g.Expect(generates(t, p)).To(gomega.BeTrue(), "no program uses %s: what only tests, lab or benches use belongs below test/, what only writes files below tools/", p)
	}
}

// mostFiles is how many files of product code a package has at most: whoever looks for a line reads their names first.
const mostFiles = 40

func TestNoPackageIsTooLarge(t *testing.T) {
	g := gomega.NewWithT(t)
	packages := strings.Split(strings.TrimSpace(goOutput(t, "-f", `{{.ImportPath}} {{join .GoFiles " "}}`, "./...")), "\n")
	g.Expect(packages).NotTo(gomega.BeEmpty())
	for _, line := range packages {
		p := strings.Fields(line)
		if strings.HasPrefix(p[0], module+"/test/") {
			continue
		}
		g.Expect(len(p)-1).To(gomega.BeNumerically("<=", mostFiles), "files of %s: split it by topic", p[0])
	}
}

// generates reports whether go generate runs the package, as a program of its parent.
func generates(t *testing.T, pkg string) bool {
	t.Helper()
	dir := filepath.Join(root, strings.TrimPrefix(pkg, module))
	return mentions(t, filepath.Dir(dir), "//go:generate go run ./"+filepath.Base(dir))
}

// mentions reports whether a line of a folder's Go files begins so.
func mentions(t *testing.T, dir, begin string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\n"+begin) {
			return true
		}
	}
	return false
}

// goList runs go list in the module's folder and returns its words.
func goList(t *testing.T, args ...string) []string {
	t.Helper()
	return strings.Fields(goOutput(t, args...))
}

// goOutput runs go list in the module's folder.
func goOutput(t *testing.T, args ...string) string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...)
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}
