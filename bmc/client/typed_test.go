package client_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/stmcginnis/gofish/schemas"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/test/bmc/simulator"
)

// closing closes an answer and gives its error.
func closing(answer *http.Response, err error) error {
	if answer != nil {
		_ = answer.Body.Close()
	}
	return err
}

// typed resets the system through gofish.
func typed(g *WithT, t *testing.T, it *client.Client, reset schemas.ResetType) {
	t.Helper()
	api, err := it.Gofish(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	computer, err := schemas.GetComputerSystem(api, system)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = computer.Reset(reset)
	g.Expect(err).NotTo(HaveOccurred())
}

func TestGofishSharesTheSession(t *testing.T) {
	g, b := NewWithT(t), startBMC(t)
	it := b.client(t, nil)
	g.Expect(it.Get(t.Context(), system, &struct{}{})).To(Succeed())
	for range 3 {
		api, err := it.Gofish(t.Context())
		g.Expect(err).NotTo(HaveOccurred())
		systems, err := api.Service.Systems()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(systems).To(HaveLen(1))
		managers, err := systems[0].ManagedBy()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(managers).To(HaveLen(1))
	}
	typed(g, t, it, schemas.OnResetType)
	state, _ := b.State(systemID)
	g.Expect(state.Power).To(Equal(simulator.On))
	g.Expect(b.Counts()).To(HaveKeyWithValue("POST "+sessions, 1))
	g.Expect(b.Counts()).To(HaveKeyWithValue("GET /redfish/v1", 2), "once for the login, once for gofish")
	g.Expect(b.sessions(t)).To(HaveLen(1))

	// A session that is lost is renewed under it.
	api, err := it.Gofish(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(b.SetQuirk(systemID, simulator.SessionLost, 1)).To(Succeed())
	_, err = api.Service.Systems()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(b.Counts()).To(HaveKeyWithValue("POST "+sessions, 2))
}

func TestKindOfGofishErrors(t *testing.T) {
	g, f := NewWithT(t), newFake()
	licence := message("iLO.2.14.LicenseKeyRequired", "A license key is required.")
	f.paths["/redfish/v1/A"] = answers(http.StatusNotFound, "")
	f.paths["/redfish/v1/B"] = answers(http.StatusBadRequest, licence)
	target := serve(t, f)
	it := newClient(t, target, quick())
	api, err := it.Gofish(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	err = closing(api.Get("/redfish/v1/A"))
	g.Expect(client.KindOf(err)).To(Equal(client.NotSupported))
	err = closing(api.Get("/redfish/v1/B"))
	g.Expect(client.KindOf(err)).To(Equal(client.Licence))
	refused, is := errors.AsType[*schemas.Error](err)
	g.Expect(is).To(BeTrue())
	g.Expect(refused.HTTPReturnedStatusCode).To(Equal(http.StatusBadRequest))
	g.Expect(refused.ExtendedInfos).To(ConsistOf(HaveField("MessageID", "iLO.2.14.LicenseKeyRequired")))

	target.Password = "wrong"
	it = newClient(t, target, quick())
	api, err = it.Gofish(t.Context())
	g.Expect(err).NotTo(HaveOccurred(), "the root is open")
	for range 5 {
		g.Expect(client.KindOf(closing(api.Get("/redfish/v1/C")))).To(Equal(client.Credentials))
	}
	_, wrong, _ := f.counts()
	g.Expect(wrong).To(Equal(1))
}

func TestConnection(t *testing.T) {
	g, f := NewWithT(t), newFake()
	f.paths[system] = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", "Thu, 01 Jan 1970 00:00:10 GMT")
		body(w, http.StatusOK, `{}`)
	}
	options := quick()
	options.Now = func() time.Time { return time.Unix(70, 5e8) }
	it := newClient(t, serve(t, f), options)
	g.Expect(it.Connection()).To(Equal(client.Connection{}))
	g.Expect(it.Get(t.Context(), system, &struct{}{})).To(Succeed())
	g.Expect(it.Connection().Dated).To(BeTrue())
	g.Expect(it.Connection().Skew).To(Equal(-time.Minute))
	g.Expect(it.Connection().Leaf.DNSNames).To(ContainElement("example.com"))
}
