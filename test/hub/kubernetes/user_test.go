//go:build e2e

package kubernetes

import (
	"encoding/json"
	"errors"
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

// call is a user's, and returns the answer's body.
func (w *world) call(method, path string, in any) ([]byte, error) {
	raw, err := w.user.Call(w.Context(), method, path, in)
	if refusal, refused := errors.AsType[program.RefusedError](err); refused {
		return nil, StopTrying(refusal.Error())
	}
	return raw, err
}

// do is a call that must succeed; what may pass is repeated, as clients do.
func (w *world) do(method, path string, in any) (body []byte) {
	w.Helper()
	w.Eventually(func() (err error) {
		body, err = w.call(method, path, in)
		return err
	}, patience, look).Should(Succeed())
	return body
}

// get reads a document.
func (w *world) get(path string, out any) {
	w.Helper()
	w.Expect(json.Unmarshal(w.do(http.MethodGet, path, nil), out)).To(Succeed())
}
