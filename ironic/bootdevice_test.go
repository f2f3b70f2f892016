package ironic_test

import (
	"net/http"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

func TestBootDevice(t *testing.T) {
	e := NewWithT(t)
	g, s := newGateway(t, simulator.Options{})
	n := enrol(t, g, "lab~host-1")
	e.Expect(g.BootDevice(t.Context(), n.UUID)).To(Equal("disk"))

	_, err := g.BootDevice(t.Context(), "00000000-0000-0000-0000-000000000000")
	e.Expect(ironic.KindOf(err)).To(Equal(ironic.Gone))

	s.Intercept(func(*http.Request) *simulator.Fault {
		return &simulator.Fault{Status: http.StatusInternalServerError, Text: "Redfish exception occurred. Error: HTTP GET /redfish/v1/Systems/1 returned code 401"}
	})
	_, err = g.BootDevice(t.Context(), n.UUID)
	e.Expect(err).To(MatchError(ContainSubstring("returned code 401")), "what the BMC said to Ironic")
}
