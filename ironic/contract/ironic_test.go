//go:build e2e

package contract_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/ironic/contract"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
	"github.com/ironflow/ironflow/test/machine/bmc"
)

// TestIronic runs the cases on a real Ironic, with emulated BMCs and agents of
// the real protocol behind them.
func TestIronic(t *testing.T) {
	e := NewWithT(t)
	l := labtest.New(t)
	h := &hall{lab: l, machines: map[string]*machine{}}
	receiver, err := bmc.Listen(nil, h.find, slog.New(slog.DiscardHandler))
	e.Expect(err).NotTo(HaveOccurred())
	user, password := receiver.Credentials()
	_, err = l.StartEmulator(t.Context(), lab.EmulatorOptions{NotifierURL: receiver.URL(), NotifierUser: user, NotifierPassword: password})
	e.Expect(err).NotTo(HaveOccurred())
	running, err := l.StartIronic(t.Context(), lab.IronicOptions{})
	e.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() {
		h.stop()
		e.Expect(receiver.Close()).To(Succeed())
	})
	images := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "data.iso", time.Time{}, bytes.NewReader(make([]byte, 4096)))
	}))
	t.Cleanup(images.Close)
	contract.Run(t, contract.Target{
		Connect: func(t testing.TB, wrap func(http.RoundTripper) http.RoundTripper) *ironic.Gateway {
			g, err := ironic.New(t.Context(), ironic.Config{
				URL: running.URL, CAFile: l.CAFile, Wrap: wrap,
				Auth: ironic.Auth{Basic: &ironic.Basic{Username: running.User, Password: ironic.Secret(running.Password)}},
			})
			NewWithT(t).Expect(err).NotTo(HaveOccurred())
			return g
		},
		NewMachine: h.add, ImageURL: images.URL + "/data.iso", Patience: 2 * time.Minute, Look: 200 * time.Millisecond,
		Watch: ironic.WatchOptions{InFlight: 200 * time.Millisecond, Sweep: 5 * time.Second},
	})
}
