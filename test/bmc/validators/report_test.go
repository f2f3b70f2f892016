package validators_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/bmc/validators"
)

func TestReadProtocol(t *testing.T) {
	g := NewWithT(t)
	findings, passed, err := validators.ReadProtocol(strings.NewReader(
		"Assertion\tMethod\tStatus code\tURI\tResult\tMessage\tRequirement\n" +
			"A\tGET\t200\t/redfish\tPASS\tTest passed\tx\n" + "B\tPUT\t600\t/redfish/v1/\tFAIL\ta \"quoted\" word\ty\n" + "C\t\t\t\tNOT_TESTED\t\tz\n"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(passed).To(Equal(1))
	g.Expect(findings).To(Equal([]validators.Finding{{Assertion: "B", Result: "FAIL", Request: "PUT /redfish/v1/", Message: `a "quoted" word`}}))
}

func TestReadCounts(t *testing.T) {
	g := NewWithT(t)
	passed, warned, failed, err := validators.ReadCounts("x\n|     PASS     |     WARN     |     FAIL     |  NOT TESTED  |\n|      41      |      1       |      2       |      16      |\n")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect([]int{passed, warned, failed}).To(Equal([]int{41, 1, 2}))
	_, _, _, err = validators.ReadCounts("it crashed")
	g.Expect(err).To(MatchError(ContainSubstring("it crashed")))
}
