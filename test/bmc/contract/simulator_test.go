package contract_test

import (
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/bmc/contract"
	"github.com/ironflow/ironflow/test/bmc/simulator"
)

const (
	user     = "admin"
	password = "simulated"
)

// serve starts a simulator over TLS, with what the cases need.
func serve(t *testing.T, delays simulator.Delays) contract.Target {
	t.Helper()
	s := simulator.New(simulator.Options{Username: user, Password: password, Delays: delays, EventRetryInterval: 10 * time.Millisecond})
	server := httptest.NewUnstartedServer(s)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // clients go away in mid handshake when their case ends
	server.StartTLS()
	t.Cleanup(func() {
		server.Close()
		s.Close()
	})
	var systems atomic.Int64
	return contract.Target{
		URL: server.URL, User: user, Password: password, HTTP: server.Client(), Simulator: s, Patience: time.Minute, Look: 5 * time.Millisecond,
		NewSystem: func(t testing.TB) string {
			n := systems.Add(1)
			id := fmt.Sprintf("00000000-0000-4000-8000-%012x", n)
			NewWithT(t).Expect(s.AddSystem(simulator.System{
				ID: id, NICs: []simulator.NIC{{MAC: fmt.Sprintf("52:54:00:00:%02x:%02x", n>>8, n&0xff)}},
				Firmware: simulator.Firmware{NICs: map[string]string{"NIC1": "20.0.0"}},
			})).To(Succeed())
			return id
		},
	}
}

// TestSimulator runs all cases, and fails when an address of the simulator was
// not asked for by any.
func TestSimulator(t *testing.T) {
	target := serve(t, simulator.Delays{Restart: 50 * time.Millisecond})
	target.NewSystem(t) // a bystander: the quirks of an only system are those of its BMC
	t.Run("cases", func(t *testing.T) { contract.Run(t, target, contract.Cases) })
	counts := target.Simulator.Counts()
	for _, pattern := range simulator.Patterns() {
		if counts[pattern] == 0 {
			t.Errorf("no case makes the request %q", pattern)
		}
	}
}

func TestEveryFeatureHasACase(t *testing.T) {
	g := NewWithT(t)
	names := map[string]bool{}
	for _, c := range contract.Cases {
		g.Expect(names).NotTo(HaveKey(c.Name), "two cases with one name")
		g.Expect(contract.Features).To(ContainElement(c.Feature), c.Name)
		names[c.Name] = true
	}
	for _, feature := range contract.Features {
		g.Expect(contract.Cases).To(ContainElement(HaveField("Feature", feature)), "a feature without a case: %s", feature)
	}
}

// TestQuirks shows each quirk; one without a case fails.
func TestQuirks(t *testing.T) {
	shared := serve(t, simulator.Delays{})
	shared.NewSystem(t) // a bystander, as above
	var cases, own []contract.Case
	for _, info := range simulator.Quirks {
		run := contract.QuirkCases[info.Quirk]
		if run == nil {
			t.Errorf("the quirk %q has no case", info.Quirk)
			continue
		}
		c := contract.Case{Name: string(info.Quirk), Run: run}
		if contract.OwnBMC[info.Quirk] {
			own = append(own, c)
		} else {
			cases = append(cases, c)
		}
	}
	t.Run("shared", func(t *testing.T) { contract.Run(t, shared, cases) })
	for _, c := range own {
		t.Run("own", func(t *testing.T) { contract.Run(t, serve(t, simulator.Delays{}), []contract.Case{c}) })
	}
}

func TestEveryActionOfIronicHasACase(t *testing.T) {
	g := NewWithT(t)
	for _, action := range contract.Actions {
		g.Expect(contract.IronicCases).To(ContainElement(HaveField("Action", action)), "an action without a case: %s", action)
	}
	for _, c := range contract.IronicCases {
		g.Expect(contract.Actions).To(ContainElement(c.Action), c.Name)
	}
}
