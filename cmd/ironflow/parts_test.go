package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/spf13/pflag"

	"github.com/ironflow/ironflow/api/names"
)

const (
	partsStart = "<!-- parts: kept equal to the program by a test (go test ./cmd/ironflow -update) -->\n"
	partsEnd   = "<!-- end of parts -->"
)

// TestDocumentationSaysWhichPartHasASetting keeps the table of settings by part.
func TestDocumentationSaysWhichPartHasASetting(t *testing.T) {
	g := NewWithT(t)
	var want strings.Builder
	want.WriteString("| flag | run | controllers | hub | images |\n|---|---|---|---|---|\n")
	s := new(settings)
	tables := [][]setting{s.table(), s.controllersTable(), parts[0].table(s), parts[1].table(s)}
	for _, row := range slices.Concat(s.table(), s.liveImages()) {
		fmt.Fprintf(&want, "| `--%s` |", row.flag)
		for _, table := range tables {
			mark := " "
			if slices.ContainsFunc(table, func(r setting) bool { return r.flag == row.flag }) {
				mark = " x "
			}
			want.WriteString(mark + "|")
		}
		want.WriteString("\n")
	}
	raw, err := os.ReadFile(doc)
	g.Expect(err).NotTo(HaveOccurred())
	before, rest, ok := strings.Cut(string(raw), partsStart)
	g.Expect(ok).To(BeTrue(), "the start marker is gone")
	have, after, ok := strings.Cut(rest, partsEnd)
	g.Expect(ok).To(BeTrue(), "the end marker is gone")
	if *update {
		g.Expect(os.WriteFile(doc, []byte(before+partsStart+want.String()+partsEnd+after), 0o600)).To(Succeed())
		return
	}
	g.Expect(have).To(Equal(want.String()), "run: go test ./cmd/ironflow -update")
}

// TestPartsTogetherAreTheWholeProgram: what can be set for the whole can be set
// for one of its parts, and parts never share a lease.
func TestPartsTogetherAreTheWholeProgram(t *testing.T) {
	g := NewWithT(t)
	s := new(settings)
	var flags []string
	leases := map[string]bool{names.ControllersLease: true}
	for _, row := range s.controllersTable() {
		flags = append(flags, row.flag)
	}
	for _, p := range parts {
		g.Expect(p.table(s)).To(HaveLen(len(p.flags)), "part %s names a setting that does not exist", p.use)
		flags = append(flags, p.flags...)
		g.Expect(leases).NotTo(HaveKey(p.lease))
		leases[p.lease] = true
	}
	for _, row := range s.table() {
		g.Expect(flags).To(ContainElement(row.flag))
	}
}

func TestPartsRefuseWhatCannotWork(t *testing.T) {
	for name, tc := range map[string]struct {
		part string
		args []string
		want string
	}{
		"images without a base":      {"images", []string{"--ironic-base-url=https://ironic.example"}, "set --base-image or DEPLOY_ISO"},
		"images without an Ironic":   {"images", []string{"--base-image=x"}, "set --ironic-base-url or IRONIC_BASE_URL"},
		"images":                     {"images", []string{"--base-image=x", "--ironic-base-url=https://ironic.example"}, ""},
		"a hub that nobody can find": {"hub", []string{"--hub-publish-url=hub.example"}, "--hub-publish-url"},
		"a hub":                      {"hub", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			i := slices.IndexFunc(parts, func(p part) bool { return p.use == tc.part })
			var s settings
			flags := pflag.NewFlagSet(tc.part, pflag.ContinueOnError)
			bind(flags, parts[i].table(&s))
			g.Expect(flags.Parse(tc.args)).To(Succeed())
			err := parts[i].complete(&s)
			if tc.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}
