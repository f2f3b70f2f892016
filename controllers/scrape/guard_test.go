package scrape_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/ironflow/ironflow/controllers/scrape"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
)

// api stands for the API server's two reviews: the token is the user's name, and
// prometheus may read /metrics.
type api struct {
	asked atomic.Int32
	away  atomic.Bool
}

// RoundTrip implements http.RoundTripper.
func (a *api) RoundTrip(r *http.Request) (*http.Response, error) {
	a.asked.Add(1)
	answer := httptest.NewRecorder()
	answer.Header().Set("Content-Type", "application/json")
	var review any
	switch {
	case a.away.Load():
		answer.WriteHeader(http.StatusInternalServerError)
	case strings.HasSuffix(r.URL.Path, "/tokenreviews"):
		var t authenticationv1.TokenReview
		if err := json.NewDecoder(r.Body).Decode(&t); err != nil {
			return nil, err
		}
		t.Status.Authenticated, t.Status.User.Username = t.Spec.Token != "made-up", t.Spec.Token
		review = t
	default:
		var s authorizationv1.SubjectAccessReview
		if err := json.NewDecoder(r.Body).Decode(&s); err != nil {
			return nil, err
		}
		what := s.Spec.NonResourceAttributes
		s.Status.Allowed = s.Spec.User == "prometheus" && what.Path == "/metrics" && what.Verb == "get"
		review = s
	}
	if err := json.NewEncoder(answer).Encode(review); err != nil {
		return nil, err
	}
	return answer.Result(), nil
}

// speaksJSON is the access to an API of this test.
func speaksJSON() *rest.Config {
	return &rest.Config{Host: "http://api.test", QPS: -1, ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON}}
}

// guarded is a listener with something to read behind the guard.
func guarded(g *WithT, config *rest.Config, client *http.Client) http.Handler {
	filter, err := scrape.Filter(config, client)
	g.Expect(err).NotTo(HaveOccurred())
	h, err := filter(logr.Discard(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ironflow_hosts 3") }))
	g.Expect(err).NotTo(HaveOccurred())
	return h
}

// read asks with a token, or without for the empty one.
func read(h http.Handler, method, path, authorization string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestGuard(t *testing.T) {
	for name, c := range map[string]struct {
		method, path, authorization string
		away                        bool
		want                        int
	}{
		"no token":                      {want: http.StatusUnauthorized},
		"another kind of authorization": {authorization: "Basic cHJvbWV0aGV1cw==", want: http.StatusUnauthorized},
		"a token that nobody gave":      {authorization: "Bearer made-up", want: http.StatusUnauthorized},
		"somebody without the right":    {authorization: "Bearer visitor", want: http.StatusForbidden},
		"somebody with the right":       {authorization: "Bearer prometheus", want: http.StatusOK},
		"another path":                  {path: "/debug", authorization: "Bearer prometheus", want: http.StatusForbidden},
		"another verb":                  {method: http.MethodPost, authorization: "Bearer prometheus", want: http.StatusForbidden},
		"the API server is away":        {authorization: "Bearer prometheus", away: true, want: http.StatusServiceUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			a := &api{}
			a.away.Store(c.away)
			h := guarded(g, speaksJSON(), &http.Client{Transport: a})
			if c.method == "" {
				c.method = http.MethodGet
			}
			if c.path == "" {
				c.path = "/metrics"
			}
			w := read(h, c.method, c.path, c.authorization)
			g.Expect(w.Code).To(Equal(c.want))
			g.Expect(strings.Contains(w.Body.String(), "ironflow_hosts")).To(Equal(c.want == http.StatusOK))
		})
	}
}

// A scraper comes every few seconds; the API server is not asked each time, and a
// right that was taken away ends.
func TestVerdictsAreRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		a := &api{}
		h := guarded(g, speaksJSON(), &http.Client{Transport: a})
		for range 5 {
			g.Expect(read(h, http.MethodGet, "/metrics", "Bearer prometheus").Code).To(Equal(http.StatusOK))
			<-time.After(10 * time.Second) // of the bubble's clock
		}
		g.Expect(a.asked.Load()).To(BeEquivalentTo(2), "one token review, one access review")
		a.away.Store(true)
		<-time.After(11 * time.Second)
		g.Expect(read(h, http.MethodGet, "/metrics", "Bearer prometheus").Code).To(Equal(http.StatusServiceUnavailable))
	})
}

// TestGuardOnARealAPIServer gives the rights as docs/metrics.md says.
func TestGuardOnARealAPIServer(t *testing.T) {
	g := NewWithT(t)
	plane := labtest.ControlPlane(t, lab.ControlPlaneOptions{})
	kube, err := kubernetes.NewForConfig(plane.Config())
	g.Expect(err).NotTo(HaveOccurred())
	client, err := rest.HTTPClientFor(plane.Config())
	g.Expect(err).NotTo(HaveOccurred())
	h := guarded(g, plane.Config(), client)
	token := func(name string) string {
		_, err := kube.CoreV1().ServiceAccounts("default").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		request, err := kube.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		return "Bearer " + request.Status.Token
	}
	visitor, prometheus := token("visitor"), token("prometheus")
	_, err = kube.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"}, Rules: []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}},
	}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = kube.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: "prometheus"}},
	}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(read(h, http.MethodGet, "/metrics", "Bearer made-up").Code).To(Equal(http.StatusUnauthorized))
	g.Expect(read(h, http.MethodGet, "/metrics", visitor).Code).To(Equal(http.StatusForbidden))
	g.Eventually(func() int { return read(h, http.MethodGet, "/metrics", prometheus).Code }, 30*time.Second, time.Second).Should(Equal(http.StatusOK))
}
