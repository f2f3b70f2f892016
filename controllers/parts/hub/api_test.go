package hub

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/hub/pki"
	"github.com/ironflow/ironflow/hub/protocol"
	"github.com/ironflow/ironflow/test/hub/contract"
)

// TestTheProgramServesEveryOperation: with the wiring that ships, not only in a test's hub.
func TestTheProgramServesEveryOperation(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	token, releases := filepath.Join(dir, "token"), filepath.Join(dir, "releases.yaml")
	g.Expect(os.WriteFile(token, []byte("a-token-of-a-user\n"), 0o600)).To(Succeed())
	g.Expect(os.WriteFile(releases, []byte(`[{openshift_version: "4.20", version: 4.20.1, cpu_architecture: x86_64, url: "registry.example/release:4.20.1"}]`), 0o600)).To(Succeed())
	s := defaults(dir)
	s.Hub = v1alpha1.Hub{Auth: "token", PublishURL: "https://hub.example:8090", UserTokenFile: token}
	s.HubReleases.File = releases
	h, err := New(t.Context(), Options{Settings: s, Cert: pki.Files{}, Log: slog.New(slog.DiscardHandler)})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _, _ = h.store.Close(), h.files.Close() })
	api := contract.Checked(t, h.api)
	operations, err := protocol.Operations()
	g.Expect(err).NotTo(HaveOccurred())
	ask := func(method, path string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, protocol.Base+path, strings.NewReader(`{}`))
		r.Header.Set("Authorization", "Bearer a-token-of-a-user")
		answer := httptest.NewRecorder()
		api.ServeHTTP(answer, r)
		return answer
	}
	for _, op := range operations {
		path := strings.NewReplacer("{cluster_id}", uuid.NewString(), "{infra_env_id}", uuid.NewString(), "{host_id}", uuid.NewString(),
			"{validation_id}", "connected", "{operator_name}", "odf", "{id}", "x").Replace(op.Path)
		code := ask(op.Method, path).Code
		if op.Accepts(protocol.UserAuth) {
			g.Expect(code).To(BeElementOf(200, 400, 404, 409), op.ID)
		} else {
			g.Expect(code).To(Equal(http.StatusUnauthorized), "%s is for agents", op.ID)
		}
	}
	g.Expect(ask("GET", "/v2/openshift-versions").Body.String()).To(ContainSubstring("4.20.1"))
}

func TestSettingsOfTheAPIThatCannotWork(t *testing.T) {
	dir := t.TempDir()
	short, broken := filepath.Join(dir, "short"), filepath.Join(dir, "broken")
	NewWithT(t).Expect(os.WriteFile(short, []byte("secret"), 0o600)).To(Succeed())
	NewWithT(t).Expect(os.WriteFile(broken, []byte("release_image: []"), 0o600)).To(Succeed())
	for name, tc := range map[string]struct {
		api  hubAPI
		want string
	}{
		"no token":        {hubAPI{Hub: v1alpha1.Hub{UserTokenFile: filepath.Join(dir, "none")}}, "--hub-user-token-file"},
		"a short token":   {hubAPI{Hub: v1alpha1.Hub{UserTokenFile: short}}, "less than 16 characters"},
		"no users":        {hubAPI{Hub: v1alpha1.Hub{UsersFile: filepath.Join(dir, "none")}}, "--hub-users-file"},
		"a broken user":   {hubAPI{Hub: v1alpha1.Hub{UsersFile: short}}, "line 1: want NAME,ROLE,TOKEN"},
		"no address":      {hubAPI{HubReleases: v1alpha1.HubReleases{UpdateService: "somewhere"}}, "--hub-update-service"},
		"broken releases": {hubAPI{HubReleases: v1alpha1.HubReleases{File: broken}}, "--hub-releases-file"},
	} {
		t.Run(name, func(t *testing.T) {
			s := defaults(t.TempDir())
			s.Hub, s.HubReleases = tc.api.Hub, tc.api.HubReleases
			_, err := New(t.Context(), Options{Settings: s, Cert: pki.Files{}, Log: slog.New(slog.DiscardHandler)})
			NewWithT(t).Expect(err).To(MatchError(And(ContainSubstring(tc.want), Not(ContainSubstring("secret")))))
		})
	}
}
