package simulator_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/bmc/simulator/certificate"
)

func TestVendors(t *testing.T) {
	for vendor, key := range map[simulator.Vendor]string{
		simulator.Dell: "Dell", simulator.HPE: "Hpe", simulator.Lenovo: "Lenovo", simulator.Supermicro: "Supermicro", simulator.AMI: "Ami", simulator.NVIDIA: "Nvidia",
	} {
		t.Run(key, func(t *testing.T) {
			s := simulator.New(simulator.Options{})
			c := newClient(t, s)
			c.Expect(s.AddSystem(simulator.System{ID: "a", Vendor: vendor})).To(Succeed())
			root := c.must(http.MethodGet, "/", nil)
			c.Expect(root).To(And(HaveKeyWithValue("Vendor", string(vendor)), HaveKeyWithValue("Oem", HaveKey(key))))
		})
	}
}

func TestLicencesOfTheStandard(t *testing.T) {
	s := simulator.New(simulator.Options{})
	c := newClient(t, s)
	c.Expect(s.AddSystem(simulator.System{ID: "a", Vendor: simulator.Lenovo, Licences: []simulator.Licence{{Name: "XCC_Platinum"}, {Name: "Old", Expired: true}}})).To(Succeed())
	c.Expect(c.must(http.MethodGet, "/", nil)).To(HaveKey("LicenseService"))
	c.must(http.MethodGet, "/LicenseService", nil)
	c.Expect(c.must(http.MethodGet, "/LicenseService/Licenses", nil)["Members"]).To(HaveLen(2))
	for name, want := range map[string]string{"XCC_Platinum": "Enabled", "Old": "Disabled"} {
		c.Expect(c.must(http.MethodGet, "/LicenseService/Licenses/"+name, nil)["Status"]).To(HaveKeyWithValue("State", want))
	}
}

func TestSessionsFullInTheVendorsWords(t *testing.T) {
	s, w := guarded(t, simulator.Options{MaxSessions: 1}, nil)
	w.Expect(s.AddSystem(simulator.System{ID: "a", Vendor: simulator.Dell})).To(Succeed())
	w.Expect(w.login("root", "old-secret")).To(Equal(http.StatusCreated))
	answer, body := w.do(http.MethodPost, "/SessionService/Sessions", map[string]any{"UserName": "root", "Password": "old-secret"})
	w.Expect(answer.StatusCode).To(Equal(http.StatusServiceUnavailable))
	w.Expect(body["error"]).To(HaveKeyWithValue("code", HaveSuffix("RAC0218")))
}

// TestIDsOfTheirOwn: manager and chassis need not be called as the system.
func TestIDsOfTheirOwn(t *testing.T) {
	s := simulator.New(simulator.Options{})
	c := newClient(t, s)
	c.Expect(s.AddSystem(simulator.System{ID: "s", ManagerID: "m", ChassisID: "c"})).To(Succeed())
	c.Expect(s.AddSystem(simulator.System{ID: "m", ManagerID: "x", ChassisID: "s"})).To(Succeed(), "the manager of one, the system of another")
	c.Expect(c.must(http.MethodGet, "/Managers/m", nil)["Links"]).To(HaveKeyWithValue("ManagerForServers", ConsistOf(HaveKeyWithValue("@odata.id", "/redfish/v1/Systems/s"))))
	c.Expect(c.must(http.MethodGet, "/Chassis/c", nil)["Links"]).To(HaveKeyWithValue("ManagedBy", ConsistOf(HaveKeyWithValue("@odata.id", "/redfish/v1/Managers/m"))))
	c.Expect(c.must(http.MethodGet, "/Chassis/s", nil)["Links"]).To(HaveKeyWithValue("ComputerSystems", ConsistOf(HaveKeyWithValue("@odata.id", "/redfish/v1/Systems/m"))))
	c.Expect(c.status(http.MethodGet, "/Chassis/m", nil)).To(Equal(http.StatusNotFound))
	c.must(http.MethodPost, "/Managers/m/VirtualMedia/Cd/Actions/VirtualMedia.InsertMedia", map[string]any{"Image": "http://x/y.iso"})
	c.Expect(c.must(http.MethodGet, "/Systems/s/VirtualMedia/Cd", nil)).To(HaveKeyWithValue("Inserted", true))
}

// TestServedCertificate: a certificate that replaces another is what clients see.
func TestServedCertificate(t *testing.T) {
	g := NewWithT(t)
	s := simulator.New(simulator.Options{})
	t.Cleanup(s.Close)
	g.Expect(s.AddSystem(simulator.System{ID: "a"})).To(Succeed())
	server := httptest.NewUnstartedServer(s)
	server.Listener = tls.NewListener(server.Listener, s.TLSConfig())
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // who trusts nobody hangs up
	server.Start()
	t.Cleanup(server.Close)
	serial := func() string {
		dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
		conn, err := dialer.DialContext(t.Context(), "tcp", server.Listener.Addr().String())
		g.Expect(err).NotTo(HaveOccurred())
		defer conn.Close()
		return conn.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.String()
	}
	before := serial()
	g.Expect(serial()).To(Equal(before), "it stays")

	next, err := certificate.SelfSigned([]string{"new.test"}, time.Now())
	g.Expect(err).NotTo(HaveOccurred())
	key, err := x509.MarshalPKCS8PrivateKey(next.Current().PrivateKey)
	g.Expect(err).NotTo(HaveOccurred())
	c := &client{WithT: g, t: t, http: http.Client{Transport: s.Transport()}}
	c.must(http.MethodPost, "/CertificateService/Actions/CertificateService.ReplaceCertificate", map[string]any{
		"CertificateString": next.PEM() + string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})), "CertificateType": "PEM",
		"CertificateUri": map[string]any{"@odata.id": "/redfish/v1/Managers/a/NetworkProtocol/HTTPS/Certificates/1"},
	})
	leaf, err := next.Leaf()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(serial()).To(Equal(leaf.SerialNumber.String()))
}

// TestAnswersTakeTime: each answer takes its time, and can be told to take another.
func TestAnswersTakeTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := simulator.New(simulator.Options{Delays: simulator.Delays{Answer: 50 * time.Millisecond}})
		c := newClient(t, s)
		c.Expect(s.AddSystem(simulator.System{ID: "a"})).To(Succeed())
		took := func() time.Duration {
			begin := time.Now()
			c.power()
			return time.Since(begin)
		}
		c.Expect(took()).To(Equal(50 * time.Millisecond))
		c.Expect(s.SetDelays("a", simulator.Delays{})).To(Succeed())
		c.Expect(took()).To(BeZero())
		c.Expect(s.SetQuirkAt("a", simulator.Slow, simulator.Always, "/redfish/v1/Chassis")).To(Succeed())
		c.Expect(took()).To(BeZero(), "elsewhere")
		begin := time.Now()
		c.must(http.MethodGet, "/Chassis/a/Power", nil)
		c.Expect(time.Since(begin)).To(Equal(5 * time.Second))
		c.Expect(s.SetDelays("b", simulator.Delays{})).NotTo(Succeed())
	})
}
