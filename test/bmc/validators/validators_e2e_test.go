//go:build e2e

package validators_test

import (
	"encoding/pem"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/bmc/validators"
)

const (
	user     = "admin"
	password = "Adm1n-secret"
)

// explained are findings that stay, by assertion, with the reason.
var explained = map[string]string{
	"PROTO_ETAG_HEADER_AND_PROPERTY": "a warning: resources have their ETag in the header only, as many BMCs",
}

// served is a BMC for the checkers.
type served struct{ url, ca, bin, work string }

func serve(t *testing.T) served {
	t.Helper()
	g := NewWithT(t)
	dir, err := validators.Environment(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	s := simulator.New(simulator.Options{Username: user, Password: password})
	g.Expect(s.AddSystem(simulator.System{ID: "1", Power: simulator.On, NICs: []simulator.NIC{{MAC: "52:54:00:00:00:01"}}})).To(Succeed())
	server := httptest.NewUnstartedServer(s)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // the checkers try TLS versions that are refused
	server.StartTLS()
	t.Cleanup(func() {
		server.Close()
		s.Close()
	})
	work := t.TempDir()
	ca := filepath.Join(work, "ca.pem")
	g.Expect(os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600)).To(Succeed())
	return served{url: server.URL, ca: ca, bin: filepath.Join(dir, "bin"), work: work}
}

// check runs a checker and returns what it printed.
func (s served) check(t *testing.T, name string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), filepath.Join(s.bin, name), append([]string{"-u", user, "-p", password, "-r", s.url}, args...)...)
	command.Dir, command.Env = s.work, append(os.Environ(), "REQUESTS_CA_BUNDLE="+s.ca)
	output, err := command.CombinedOutput()
	if err != nil { // it is 1 where something failed: the report says what
		t.Logf("%s: %v", name, err)
	}
	return string(output)
}

func TestProtocolValidator(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s := serve(t)
	output := s.check(t, "rf_protocol_validator", "--ca-bundle", s.ca, "--avoid-http-redirect", "--report-type", "tsv", "--report-dir", "reports")
	reports, err := filepath.Glob(filepath.Join(s.work, "reports", "*.tsv"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(reports).To(HaveLen(1), output)
	file, err := os.Open(reports[0])
	g.Expect(err).NotTo(HaveOccurred())
	defer file.Close()
	findings, passed, err := validators.ReadProtocol(file)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(passed).To(BeNumerically(">", 300), output)
	found := map[string]bool{}
	for _, f := range findings {
		found[f.Assertion] = true
		if explained[f.Assertion] == "" {
			t.Errorf("%s %s of %s: %s", f.Result, f.Assertion, f.Request, f.Message)
		}
	}
	for assertion := range explained {
		g.Expect(found).To(HaveKey(assertion), "it is explained and no longer found")
	}
}

func TestUseCaseCheckers(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s := serve(t)
	output := s.check(t, "rf_use_case_checkers", "--report-dir", "reports")
	passed, warned, failed, err := validators.ReadCounts(output)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(passed).To(BeNumerically(">=", 40), output)
	g.Expect(warned).To(BeZero(), output)
	g.Expect(failed).To(BeZero(), output)
}

// TestInteropValidator: the simulator has what Ironic's profile asks for.
func TestInteropValidator(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s := serve(t)
	profile, err := filepath.Abs("testdata/OpenStackIronicProfile.v1_2_0.json")
	g.Expect(err).NotTo(HaveOccurred())
	output := s.check(t, "rf_interop_validator", "--logdir", "reports", profile)
	passed, warned, failed, err := validators.ReadCounts(output)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(passed).To(BeNumerically(">", 100), output)
	g.Expect(warned).To(BeZero(), output)
	g.Expect(failed).To(BeZero(), output)
}
