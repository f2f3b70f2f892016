//go:build e2e

package kubernetes

import (
	"context"
	"encoding/json"
	"net/http"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/hub/program"
)

const userToken = "the-user-of-this-test"

// pullSecret is in the form that the hub asks for, and opens nothing.
const pullSecret = `{"auths":{"registry.example":{"auth":"dXNlcjpub3RoaW5n"}}}`

// connect makes the user's client.
func (w *world) connect() {
	w.Helper()
	var err error
	w.user, err = program.NewUser(w.hub.URL, w.hub.CA, userToken)
	w.Expect(err).NotTo(HaveOccurred())
	w.Cleanup(w.user.Close)
}

// do is a user's call, which must succeed, and returns the answer's body; what may pass is
// repeated, as clients do.
func (w *world) do(method, path string, in any) []byte {
	w.Helper()
	ctx, end := context.WithTimeout(w.Context(), patience)
	defer end()
	body, err := w.user.Until(ctx, method, path, in)
	w.Expect(err).NotTo(HaveOccurred())
	return body
}

// get reads a document.
func (w *world) get(path string, out any) {
	w.Helper()
	w.Expect(json.Unmarshal(w.do(http.MethodGet, path, nil), out)).To(Succeed())
}
