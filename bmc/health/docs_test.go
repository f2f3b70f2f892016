package health

import (
	"fmt"
	"os"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/health/rules"
	"github.com/ironflow/ironflow/test/pages"
)

// TestDocs: docs/bmc-watch.md has a row for each domain, and the figure of requests.
func TestDocs(t *testing.T) {
	g := NewWithT(t)
	raw, err := os.ReadFile("../../docs/bmc-watch.md")
	g.Expect(err).NotTo(HaveOccurred())
	var domains []rules.Domain
	for _, row := range pages.Table(t, string(raw), "Health") {
		domains = append(domains, rules.Domain(row["domain"]))
	}
	g.Expect(domains).To(Equal(rules.Domains))
	g.Expect(string(raw)).To(ContainSubstring(fmt.Sprintf("each reading takes at most %d requests", defaultRequests)))
}
