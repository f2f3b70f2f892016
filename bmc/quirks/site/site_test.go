package site_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/quirks"
	"github.com/ironflow/ironflow/bmc/quirks/site"
)

// TestAFileThatChanges: its rows hold when it does, and stay while it is wrong or away.
func TestAFileThatChanges(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "quirks.yaml")
	begin := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	write := func(step int, text string) {
		t.Helper()
		g.Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
		g.Expect(os.Chtimes(path, begin, begin.Add(time.Duration(step)*time.Minute))).To(Succeed())
	}
	f := site.File{Path: path}
	rows := func() (ids []string) {
		table, _ := f.Table()
		for _, q := range table.Match(quirks.Identity{Vendor: "Acme"}) {
			ids = append(ids, q.ID)
		}
		return ids
	}
	row := func(id string) string {
		return "- id: " + id + "\n  vendor: Acme\n  effect: session-or-basic\n  value: basic\n  source: ours\n  advice: none\n"
	}

	_, err := f.Table()
	g.Expect(err).To(MatchError(And(ContainSubstring(path), ContainSubstring("no such file"))))
	g.Expect(rows()).NotTo(ContainElement("acme-1"))
	write(1, row("acme-1"))
	g.Expect(f.Table()).NotTo(BeNil())
	g.Expect(rows()).To(ContainElement("acme-1"))
	write(2, row("acme-2"))
	g.Expect(rows()).To(And(ContainElement("acme-2"), Not(ContainElement("acme-1"))))

	write(3, "- id: acme-3\n  vendr: Acme\n")
	for range 2 { // also when it was seen to be wrong before
		_, err = f.Table()
		g.Expect(err).To(MatchError(And(ContainSubstring(path), ContainSubstring("vendr"))))
		g.Expect(rows()).To(ContainElement("acme-2"))
	}
	g.Expect(os.Remove(path)).To(Succeed())
	g.Expect(rows()).To(ContainElement("acme-2"))
	write(3, row("acme-4"))
	g.Expect(rows()).To(ContainElement("acme-4"), "also one that is as old as the one before")
	g.Expect((&site.File{}).Table()).NotTo(BeNil(), "no file is no fault")
}
