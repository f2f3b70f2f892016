// Package architecture holds docs/architecture.md against the tree: the folders that it lists are the folders that exist, the parts that
// its picture of the flow names are packages, the product's folders hold the product, and the programs that run on a host carry nothing of
// Kubernetes. The import arrows themselves are a rule of the linter.
package architecture

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/pages"
)

// root is the module's folder, seen from this package.
const root = "../.."

// hidden are top-level folders that hold no part of the product: what make builds, what the lab writes, the documentation itself.
var hidden = []string{"bin", "docs"}

var (
	folderRow   = regexp.MustCompile("(?m)^\\| `([a-z0-9]+)/` \\| (.*) \\|$")
	codeSpan    = regexp.MustCompile("`([a-z0-9/-]+)`")
	flowRow     = regexp.MustCompile(`(?m)^\| \d+ \| (.*?) \|`)
	packageName = regexp.MustCompile(`\b(controllers/[a-z]+|ironflow-[a-z]+)\b`)
)

func architecture(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestFoldersOfTheTableAreTheFoldersOfTheTree(t *testing.T) {
	g := gomega.NewWithT(t)
	var documented []string
	for _, row := range folderRow.FindAllStringSubmatch(architecture(t), -1) {
		documented = append(documented, row[1])
	}
	g.Expect(documented).To(gomega.ConsistOf(folders(t, root, hidden...)), "docs/architecture.md, table of folders")
}

func TestEveryReconcilerIsInTheTable(t *testing.T) {
	g := gomega.NewWithT(t)
	var named []string
	for _, row := range folderRow.FindAllStringSubmatch(architecture(t), -1) {
		if row[1] != "controllers" {
			continue
		}
		for _, span := range codeSpan.FindAllStringSubmatch(row[2], -1) {
			named = append(named, span[1])
		}
	}
	g.Expect(named).To(gomega.ConsistOf(folders(t, filepath.Join(root, "controllers"))), "docs/architecture.md, row of controllers/")
}

// TestWhereALineLives fails when a folder or a test of the table has gone.
func TestWhereALineLives(t *testing.T) {
	g := gomega.NewWithT(t)
	text := architecture(t)
	rows := pages.Table(t, text, "Where does a line live")
	g.Expect(len(rows)).To(gomega.BeNumerically(">=", 10))
	for _, row := range rows {
		for _, span := range codeSpan.FindAllStringSubmatch(row["go to"], -1) {
			g.Expect(filepath.Join(root, span[1])).To(gomega.BeADirectory(), row["to add"])
		}
		g.Expect(pages.Tests(t, root, row["and the test"])).To(gomega.Equal(1), row["to add"])
	}
}

func TestPartsOfThePictureExist(t *testing.T) {
	g := gomega.NewWithT(t)
	text := architecture(t)
	picture := strings.Split(text, "```")[1]
	for _, part := range []string{"controllers", "ironic", "imagecustomization", "hub"} {
		g.Expect(picture).To(gomega.MatchRegexp(`\b`+part+`\b`), "the picture shows the folder %s", part)
		g.Expect(filepath.Join(root, part)).To(gomega.BeADirectory())
	}
	for _, program := range []string{"ironflow", "ironflow-step", "ironflow-agent"} {
		g.Expect(picture).To(gomega.ContainSubstring(program))
		g.Expect(filepath.Join(root, "cmd", program)).To(gomega.BeADirectory())
	}
	for _, row := range flowRow.FindAllStringSubmatch(text, -1) {
		for _, name := range packageName.FindAllString(row[1], -1) {
			folder := name
			if !strings.Contains(name, "/") {
				folder = filepath.Join("cmd", name)
			}
			g.Expect(filepath.Join(root, folder)).To(gomega.BeADirectory(), "step of the flow: %s", row[0])
		}
	}
}

func TestHostProgramsCarryNoKubernetesPackage(t *testing.T) {
	for _, program := range []string{"ironflow-agent", "ironflow-step"} {
		t.Run(program, func(t *testing.T) {
			g := gomega.NewWithT(t)
			packages := goList(t, "-deps", "./cmd/"+program)
			g.Expect(packages).To(gomega.ContainElement(module + "/cmd/" + program))
			for _, p := range packages {
				g.Expect(p).NotTo(gomega.HavePrefix("k8s.io/"))
				g.Expect(p).NotTo(gomega.HavePrefix("sigs.k8s.io/controller-runtime"))
				g.Expect(p).NotTo(gomega.HavePrefix("github.com/metal3-io/"))
			}
		})
	}
}

// TestTheProgramInsideAClusterIsSmall: it carries no hub but its wire types, no Ironic and no client-go.
func TestTheProgramInsideAClusterIsSmall(t *testing.T) {
	g := gomega.NewWithT(t)
	packages := goList(t, "-deps", "./cmd/ironflow-cluster")
	g.Expect(packages).To(gomega.ContainElement(module + "/cluster/work"))
	for _, p := range packages {
		if strings.HasPrefix(p, module+"/") {
			g.Expect(strings.HasPrefix(p, module+"/cluster/") || p == module+"/hub/wire" || p == module+"/api/version" || p == module+"/cmd/ironflow-cluster").To(gomega.BeTrue(), p)
		}
		g.Expect(p).NotTo(gomega.HavePrefix("k8s.io/"))
		g.Expect(p).NotTo(gomega.HavePrefix("github.com/gophercloud"))
	}
}

// folders lists the folders directly below dir that hold something of the tree, without hidden ones and those named.
func folders(t *testing.T, dir string, without ...string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		if entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") && !slices.Contains(without, entry.Name()) {
			names = append(names, entry.Name())
		}
	}
	return names
}
