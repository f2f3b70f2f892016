package admission_test

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/pki"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/admission"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/authorities"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/token"
	"github.com/ironflow/ironflow/test/cluster/tokens"
	"github.com/ironflow/ironflow/test/cluster/tokens/contract"
)

// open is a cluster that runs, with somebody of the groups before its door.
func open(t *testing.T, around func(http.Handler) http.Handler, groups ...string) admission.Door {
	t.Helper()
	g := NewWithT(t)
	signer, authority, err := pki.NewAuthority("kubernetes", time.Now(), time.Hour)
	g.Expect(err).NotTo(HaveOccurred())
	own, err := signer.Issue(pki.Request{Subject: pkix.Name{CommonName: "ironflow-hub", Organization: groups}, Usage: x509.ExtKeyUsageClientAuth, Now: time.Now(), Life: time.Hour})
	g.Expect(err).NotTo(HaveOccurred())
	api := tokens.Start(t, authority, "127.0.0.1:0", around)
	return admission.Door{Endpoint: api.Endpoint, CA: authority.Cert, Certificate: own.Cert, Key: own.Key}
}

func TestOnTheStandIn(t *testing.T) { contract.Run(t, open(t, nil, authorities.Administrators)) }

// TestWhatKeepsAHostOut says which address it is about, what happened, and what to do.
func TestWhatKeepsAHostOut(t *testing.T) {
	refuses := func(code int, why string) func(http.Handler) http.Handler {
		return func(http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, `{"message":"`+why+`"}`, code) })
		}
	}
	silent := func(http.Handler) http.Handler {
		return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // who hangs up is noticed behind the body only
			<-r.Context().Done()
		})
	}
	for name, tc := range map[string]struct {
		around func(http.Handler) http.Handler
		change func(*WithT, *admission.Door)
		want   []string
	}{
		"not its own":  {refuses(401, "Unauthorized"), nil, []string{"401", "kubeadm:cluster-admins", "kubeadm token create"}},
		"no rights":    {refuses(403, "no rights"), nil, []string{"403", "no rights", "kubeadm:cluster-admins", "kubeadm token create"}},
		"etcd is gone": {refuses(500, "etcdserver: no leader"), nil, []string{"500", "no leader", "kube-apiserver"}},
		"silence":      {silent, func(_ *WithT, d *admission.Door) { d.Limit = 50 * time.Millisecond }, []string{"does not answer", "it was silent for 50ms", "its control plane runs"}},
		"nobody there": {nil, func(g *WithT, d *admission.Door) {
			free, err := net.Listen("tcp", "127.0.0.1:0")
			g.Expect(err).NotTo(HaveOccurred())
			d.Endpoint = free.Addr().String()
			g.Expect(free.Close()).To(Succeed())
		}, []string{"does not answer", "connection refused", "the hub reaches that address"}},
		"somebody else": {nil, func(g *WithT, d *admission.Door) {
			_, other, err := pki.NewAuthority("kubernetes", time.Now(), time.Hour)
			g.Expect(err).NotTo(HaveOccurred())
			d.CA = other.Cert
		}, []string{"is not the API of this cluster", "certificate"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			d := open(t, tc.around, authorities.Administrators)
			if tc.change != nil {
				tc.change(g, &d)
			}
			one := token.New(time.Now())
			err := d.Admit(t.Context(), one, time.Now())
			g.Expect(err).To(MatchError(ContainSubstring(d.Endpoint)))
			for _, want := range tc.want {
				g.Expect(err).To(MatchError(ContainSubstring(want)))
			}
			g.Expect(err).NotTo(MatchError(ContainSubstring(one.Text[7:])))
		})
	}
	t.Run("a group without rights", func(t *testing.T) {
		err := open(t, nil, "system:nodes").Admit(t.Context(), token.New(time.Now()), time.Now())
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring("403")))
	})
}
