// Package contract is what hub/sources/kubernetes/admission relies on in the API of a
// cluster: the same cases run on the stand-in of test/cluster/tokens and on a real
// kube-apiserver.
package contract

import (
	"context"
	"crypto/tls"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/ironflow/ironflow/cluster/kube"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/admission"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/token"
)

const collection = "/api/v1/namespaces/kube-system/secrets"

// object is what a test creates itself.
type object = map[string]any

// stored is a Secret as the API shows it.
type stored struct {
	Type     string
	Metadata struct{ Name string }
	Data     map[string][]byte
}

// Run runs all cases on one API. The door's access is an administrator's.
func Run(t *testing.T, d admission.Door) {
	t.Run("a token is taken", func(t *testing.T) { taken(t, d) })
	t.Run("it is taken again, with another end", func(t *testing.T) { renewed(t, d) })
	t.Run("its bearer is known", func(t *testing.T) { bearer(t, d) })
	t.Run("those that have ended go", func(t *testing.T) { swept(t, d) })
}

// administrator looks into the cluster with the door's access.
func administrator(t *testing.T, d admission.Door) *kube.Client {
	t.Helper()
	g := gomega.NewWithT(t)
	pair, err := tls.X509KeyPair(d.Certificate, d.Key)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	client, err := kube.New(kube.Access{URL: "https://" + d.Endpoint, CA: d.CA, Certificate: &pair})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(client.Close)
	return client
}

func nameOf(one token.Token) string { return "bootstrap-token-" + one.Text[:6] }

func taken(t *testing.T, d admission.Door) {
	g := gomega.NewWithT(t)
	one := token.New(time.Now())
	g.Expect(d.Admit(t.Context(), one, time.Now())).To(gomega.Succeed())
	var s stored
	g.Expect(administrator(t, d).Get(t.Context(), collection+"/"+nameOf(one), &s)).To(gomega.Succeed())
	g.Expect(s.Type).To(gomega.Equal(token.Type))
	for name, want := range map[string]string{
		"token-id": one.Text[:6], "token-secret": one.Text[7:], "auth-extra-groups": token.Group, "expiration": one.Expires.Format(time.RFC3339),
		"usage-bootstrap-authentication": "true", "usage-bootstrap-signing": "true",
	} {
		g.Expect(string(s.Data[name])).To(gomega.Equal(want), name)
	}
}

func renewed(t *testing.T, d admission.Door) {
	g := gomega.NewWithT(t)
	one := token.New(time.Now())
	g.Expect(d.Admit(t.Context(), one, time.Now())).To(gomega.Succeed())
	one.Expires = one.Expires.Add(time.Hour)
	g.Expect(d.Admit(t.Context(), one, time.Now())).To(gomega.Succeed())
	var s stored
	g.Expect(administrator(t, d).Get(t.Context(), collection+"/"+nameOf(one), &s)).To(gomega.Succeed())
	g.Expect(string(s.Data["expiration"])).To(gomega.Equal(one.Expires.Format(time.RFC3339)))
}

func bearer(t *testing.T, d admission.Door) {
	g := gomega.NewWithT(t)
	one := token.New(time.Now())
	_, err := WhoIs(t.Context(), d, one.Text)
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("401")))
	g.Expect(d.Admit(t.Context(), one, time.Now())).To(gomega.Succeed())
	g.Eventually(func() (string, error) { return WhoIs(t.Context(), d, one.Text) }, time.Minute).Should(gomega.Equal("system:bootstrap:" + one.Text[:6]))
}

// swept: only those that the hub has made, and only those that open nothing any more.
func swept(t *testing.T, d admission.Door) {
	g := gomega.NewWithT(t)
	admin := administrator(t, d)
	old, good, foreign := token.New(time.Now()), token.New(time.Now().Add(time.Hour)), token.New(time.Now())
	for _, one := range []token.Token{old, good} {
		g.Expect(d.Admit(t.Context(), one, time.Now())).To(gomega.Succeed())
	}
	for _, o := range []object{
		{"metadata": object{"name": nameOf(foreign)}, "type": token.Type, "stringData": object{
			"token-id": foreign.Text[:6], "token-secret": foreign.Text[7:], "expiration": foreign.Expires.Format(time.RFC3339),
		}},
		{"metadata": object{"name": "no-token", "labels": object{token.Label: token.Maker}}, "stringData": object{"expiration": old.Expires.Format(time.RFC3339)}},
	} {
		g.Expect(admin.Post(t.Context(), collection, o)).To(gomega.Succeed())
	}
	later := time.Now().Add(token.Life + time.Minute)
	last := token.New(later)
	g.Expect(d.Admit(t.Context(), last, later)).To(gomega.Succeed())
	var left struct{ Items []stored }
	g.Expect(admin.Get(t.Context(), collection, &left)).To(gomega.Succeed())
	var names []string
	for _, s := range left.Items {
		names = append(names, s.Metadata.Name)
	}
	g.Expect(names).To(gomega.And(
		gomega.ContainElements(nameOf(good), nameOf(last), nameOf(foreign), "no-token"), gomega.Not(gomega.ContainElement(nameOf(old)))))
}

// WhoIs is whom the API takes the bearer of a token for.
func WhoIs(ctx context.Context, d admission.Door, bearerToken string) (string, error) {
	host, err := kube.New(kube.Access{URL: "https://" + d.Endpoint, CA: d.CA, Token: bearerToken})
	if err != nil {
		return "", err
	}
	defer host.Close()
	var review struct {
		Status struct{ UserInfo struct{ Username string } }
	}
	err = host.PostFor(ctx, "/apis/authentication.k8s.io/v1/selfsubjectreviews",
		map[string]string{"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}, &review)
	return review.Status.UserInfo.Username, err
}
