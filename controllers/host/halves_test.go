package host

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// acting are the files of the half that observes and carries out. Every other file
// decides.
var acting = map[string]bool{
	"annotations.go": true, "bmcsecret.go": true, "echo.go": true, "endpoint.go": true, "execute.go": true, "findowner.go": true, "firmware.go": true,
	"fleet.go": true, "gate.go": true, "gateway.go": true, "kube.go": true, "mediagate.go": true, "memory.go": true, "metrics.go": true,
	"notes.go": true, "observe.go": true, "pass.go": true, "predicates.go": true, "readnetwork.go": true, "reconciler.go": true,
	"rehearse.go": true, "restore.go": true, "secrets.go": true, "setup.go": true, "slots.go": true, "turns.go": true, "wake.go": true, "written.go": true,
}

// actors are what a decision has no use for: clients, and what waits for them.
var actors = []string{"context", "sync", "net/http", "k8s.io/client-go", "sigs.k8s.io/controller-runtime", "github.com/prometheus"}

// clocks are what a decision does not look at: the time is told to it.
var clocks = []string{"time.Now", "time.Since", "time.Until"}

// TestDecisionsKnowNothingOfWhoActs holds the files of the package against its two
// halves: those that decide refer to nothing that is declared by those that act.
func TestDecisionsKnowNothingOfWhoActs(t *testing.T) {
	g := NewWithT(t)
	fset, files := token.NewFileSet(), map[string]*ast.File{}
	entries, err := fs.Glob(os.DirFS("."), "*.go")
	g.Expect(err).NotTo(HaveOccurred())
	var parsed []*ast.File
	for _, name := range entries {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		g.Expect(err).NotTo(HaveOccurred())
		files[name], parsed = f, append(parsed, f)
	}
	for name := range acting {
		g.Expect(files).To(HaveKey(name), "a file that is gone")
	}
	uses := map[*ast.Ident]types.Object{}
	// What other packages declare is left open: references within this one are known without.
	check := types.Config{Error: func(error) {}}
	pkg, _ := check.Check("host", fset, parsed, &types.Info{Uses: uses})

	decides := func(pos token.Pos) bool { return !acting[filepath.Base(fset.Position(pos).Filename)] }
	within := 0
	for id, o := range uses {
		if o.Pkg() != pkg || !decides(id.Pos()) {
			continue
		}
		within++
		g.Expect(decides(o.Pos())).To(BeTrue(), "%s refers to %s of %s", fset.Position(id.Pos()), o.Name(), fset.Position(o.Pos()).Filename)
	}
	g.Expect(within).To(BeNumerically(">", 1000), "references that were found")

	for name, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			if read, is := n.(*ast.SelectorExpr); is && !acting[name] {
				g.Expect(clocks).NotTo(ContainElement(types.ExprString(read)), "%s decides, and looks at the clock", name)
			}
			return true
		})
		for _, i := range f.Imports {
			for _, actor := range actors {
				path := strings.Trim(i.Path.Value, `"`)
				g.Expect(acting[name] || path != actor && !strings.HasPrefix(path, actor+"/")).To(BeTrue(), "%s decides, and imports %s", name, path)
			}
		}
	}
}
