package main

import (
	"testing"

	. "github.com/onsi/gomega"
	"github.com/spf13/pflag"

	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/topics"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/parts"
)

// TestPartsTogetherAreTheWholeProgram: what can be set for the whole can be set
// for one of its parts, and parts never share a lease.
func TestPartsTogetherAreTheWholeProgram(t *testing.T) {
	g := NewWithT(t)
	var s v1alpha1.IronflowConfiguration
	leases := map[string]bool{}
	for _, c := range processes[1:] {
		g.Expect(leases).NotTo(HaveKey(c.Lease))
		leases[c.Lease] = true
	}
	g.Expect(leases).To(HaveKey(names.ControllersLease))
	for _, row := range settings.Rows(topics.All(&s)) {
		g.Expect(partsWith(row.Flag)).NotTo(BeEmpty(), row.Flag)
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
			c, p := processOf(tc.part), new(parts.Program)
			flags := pflag.NewFlagSet(tc.part, pflag.ContinueOnError)
			settings.Bind(flags, c.Flags(p))
			g.Expect(flags.Parse(tc.args)).To(Succeed())
			err := c.Check(&p.Settings)
			if tc.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}
