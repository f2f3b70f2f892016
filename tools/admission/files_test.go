package admission_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/address"
	"github.com/ironflow/ironflow/test/pages"
	"github.com/ironflow/ironflow/tools/admission"
)

// manifests is the folder that the rules are written to.
const manifests = "../../config/admission"

var update = flag.Bool("update", false, "write the manifests and the documentation from the table of rules")

// TestFilesAreWrittenFromTheTable keeps manifests and documentation equal to the
// rules; run with -update to write them.
func TestFilesAreWrittenFromTheTable(t *testing.T) {
	g := NewWithT(t)
	kustomization, err := os.ReadFile(filepath.Join(manifests, "kustomization.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	for _, k := range admission.Kinds() {
		manifest, err := k.Manifest()
		g.Expect(err).NotTo(HaveOccurred())
		sameFile(g, filepath.Join(manifests, k.Resource+".yaml"), string(manifest))
		g.Expect(string(kustomization)).To(ContainSubstring("- " + k.Resource + ".yaml\n"))
	}
	pages.Generated{Root: "../..", Page: "baremetalhost.md", Package: "./tools/admission", Update: *update}.Hold(t, "admission", table())
}

func sameFile(g *WithT, name, want string) {
	if *update {
		g.Expect(os.WriteFile(name, []byte(want), 0o644)).To(Succeed())
		return
	}
	have, err := os.ReadFile(name)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(have)).To(Equal(want), "run: go test ./tools/admission -update")
}

// table is the documentation of the rules.
func table() string {
	var b strings.Builder
	b.WriteString("| kind | rule | what the user reads | left to the controllers |\n|---|---|---|---|\n")
	for _, k := range admission.Kinds() {
		for _, r := range k.Rules {
			rest := r.Rest
			if rest == "" {
				rest = "-"
			}
			said := r.Message
			if r.Where != "" {
				said = "the members, then: " + said
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", k.Kind, r.Name, strings.ReplaceAll(said, "|", "\\|"), rest)
		}
	}
	return b.String()
}

// TestTheAddressPatternRefusesNothingThatWorks compares the pattern with the
// parser: what the parser takes, the API server must take.
func TestTheAddressPatternRefusesNothingThatWorks(t *testing.T) {
	laxer := map[string]string{
		"ipmi://[1:2]":          "not an IPv6 address",
		"ipmi://192.0.2.1:port": "",
	}
	raws := []string{
		"192.0.2.1", "192.0.2.1:6230", "bmc.example.com", "bmc.example.com.", "localhost:6230", "2001:db8::1", "[2001:db8::1]:6230", "::1", "fe80::1%eth0",
		"redfish://user:hidden@192.0.2.1/x", "redfish:192.0.2.1/x", "redfish://192.0.2.1:8443?x=y#z", " ipmi://192.0.2.1 ", "under_score.example",
		"foo://192.0.2.1", "foo:192.0.2.1", "redfish+ftp://192.0.2.1", "ipmi+https://192.0.2.1", "-bad.example", "redfish://", "a b", "%", "://", "libvirt:",
	}
	for _, scheme := range address.Schemes() {
		for _, suffix := range []string{"", "+http", "+https", "+ftp"} {
			raws = append(raws, scheme+suffix+"://192.0.2.1:8000/redfish/v1/Systems/1", strings.ToUpper(scheme)+suffix+"://bmc_1.example")
		}
	}
	for raw := range laxer {
		raws = append(raws, raw)
	}
	for _, raw := range raws {
		t.Run(raw, func(t *testing.T) {
			g := NewWithT(t)
			a, err := address.Parse(raw)
			matched := admission.AddressPattern.MatchString(raw)
			if err == nil {
				g.Expect(matched).To(BeTrue(), "the parser takes it")
				g.Expect(admission.RedfishPattern.MatchString(raw)).To(Equal(a.Family == address.Redfish))
				g.Expect(admission.MACPattern.MatchString(raw)).To(Equal(a.NeedsMAC))
			} else if _, known := laxer[raw]; !known {
				g.Expect(matched).To(BeFalse(), "the parser refuses it: %v", err)
			}
		})
	}
}
