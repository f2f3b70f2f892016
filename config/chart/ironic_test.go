package chart_test

import (
	"crypto/x509"
	"encoding/pem"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/quickstart"
)

// TestTheIronicOfTheSamples is one that the chart, with the values of docs/install.md, finds: by the names of its Secrets, by its address, and by a
// certificate that holds for it.
func TestTheIronicOfTheSamples(t *testing.T) {
	g := NewWithT(t)
	page := text(t, "../../"+quickstart.Page)
	_, block, found := strings.Cut(page, "```yaml\nironic:\n")
	g.Expect(found).To(BeTrue())
	block, _, _ = strings.Cut(block, "```")
	site := filepath.Join(t.TempDir(), "site.yaml")
	g.Expect(os.WriteFile(site, []byte("ironic:\n"+block), 0o600)).To(Succeed())
	all := rendered(t, append(values("loadbalancer"), "--values", site)...)

	sample := decode(t, text(t, "../samples/ironic/ironic.yaml"))
	ironic := sample["Ironic ironic"]
	g.Expect(ironic).NotTo(BeNil())
	g.Expect(sample).To(HaveKey("Secret " + secretOf(podOf(t, all), "ironic-auth")))
	field := func(path ...string) string {
		value, _, err := unstructured.NestedString(ironic.Object, path...)
		g.Expect(err).NotTo(HaveOccurred())
		return value
	}
	certified := certificateOf(t, page, map[string]string{"secret generic ": secretOf(podOf(t, all), "ironic-ca"), "secret tls ": field("spec", "tls", "certificateName")})
	env := environment(t, all)
	for setting, host := range map[string]string{
		"IRONIC_ENDPOINT": ironic.GetName() + "." + ironic.GetNamespace() + ".svc", // the operator's Service is named after the resource
		"IRONIC_BASE_URL": field("spec", "networking", "ipAddress"),
	} {
		address, err := url.Parse(env[setting])
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(address.Hostname()).To(Equal(host), setting)
		g.Expect(certified.VerifyHostname(host)).To(Succeed(), setting)
	}
	g.Expect(ironic.GetNamespace()).To(Equal(namespace), "or its Secrets had to be copied")
}

// secretOf is the Secret of a volume.
func secretOf(pod corev1.PodSpec, volume string) string {
	for _, v := range pod.Volumes {
		if v.Name == volume && v.Secret != nil {
			return v.Secret.SecretName
		}
	}
	return ""
}

// certificateOf has openssl make the certificate as the page says, and looks that the page makes Secrets of these names with it.
func certificateOf(t *testing.T, page string, secrets map[string]string) *x509.Certificate {
	t.Helper()
	g := NewWithT(t)
	commands, err := quickstart.Commands(page, "Ironic")
	g.Expect(err).NotTo(HaveOccurred())
	var lines, openssl []string
	for _, c := range commands {
		lines = append(lines, c.String())
		if c.Words[0] == "openssl" {
			openssl = c.Words
		}
	}
	for kind, name := range secrets {
		g.Expect(lines).To(ContainElement(And(HavePrefix("kubectl -n "+namespace+" create "+kind+name+" "), ContainSubstring("=ironic.crt"))))
	}
	g.Expect(openssl).NotTo(BeEmpty())
	dir := t.TempDir()
	made := exec.CommandContext(t.Context(), needs.Program(t, "openssl", "openssl"), openssl[1:]...)
	made.Dir = dir
	out, err := made.CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(out))
	raw, _ := pem.Decode([]byte(text(t, filepath.Join(dir, "ironic.crt"))))
	g.Expect(raw).NotTo(BeNil())
	certificate, err := x509.ParseCertificate(raw.Bytes)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(certificate.IsCA).To(BeTrue(), "it is what Ironflow trusts, too")
	return certificate
}
