package program_test

import (
	"context"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/hub/program"
)

// TestWhatMayPassIsRepeated, and a refusal is not.
func TestWhatMayPassIsRepeated(t *testing.T) {
	g := NewWithT(t)
	asked := 0
	codes := []int{503, 500, 200}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		code := codes[min(asked, len(codes)-1)]
		asked++
		w.WriteHeader(code)
		_, _ = w.Write([]byte(`{"name":"` + r.Header.Get("Authorization") + `"}`))
	}))
	t.Cleanup(server.Close)
	ca := filepath.Join(t.TempDir(), "ca.crt")
	g.Expect(os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600)).To(Succeed())
	user, err := program.NewUser(server.URL, ca, "t")
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(user.Close)

	var out struct{ Name string }
	g.Expect(user.Do(t.Context(), http.MethodGet, "/clusters", nil, &out)).To(Succeed())
	g.Expect(out.Name).To(Equal("Bearer t"))
	g.Expect(asked).To(Equal(3))

	asked, codes = 0, []int{409}
	_, err = user.Until(t.Context(), http.MethodGet, "/clusters", nil)
	_, refused := errors.AsType[program.RefusedError](err)
	g.Expect(refused).To(BeTrue(), "%v", err)
	g.Expect(asked).To(Equal(1))

	codes = []int{503}
	ended, end := context.WithCancel(t.Context())
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		end()
	})
	g.Expect(user.Do(ended, http.MethodGet, "/clusters", nil, nil)).To(MatchError(context.Canceled))
}
