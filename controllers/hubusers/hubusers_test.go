package hubusers_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/ironflow/ironflow/controllers/hubusers"
	"github.com/ironflow/ironflow/hub/users"
)

// api stands for the API server's two reviews: the token is the user's name, and a user has
// the roles that are listed.
type api struct {
	roles map[string][]users.Role
	asked int
	away  bool
}

// RoundTrip implements http.RoundTripper.
func (a *api) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	answer.Header().Set("Content-Type", "application/json")
	var review any
	switch {
	case a.away:
		answer.WriteHeader(http.StatusInternalServerError)
	case strings.HasSuffix(r.URL.Path, "/tokenreviews"):
		a.asked++
		var t authenticationv1.TokenReview
		if err := json.NewDecoder(r.Body).Decode(&t); err != nil {
			return nil, err
		}
		_, known := a.roles[t.Spec.Token]
		t.Status.Authenticated, t.Status.User.Username = known, t.Spec.Token
		review = t
	default:
		var s authorizationv1.SubjectAccessReview
		if err := json.NewDecoder(r.Body).Decode(&s); err != nil {
			return nil, err
		}
		for _, role := range a.roles[s.Spec.User] {
			what := s.Spec.NonResourceAttributes
			s.Status.Allowed = s.Status.Allowed || what.Verb == "get" && what.Path == "/ironflow/hub/roles/"+string(role)
		}
		review = s
	}
	if err := json.NewEncoder(answer).Encode(review); err != nil {
		return nil, err
	}
	return answer.Result(), nil
}

// at are the reviews of an API server, at a time that the test moves.
func at(t *testing.T, a *api, now *time.Time) *hubusers.Reviews {
	t.Helper()
	r, err := hubusers.New(&rest.Config{Host: "http://api.test", QPS: -1, ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON}},
		&http.Client{Transport: a}, func() time.Time { return *now })
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return r
}

func TestRolesComeFromKubernetes(t *testing.T) {
	now := time.Unix(1_790_000_000, 0)
	r := at(t, &api{roles: map[string][]users.Role{
		"anna": {users.Admin}, "bert": {users.ReadOnly}, "cleo": {users.Owner}, "both": {users.Owner, users.Admin}, "none": {},
	}}, &now)
	for name, want := range map[string]users.Role{"anna": users.Admin, "bert": users.ReadOnly, "cleo": users.Owner, "both": users.Admin} {
		NewWithT(t).Expect(r.User(t.Context(), name)).To(Equal(users.User{Name: name, Role: want}))
	}
	for _, name := range []string{"none", "made-up"} {
		_, err := r.User(t.Context(), name)
		NewWithT(t).Expect(err).To(MatchError(users.ErrUnknown), name)
	}
}

func TestUsersAreRememberedForAMinute(t *testing.T) {
	g := NewWithT(t)
	now := time.Unix(1_790_000_000, 0)
	a := &api{roles: map[string][]users.Role{"anna": {users.Admin}}}
	r := at(t, a, &now)
	for range 3 {
		_, err := r.User(t.Context(), "anna")
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(a.asked).To(Equal(1))
	a.away = true
	_, err := r.User(t.Context(), "anna")
	g.Expect(err).NotTo(HaveOccurred())
	now = now.Add(61 * time.Second)
	_, err = r.User(t.Context(), "anna")
	g.Expect(err).To(MatchError(ContainSubstring("token review")), "nobody can tell")
	g.Expect(err).NotTo(MatchError(users.ErrUnknown))
	a.away = false
	delete(a.roles, "anna")
	_, err = r.User(t.Context(), "anna")
	g.Expect(err).To(MatchError(users.ErrUnknown), "the right was taken back")
	for n := range 3000 { // made-up tokens take no memory without end, and keep nobody out
		_, _ = r.User(t.Context(), fmt.Sprint("made-up-", n))
	}
	a.roles["bert"] = []users.Role{users.ReadOnly}
	g.Expect(r.User(t.Context(), "bert")).To(Equal(users.User{Name: "bert", Role: users.ReadOnly}))
}
