//go:build e2e

package contract_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/ironic/contract"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
	"github.com/ironflow/ironflow/test/machine/ipa"
	"github.com/ironflow/ironflow/test/machine/ironictest"
)

// TestIronic runs the cases on a real Ironic, with emulated BMCs and agents of
// the real protocol behind them; what the emulator lacks, on BMCs of our own.
func TestIronic(t *testing.T) {
	hall := ironictest.Start(t, labtest.New(t), ironictest.HallOptions{Managers: []ipa.Manager{steps{}}, Redfish: &lab.RedfishOptions{}})
	images := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, contract.MissingImage) {
			http.NotFound(w, r)
			return
		}
		http.ServeContent(w, r, "data.iso", time.Time{}, bytes.NewReader(make([]byte, 4096)))
	}))
	t.Cleanup(images.Close)
	target := contract.Target{
		Connect: func(t testing.TB, wrap func(http.RoundTripper) http.RoundTripper) *ironic.Gateway {
			access := hall.Access()
			access.Wrap = wrap
			g, err := ironic.New(t.Context(), access)
			NewWithT(t).Expect(err).NotTo(HaveOccurred())
			return g
		},
		ImageURL: images.URL + "/data.iso", Patience: 2 * time.Minute, Look: 200 * time.Millisecond,
		Watch: ironic.WatchOptions{InFlight: 200 * time.Millisecond, Sweep: 5 * time.Second},
	}
	of := func(m *ironictest.Machine) contract.Machine {
		return contract.Machine{Driver: "redfish", MAC: m.MAC, DriverInfo: m.DriverInfo()}
	}
	t.Run("emulated BMCs", func(t *testing.T) {
		target.NewMachine = func(t testing.TB) contract.Machine { return of(hall.Add(t)) }
		contract.Run(t, target)
	})
	t.Run("simulated BMCs", func(t *testing.T) {
		target.NewMachine = func(t testing.TB) contract.Machine { return of(hall.AddSimulated(t, simulator.System{})) }
		target.Events = true
		contract.Run(t, target, "subscriptions", "media")
	})
}
