package client_test

import (
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/lenient"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/emulator"
	"github.com/ironflow/ironflow/test/lab/labtest"
)

// serviceCases are what every Redfish service has to pass; target reaches one with
// a single system, which is off.
var serviceCases = map[string]func(g *WithT, t *testing.T, target client.Target){
	"the root, the systems and their properties": func(g *WithT, t *testing.T, target client.Target) {
		c := newClient(t, target, quick())
		var root struct {
			RedfishVersion lenient.String
			Systems        lenient.Link
		}
		g.Expect(c.Get(t.Context(), "/redfish/v1/", &root)).To(Succeed())
		g.Expect(root.RedfishVersion).NotTo(BeEmpty())
		paths, complete, err := c.Members(t.Context(), root.Systems.Path, 0)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(complete).To(BeTrue())
		g.Expect(paths).To(Equal([]string{system}))
		var in struct {
			UUID       lenient.String
			PowerState lenient.String
			Links      struct{ ManagedBy lenient.List[lenient.Link] }
			Nothing    lenient.Present
		}
		g.Expect(c.Get(t.Context(), paths[0], &in)).To(Succeed())
		g.Expect(in.UUID).To(Equal(lenient.String(systemID)))
		g.Expect(in.PowerState).To(Equal(lenient.String("Off")))
		g.Expect(in.Links.ManagedBy).To(HaveLen(1))
		g.Expect(bool(in.Nothing)).To(BeFalse())
		raw, err := c.GetRaw(t.Context(), system)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(raw.Status).To(Equal(http.StatusOK))
		g.Expect(string(raw.Body)).To(ContainSubstring(systemID))
	},
	"a change is kept": func(g *WithT, t *testing.T, target client.Target) {
		c := newClient(t, target, quick())
		for _, device := range []string{"Pxe", "Hdd"} {
			_, err := c.Patch(t.Context(), system, map[string]any{"Boot": map[string]string{
				"BootSourceOverrideTarget": device, "BootSourceOverrideEnabled": "Continuous",
			}})
			g.Expect(err).NotTo(HaveOccurred())
			var in struct {
				Boot struct{ BootSourceOverrideTarget lenient.String }
			}
			g.Expect(c.Get(t.Context(), system, &in)).To(Succeed())
			g.Expect(in.Boot.BootSourceOverrideTarget).To(Equal(lenient.String(device)))
		}
	},
	"what is not there": func(g *WithT, t *testing.T, target client.Target) {
		c := newClient(t, target, quick())
		err := c.Get(t.Context(), "/redfish/v1/Systems/another", &struct{}{})
		g.Expect(client.KindOf(err)).To(Equal(client.NotSupported))
	},
	"a wrong password": func(g *WithT, t *testing.T, target client.Target) {
		target.Password += "x"
		c := newClient(t, target, quick())
		ctx, asked := client.WithCounter(t.Context())
		for range 10 {
			g.Expect(client.KindOf(c.Get(ctx, system, &struct{}{}))).To(Equal(client.Credentials))
		}
		g.Expect(asked.Requests()).To(BeNumerically("<=", 3), "the root, and at most two logins")
	},
	"proof of a password": func(g *WithT, t *testing.T, target client.Target) {
		c := newClient(t, target, quick())
		g.Expect(c.Verify(t.Context(), target.Password)).To(Succeed())
		g.Expect(client.KindOf(c.Verify(t.Context(), target.Password+"x"))).To(Equal(client.Credentials))
		g.Expect(c.Verify(t.Context(), target.Password)).To(Succeed())
	},
	"a certificate that is not trusted": func(g *WithT, t *testing.T, target client.Target) {
		target.TLS = client.Trust{Pin: strings.Repeat("00", 32)}
		c := newClient(t, target, quick())
		g.Expect(client.KindOf(c.Get(t.Context(), system, &struct{}{}))).To(Equal(client.TLS))
		target.TLS.Pin = pinOf(c.Connection().Leaf)
		c = newClient(t, target, quick())
		g.Expect(c.Get(t.Context(), system, &struct{}{})).To(Succeed())
		g.Expect(c.Connection().Dated).To(BeTrue())
	},
}

func TestSimulatorPassesTheCases(t *testing.T) {
	for name, run := range serviceCases {
		t.Run(name, func(t *testing.T) {
			b := startBMC(t)
			run(NewWithT(t), t, b.target())
		})
	}
}

// TestEmulatorPassesTheCases runs them on sushy-tools, which has no sessions.
func TestEmulatorPassesTheCases(t *testing.T) {
	e, err := labtest.New(t).StartEmulator(t.Context(), lab.EmulatorOptions{
		Systems: []emulator.System{{UUID: systemID, Name: "it", NICs: []emulator.NIC{{MAC: "52:54:00:e0:01:01"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, run := range serviceCases {
		t.Run(name, func(t *testing.T) {
			run(NewWithT(t), t, client.Target{URL: e.URL, Username: e.User, Password: client.Secret(e.Password), TLS: client.Trust{Insecure: true}})
		})
	}
}
