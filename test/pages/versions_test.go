package pages_test

import (
	"regexp"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/pages"
)

// TestVersionsOfThePageAreThoseOfTheTests: docs/versions.md says what was tested by what the tests are pinned to.
func TestVersionsOfThePageAreThoseOfTheTests(t *testing.T) {
	g := NewWithT(t)
	tested := map[string]string{}
	for _, row := range pages.Table(t, pages.Read(t, "../..", "versions.md"), "Versions") {
		tested[row["part"]] = row["tested"]
	}
	for _, pinned := range []struct{ part, file, pattern string }{
		{"Kubernetes API", "test/controlplane/go.mod", `k8s\.io/kubernetes v(\S+)`},
		{"OpenStack Ironic", "test/lab/ironic/requirements.txt", `(?m)^ironic==(\S+)`},
		{"ironic-python-agent", "test/lab/ipa/requirements.txt", `(?m)^ironic-python-agent==(\S+)`},
		{"sushy, with which Ironic speaks to BMCs", "test/lab/ironic/requirements.txt", `(?m)^sushy==(\S+)`},
		{"metal3.io API", "go.mod", `metal3-io/baremetal-operator/apis v(\S+)`},
		{"Go, to build", "go.mod", `(?m)^go (\d+\.\d+)`},
		{"Kubernetes API", "Makefile", `(?m)^OLDEST_KUBERNETES := (\S+)`},
		{"OpenStack Ironic", "Makefile", `(?m)^OLDEST_IRONIC\s+:= (\S+)`},
	} {
		found := regexp.MustCompile(pinned.pattern).FindStringSubmatch(text(t, "../../"+pinned.file))
		g.Expect(found).To(HaveLen(2), pinned.file)
		g.Expect(tested).To(HaveKeyWithValue(pinned.part, ContainSubstring(found[1])), pinned.file)
	}
}
