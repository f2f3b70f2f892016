package bios_test

import (
	"encoding/json"
	"net/http/httptest"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/bios"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/test/bmc/simulator"
)

// TestReadSimulator reads a simulated BMC with the real client, in the shapes that
// vendors give their settings.
func TestReadSimulator(t *testing.T) {
	const system = "/redfish/v1/Systems/1"
	cases := map[simulator.Quirk]struct {
		err         string
		none        bool // there are no settings to be had
		unregistred bool // the settings are there, and no registry
		unknown     bool // what is pending is not known
	}{
		"":                             {},
		simulator.BIOSPendingCopy:      {},
		simulator.BIOSPendingElsewhere: {},
		simulator.BIOSPendingBare:      {},
		simulator.BIOSSettingsNull:     {unknown: true},
		simulator.RegistryOther:        {},
		simulator.RegistryNull:         {},
		simulator.RegistryNegative:     {},
		simulator.NoBIOSRegistry:       {unregistred: true, err: "read the registry of the BIOS settings"},
		simulator.NoBIOS:               {none: true, err: bios.ErrNoSettings.Error()},
		simulator.BIOSFails:            {none: true, err: "500"},
	}
	for quirk, c := range cases {
		t.Run(string(quirk), func(t *testing.T) {
			g := NewWithT(t)
			s := simulator.New(simulator.Options{Username: "admin", Password: "simulated"})
			t.Cleanup(s.Close)
			machine := simulator.System{ID: "1"}
			if quirk != "" {
				machine.Quirks = map[simulator.Quirk]int{quirk: simulator.Always}
			}
			g.Expect(s.AddSystem(machine)).To(Succeed())
			server := httptest.NewTLSServer(s)
			t.Cleanup(server.Close)
			bmc, err := client.New(client.Target{URL: server.URL, Username: "admin", Password: "simulated", TLS: client.Trust{Insecure: true}}, client.Options{Rate: 1e6, Burst: 1e6})
			g.Expect(err).NotTo(HaveOccurred())
			t.Cleanup(func() { _ = bmc.Close(t.Context()) })

			settings, registry, err := bios.Read(t.Context(), bmc, bios.Where{System: system})
			if c.err != "" {
				g.Expect(err).To(MatchError(ContainSubstring(c.err)))
			} else {
				g.Expect(err).NotTo(HaveOccurred())
			}
			g.Expect(settings == nil).To(Equal(c.none))
			g.Expect(registry == nil).To(Equal(c.none || c.unregistred))
			if c.none {
				return
			}
			g.Expect(settings.Current).NotTo(BeEmpty())
			g.Expect(settings.Pending).To(BeEmpty(), "nothing waits")
			g.Expect(settings.Pending == nil).To(Equal(c.unknown))
			if registry == nil {
				return
			}
			for name, v := range settings.Current {
				a := registry.Attribute(name)
				g.Expect(a).NotTo(BeNil(), name)
				_, number := v.(json.Number)
				_, boolean := v.(bool)
				g.Expect(number).To(Equal(a.Type == bios.Integer), name)
				g.Expect(boolean).To(Equal(a.Type == bios.Boolean), name)
				if quirk == simulator.RegistryNegative {
					g.Expect(a.Lower).To(BeNil())
					g.Expect(a.Upper).To(BeNil())
				}
			}
		})
	}
}
