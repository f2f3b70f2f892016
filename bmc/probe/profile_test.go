package probe_test

import (
	"errors"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/probe"
	"github.com/ironflow/ironflow/bmc/quirks"
	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/bmc/simulator/profile"
)

const longPassword = "a simulated secret"

// TestProfiles probes the makers' shapes of the simulator: who it is, what tells the
// makers apart, and the quirks that apply, with at most 30 requests.
func TestProfiles(t *testing.T) {
	type want struct {
		profile                        profile.Profile
		vendor, manager, version, path string
		states                         map[string]v1alpha1.CapabilityState
		quirk                          string
	}
	const y, n, u = v1alpha1.Yes, v1alpha1.No, v1alpha1.Unknown
	for name, c := range map[string]want{
		"Dell": {
			profile.Dell(), "Dell", "iDRAC9", "6.00.30.00", "System.Embedded.1",
			map[string]v1alpha1.CapabilityState{
				probe.VirtualMediaCD: y, probe.BootOnce: y, probe.HTTPBoot: u, probe.Events: n, probe.EventStream: y,
				probe.RAID: y, probe.BIOSRegistry: y, probe.Licences: y, probe.BootProgress: n,
			},
			"dell-idrac9-media-boot",
		},
		"HPE": {
			profile.HPE(), "HPE", "iLO 5", "2.72", "1",
			map[string]v1alpha1.CapabilityState{probe.VirtualMediaCD: y, probe.HTTPBoot: u, probe.Events: y, probe.EventStream: n, probe.Jobs: n, probe.VolumeCreation: n},
			"hpe-ilo5-no-raid",
		},
		"Lenovo": {
			profile.Lenovo(), "Lenovo", "XCC", "2.83", "1",
			map[string]v1alpha1.CapabilityState{probe.VirtualMediaCD: y, probe.BootOnce: y, probe.HTTPBoot: y, probe.Events: y, probe.PushUpdate: y, probe.Licences: y, probe.BootProgress: n},
			"lenovo-media-by-patch",
		},
		"Supermicro": {
			profile.Supermicro(), "Supermicro", "ASPEED", "01.01.01", "1",
			map[string]v1alpha1.CapabilityState{probe.VirtualMediaCD: y, probe.HTTPBoot: u, probe.EventStream: n, probe.UpdateLicence: y, probe.Jobs: n},
			"supermicro-usbcd",
		},
		"DGX": {
			profile.DGX(), "AMI", "410810600", "23.11.20", "DGX",
			map[string]v1alpha1.CapabilityState{probe.VirtualMediaCD: n, probe.BootOnce: u, probe.HTTPBoot: u, probe.Events: y},
			"ami-no-expand",
		},
		"OpenBMC": {
			profile.OpenBMC(), "NVIDIA", "OpenBMC", "24.12-8", "System_0",
			map[string]v1alpha1.CapabilityState{probe.VirtualMediaCD: y, probe.HTTPBoot: y, probe.SimpleUpdate: n, probe.PushUpdate: y, probe.BIOSRegistry: y, probe.Events: y},
			"openbmc-media-schemes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c.profile.System.Power = simulator.On
			s, err := c.profile.New(simulator.Options{Username: user, Password: longPassword})
			g.Expect(err).NotTo(HaveOccurred())
			t.Cleanup(s.Close)
			bmc := connect(t, s, user, longPassword)
			report, err := probe.Probe(t.Context(), bmc, probe.Options{Username: user, Quirks: matching})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(bmc.Close(t.Context())).To(Succeed())
			g.Expect(s.Total("")).To(BeNumerically("<=", 30))
			g.Expect(s.Total("PATCH ") + s.Total("PUT ")).To(BeZero())
			g.Expect([]string{report.Vendor, report.ManagerModel, report.BMCVersion}).To(Equal([]string{c.vendor, c.manager, c.version}))
			g.Expect(report.System).To(HaveSuffix("/Systems/" + c.path))
			g.Expect(report.Quirks).To(ContainElement(HaveField("ID", c.quirk)))
			for _, got := range report.Capabilities {
				if state, there := c.states[got.Name]; there {
					g.Expect(got.State).To(Equal(state), "%s: %s", got.Name, got.Proof)
				}
			}
		})
	}
}

func matching(id probe.Identity) []v1alpha1.AppliedQuirk {
	return quirks.New().Match(quirks.Identity{Vendor: id.Vendor, Model: id.Model, Manager: id.ManagerModel, Version: id.BMCVersion})
}

// TestCapabilitiesOfQuirks: what a quirk can be about is a row of ours.
func TestCapabilitiesOfQuirks(t *testing.T) {
	for _, name := range quirks.Capabilities {
		NewWithT(t).Expect(probe.Capabilities).To(ContainElement(HaveField("Name", name)))
	}
}

// waitedFor are quirks that the client waits for on purpose; its own tests show that.
var waitedFor = []simulator.Quirk{simulator.Slow, simulator.SourcesUnavailable}

// TestEveryQuirk: whatever a BMC of the simulator does always, there is a report that
// is sane or an error of a known kind, with a bounded number of requests.
func TestEveryQuirk(t *testing.T) {
	for _, info := range simulator.Quirks {
		if slices.Contains(waitedFor, info.Quirk) {
			continue
		}
		t.Run(string(info.Quirk), func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			s := simulated(t, map[simulator.Quirk]int{info.Quirk: simulator.Always})
			report, err := probe.Probe(t.Context(), connect(t, s, user, password), probe.Options{Username: user, Quirks: matching})
			most := 33 // the last one may be repeated
			if info.Quirk == simulator.ReusedCut {
				most *= 2 // each is made anew by net/http
			}
			g.Expect(s.Total("")).To(BeNumerically("<=", most))
			if err != nil {
				g.Expect(client.KindOf(err) != "" || errors.Is(err, probe.ErrNoSystem)).To(BeTrue(), "%v", err)
				return
			}
			sane(t, report)
			g.Expect(report.Model).To(Equal("PowerEdge R750"))
		})
	}
}
