package validations_test

import (
	"os"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/validations"
)

// protocolIDs are the ids of the protocol's models host-validation-id and
// cluster-validation-id, in testdata.
func protocolIDs(t *testing.T, model string) []string {
	t.Helper()
	raw, err := os.ReadFile("testdata/ids.tsv")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	var ids []string
	for line := range strings.Lines(string(raw)) {
		if name, id, _ := strings.Cut(strings.TrimSpace(line), "\t"); name == model {
			ids = append(ids, id)
		}
	}
	return ids
}

func TestEveryIDOfTheProtocolHasARow(t *testing.T) {
	g := NewWithT(t)
	var hosts, clusters []string
	categories := map[string]int{}
	for _, row := range validations.HostRows {
		hosts = append(hosts, string(row.ID))
		categories["host "+row.Category]++
		g.Expect(row.Checks).NotTo(BeEmpty(), string(row.ID))
		g.Expect(row.Do).NotTo(BeEmpty(), string(row.ID))
	}
	for _, row := range validations.ClusterRows {
		clusters = append(clusters, string(row.ID))
		categories["cluster "+row.Category]++
		g.Expect(row.Checks).NotTo(BeEmpty(), string(row.ID))
		g.Expect(row.Do).NotTo(BeEmpty(), string(row.ID))
	}
	g.Expect(hosts).To(ConsistOf(protocolIDs(t, "host-validation-id")))
	g.Expect(clusters).To(ConsistOf(protocolIDs(t, "cluster-validation-id")))
	g.Expect(hosts).To(HaveLen(68))
	g.Expect(clusters).To(HaveLen(49))
	g.Expect(categories).To(Equal(map[string]int{
		"host network": 22, "host hardware": 17, "host operators": 29,
		"cluster network": 15, "cluster hosts-data": 2, "cluster configuration": 2, "cluster operators": 30,
	}))
}

func TestWhatCannotBeIgnored(t *testing.T) {
	g := NewWithT(t)
	for _, id := range []string{"connected", "has-inventory", "inventory-not-fully-truncated", "machine-cidr-defined", "hostname-unique", "hostname-valid"} {
		g.Expect(validations.CheckIgnored([]string{id}, nil)).To(MatchError(ContainSubstring("cannot be ignored")), id)
	}
	for _, id := range []string{"api-vips-defined", "ingress-vips-defined", "all-hosts-are-ready-to-install", "sufficient-masters-count", "pull-secret-set"} {
		g.Expect(validations.CheckIgnored(nil, []string{id})).To(MatchError(ContainSubstring("cannot be ignored")), id)
	}
	g.Expect(validations.CheckIgnored([]string{"all", "has-min-memory"}, []string{"all", "machine-cidr-defined"})).To(Succeed())
	g.Expect(validations.CheckIgnored([]string{"sufficient-masters-count"}, nil)).To(MatchError(ContainSubstring("there is no host validation")))
}
