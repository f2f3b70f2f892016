package cli

import (
	"bytes"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
)

func TestParseTarget(t *testing.T) {
	for raw, want := range map[string][2]string{
		"192.0.2.1":                                 {"https://192.0.2.1", ""},
		"192.0.2.1:8443":                            {"https://192.0.2.1:8443", ""},
		"bmc1.example":                              {"https://bmc1.example", ""},
		"bmc1.example/redfish/v1/Systems/1":         {"https://bmc1.example", "/redfish/v1/Systems/1"},
		"2001:db8::1":                               {"https://[2001:db8::1]", ""},
		"[2001:db8::1]":                             {"https://[2001:db8::1]", ""},
		"[2001:db8::1]:8443":                        {"https://[2001:db8::1]:8443", ""},
		"fe80::1%eth0":                              {"https://[fe80::1%25eth0]", ""},
		"https://[fe80::1%25eth0]:8443":             {"https://[fe80::1%25eth0]:8443", ""},
		"https://bmc1.example/":                     {"https://bmc1.example", ""},
		"https://bmc1.example/redfish/v1/":          {"https://bmc1.example", ""},
		"http://bmc1.example:8000":                  {"http://bmc1.example:8000", ""},
		"https://bmc1.example/redfish/v1/Systems/x": {"https://bmc1.example", "/redfish/v1/Systems/x"},
		"redfish://192.0.2.1/redfish/v1/Systems/1":  {"https://192.0.2.1", "/redfish/v1/Systems/1"},
		"redfish-virtualmedia+http://192.0.2.1:8000/redfish/v1/Systems/abc":   {"http://192.0.2.1:8000", "/redfish/v1/Systems/abc"},
		"redfish-virtualmedia+https://192.0.2.1/redfish/v1/Systems/1":         {"https://192.0.2.1", "/redfish/v1/Systems/1"},
		"redfish-virtualmedia://[fe80::1%25eth0]/redfish/v1/Systems/1":        {"https://[fe80::1%25eth0]", "/redfish/v1/Systems/1"},
		"idrac-virtualmedia://192.0.2.1/redfish/v1/Systems/System.Embedded.1": {"https://192.0.2.1", "/redfish/v1/Systems/System.Embedded.1"},
	} {
		t.Run(raw, func(t *testing.T) {
			g := NewWithT(t)
			got, err := parseTarget(raw)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect([2]string{got.URL, got.System}).To(Equal(want))
			g.Expect(got.name).To(Equal(want[0] + want[1]))
			_, err = client.New(got.Target, client.Options{})
			g.Expect(err).NotTo(HaveOccurred())
		})
	}
}

func TestParseTargetRefuses(t *testing.T) {
	for raw, want := range map[string]string{
		"ipmi://192.0.2.1":                  "try https://192.0.2.1",
		"ipmi://[2001:db8::1]":              "try https://[2001:db8::1]",
		"https://root:s3cret@192.0.2.1":     "--password-file",
		"root:s3cret@192.0.2.1":             "--password-file",
		"redfish://root:s3cret@192.0.2.1/x": "--password-file",
		"https://192.0.2.1/ui":              "no system's",
		"https://192.0.2.1?a=b":             "cannot be read",
		"https://":                          "cannot be read",
		"":                                  "cannot be read",
		"https://%zz":                       "cannot be read",
		"foo://192.0.2.1":                   "Unknown BMC type",
	} {
		t.Run(raw, func(t *testing.T) {
			g := NewWithT(t)
			_, err := parseTarget(raw)
			g.Expect(err).To(MatchError(ContainSubstring(want)))
			g.Expect(err.Error()).NotTo(ContainSubstring("s3cret"))
		})
	}
}

func FuzzParseTarget(f *testing.F) {
	for _, seed := range []string{"192.0.2.1", "[2001:db8::1]:1", "https://a/redfish/v1/Systems/1", "redfish+http://a", "a@b", "://", "redfish:a", "idrac://a", "https://a b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := parseTarget(raw)
		if err != nil {
			return
		}
		if strings.Contains(got.name, "@") && !strings.Contains(got.System, "@") {
			t.Errorf("%q gives %q, which may hold credentials", raw, got.name)
		}
		if got.System != "" && !strings.HasPrefix(got.System, "/") {
			t.Errorf("%q gives the system %q", raw, got.System)
		}
	})
}

// TestBar: on a terminal one line is drawn again, and wiped in the end.
func TestBar(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	b := &bar{w: &out, total: 4}
	b.draw()
	b.done(result{report: &v1alpha1.BMCReport{}})
	b.done(result{failure: &failure{}})
	g.Expect(strings.Split(out.String(), "\r")[1:]).To(Equal([]string{
		"[" + strings.Repeat(".", 40) + "] 0/4 BMCs, 0 failed",
		"[" + strings.Repeat("#", 10) + strings.Repeat(".", 30) + "] 1/4 BMCs, 0 failed",
		"[" + strings.Repeat("#", 20) + strings.Repeat(".", 20) + "] 2/4 BMCs, 1 failed",
	}))
	b.end()
	g.Expect(out.String()).To(HaveSuffix("\r\x1b[K"))
	g.Expect(out.String()).NotTo(ContainSubstring("\n"))
}

func TestCut(t *testing.T) {
	g := NewWithT(t)
	g.Expect(cut("short", 5)).To(Equal("short"))
	g.Expect(cut("longer…x", 6)).To(Equal("longe…"))
}

// TestTidy: an error holds words of a BMC, which do not command the terminal.
func TestTidy(t *testing.T) {
	NewWithT(t).Expect(tidy("a\x1b[2J\nb\u202e \x07c")).To(Equal("a [2J b c"))
}
