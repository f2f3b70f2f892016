package openshiftinstall_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/sources/openshiftinstall"
)

// TestCertificatesThatAreHandedIn lie where the program looks for its own when it makes the
// first files, and others make it run again. Nothing of them stays.
func TestCertificatesThatAreHandedIn(t *testing.T) {
	g := NewWithT(t)
	files := map[string][]byte{"root-ca.crt": []byte("certificate\n"), "root-ca.key": []byte("key\n")}
	s := newScene(t, func(o *openshiftinstall.Options) { o.Invoker, o.Certificates = "agent-installer", files })
	_, err := s.Make(t.Context(), three())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.program.HandedIn()).To(Equal([]string{"root-ca.crt certificate", "root-ca.key key"}))
	g.Expect(s.program.Environment()).To(ContainElement("OPENSHIFT_INSTALL_INVOKER=agent-installer"))
	s.nothingLeft(g)

	before := len(s.program.Runs())
	_, err = s.Make(t.Context(), three())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.program.Runs()).To(HaveLen(before), "nothing has changed")
	files["root-ca.key"] = []byte("another\n")
	_, err = s.Make(t.Context(), three())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(s.program.Runs())).To(BeNumerically(">", before), "the kubeconfig would not fit")
}

// TestAPasswordThatIsHandedIn as its hash: the program does not know it, so neither does the hub.
func TestAPasswordThatIsHandedIn(t *testing.T) {
	g := NewWithT(t)
	s := newScene(t, func(o *openshiftinstall.Options) {
		o.Certificates = map[string][]byte{"kubeadmin-password.hash": []byte("$2a$10$hash\n")}
	})
	made, err := s.Make(t.Context(), three())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.program.HandedIn()).To(Equal([]string{"kubeadmin-password.hash $2a$10$hash"}))
	g.Expect(made.Credentials).To(HaveKeyWithValue("kubeadmin-password", BeEmpty()))
}
