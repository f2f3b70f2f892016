//go:build e2e

package kubernetes

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/rest"
)

const userToken = "the-user-of-this-test"

// pullSecret is in the form that the hub asks for, and opens nothing.
const pullSecret = `{"auths":{"registry.example":{"auth":"dXNlcjpub3RoaW5n"}}}`

// connect makes the user's client.
func (w *world) connect() {
	w.Helper()
	raw, err := os.ReadFile(w.hub.CA)
	w.Expect(err).NotTo(HaveOccurred())
	pool := x509.NewCertPool()
	w.Expect(pool.AppendCertsFromPEM(raw)).To(BeTrue())
	w.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
	w.Cleanup(w.client.CloseIdleConnections)
}

// call is a user's, and returns the answer's body.
func (w *world) call(method, path string, in any) ([]byte, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(w.Context(), method, w.hub.URL+rest.Base+"/v2"+path, bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+userToken)
	r.Header.Set("Content-Type", "application/json")
	answer, err := w.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	switch {
	case err != nil:
		return nil, err
	case answer.StatusCode >= 500:
		return nil, fmt.Errorf("%s %s: %s: %s", method, path, answer.Status, text)
	case answer.StatusCode >= 300:
		return nil, StopTrying(fmt.Sprintf("%s %s: %s: %s", method, path, answer.Status, text))
	}
	return text, nil
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
