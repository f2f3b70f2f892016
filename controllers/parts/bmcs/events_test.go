package bmcs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/hub/pki"
)

// TestKeysOfEvents: addresses stay the same over restarts, and are those of the file
// that replicas share.
func TestKeysOfEvents(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	made, err := new(eventSettings).keys(dir)
	g.Expect(err).NotTo(HaveOccurred())
	again, err := new(eventSettings).keys(dir)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again.Of("uid", 0).Part).To(Equal(made.Of("uid", 0).Part))
	info, err := os.Stat(filepath.Join(dir, "events.key"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)))

	file := filepath.Join(dir, "shared")
	g.Expect(os.WriteFile(file, []byte(strings.Repeat("x", 32)), 0o600)).To(Succeed())
	shared, err := (&eventSettings{KeyFile: file}).keys("")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(shared.Of("uid", 0).Part).NotTo(Equal(made.Of("uid", 0).Part))

	g.Expect(os.WriteFile(file, []byte("hunter2"), 0o600)).To(Succeed())
	_, err = (&eventSettings{KeyFile: file}).keys("")
	g.Expect(err).To(MatchError(And(ContainSubstring("--bmc-events-key-file "+file), ContainSubstring("at least 32 random ones"), Not(ContainSubstring("hunter2")))))
	_, err = (&eventSettings{KeyFile: filepath.Join(dir, "none")}).keys(dir)
	g.Expect(err).To(MatchError(ContainSubstring("--bmc-events-key-file")), "a file that was named is not made")
}

// TestCertificateOfEvents: that of the folder, else our own.
func TestCertificateOfEvents(t *testing.T) {
	g := NewWithT(t)
	own, err := pki.Ensure(filepath.Join(t.TempDir(), "own"), []string{"ironflow.example"}, time.Now())
	g.Expect(err).NotTo(HaveOccurred())
	config, err := new(eventSettings).tls(own, v1alpha1.TLS{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(config.GetCertificate(nil)).NotTo(BeNil())
	_, err = (&eventSettings{CertDir: t.TempDir()}).tls(own, v1alpha1.TLS{})
	g.Expect(err).To(MatchError(And(ContainSubstring("receiver of BMC events"), ContainSubstring("tls.crt"))))
}
