package kubernetes_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/sources/kubernetes"
)

// TestTheAdministratorsAccessIsRenewed: what a hub hands out in the second year opens the
// cluster, too. Before its last months it stays the same.
func TestTheAdministratorsAccessIsRenewed(t *testing.T) {
	o := order(3, 0)
	made := mustMake(t, o)
	day := 24 * time.Hour
	for name, tc := range map[string]struct {
		after time.Duration
		anew  bool
	}{
		"at once":            {0, false},
		"half a year later":  {182 * day, false},
		"in its last months": {300 * day, true},
		"after its end":      {2 * 365 * day, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			now := o.Now.Add(tc.after)
			fresh, err := kubernetes.Source{}.Renew(o.Cluster.Name, made, now)
			g.Expect(err).NotTo(HaveOccurred())
			if !tc.anew {
				g.Expect(fresh).To(BeEmpty())
				return
			}
			had, err := clientcmd.RESTConfigFromKubeConfig(made.Credentials[kubernetes.Kubeconfig])
			g.Expect(err).NotTo(HaveOccurred())
			has, err := clientcmd.RESTConfigFromKubeConfig(fresh[kubernetes.Kubeconfig])
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(has.Host).To(Equal(had.Host))
			g.Expect(has.CAData).To(Equal(had.CAData), "the cluster's authority stays")
			g.Expect(has.CertData).NotTo(Equal(had.CertData))
			again, err := kubernetes.Source{}.Renew(o.Cluster.Name, &sources.Made{Secrets: made.Secrets, Credentials: fresh}, now)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(again).To(BeEmpty(), "the new one is good for a year")
		})
	}
	t.Run("what another source made", func(t *testing.T) {
		NewWithT(t).Expect(kubernetes.Source{}.Renew("c", &sources.Made{Credentials: map[string][]byte{kubernetes.Kubeconfig: []byte("kind: Config")}}, o.Now)).To(BeEmpty())
	})
}
