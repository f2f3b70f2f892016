package service_test

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/sources"
)

// renewing is a source whose credentials end.
type renewing struct {
	*played
	due   bool
	calls int
}

func (s *renewing) Renew(cluster string, made *sources.Made, _ time.Time) (map[string][]byte, error) {
	if !s.due || string(made.Credentials["kubeconfig-noingress"]) != kubeconfig {
		return nil, nil
	}
	s.calls++
	return map[string][]byte{"kubeconfig-noingress": fmt.Appendf(nil, "of %s, anew", cluster)}, nil
}

// TestCredentialsThatEndAreRenewed when somebody asks for them; all who ask get the same ones.
func TestCredentialsThatEndAreRenewed(t *testing.T) {
	source := &renewing{played: &played{ending: sources.EndsInside}}
	w := shared(t, from(source), service.ClusterSpec{})
	w.installing(hostA)
	ask := func(name, want string) {
		t.Helper()
		raw, err := w.CredentialsFile(w.ctx, sharedCluster, name)
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(string(raw)).To(Equal(want))
	}
	ask("kubeconfig-noingress", kubeconfig)
	source.due = true
	for range 3 {
		ask("kubeconfig-noingress", "of edge, anew")
	}
	w.Expect(source.calls).To(Equal(2), "looked at, and kept")
}
