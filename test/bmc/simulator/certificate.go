package simulator

import (
	"crypto/tls"
	"crypto/x509/pkix"
	"net/http"
	"time"

	"github.com/ironflow/ironflow/test/bmc/simulator/certificate"
)

var certificateRoutes = map[string]handler{
	"GET /redfish/v1/CertificateService":                                                 getCertificateService,
	"GET /redfish/v1/CertificateService/CertificateLocations":                            getCertificateLocations,
	"POST /redfish/v1/CertificateService/Actions/CertificateService.GenerateCSR":         generateCSR,
	"POST /redfish/v1/CertificateService/Actions/CertificateService.ReplaceCertificate":  replaceCertificate,
	"GET /redfish/v1/Managers/{system}/NetworkProtocol/HTTPS/Certificates":               listCertificates,
	"GET /redfish/v1/Managers/{system}/NetworkProtocol/HTTPS/Certificates/{certificate}": getCertificate,
}

// certificateID is the one certificate of each BMC.
const certificateID = "1"

// TLSConfig serves with the BMC's certificate: [Options.Certificate], else one that
// it makes itself, until it is replaced. A server must be given no other one
// (httptest brings its own): wrap the listener by tls.NewListener.
func (s *Server) TLSConfig() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			keys, err := s.served()
			if err != nil {
				return nil, err
			}
			return keys.Current(), nil
		},
	}
}

// served are the keys that are served now; the lock is held.
func (s *Server) served() (*certificate.Keys, error) {
	if s.keys != nil {
		return s.keys, nil
	}
	if s.opts.Certificate != nil {
		s.keys = certificate.New(*s.opts.Certificate)
		return s.keys, nil
	}
	keys, err := certificate.SelfSigned([]string{"127.0.0.1", "localhost", "bmc.test"}, time.Now())
	s.keys = keys
	return keys, err
}

// httpsCertificates is where the certificates of a manager are.
func httpsCertificates(sys *system) string {
	return path("Managers", sys.ManagerID, "NetworkProtocol", "HTTPS", "Certificates")
}

func getCertificateService(c *call) (reply, error) {
	home := path("CertificateService")
	return ok(resource("CertificateService.v1_0_5.CertificateService", "CertificateService", "Certificate Service", home, object{
		"CertificateLocations": link("CertificateService", "CertificateLocations"),
		"Actions": object{
			"#CertificateService.GenerateCSR":        object{"target": home + "/Actions/CertificateService.GenerateCSR"},
			"#CertificateService.ReplaceCertificate": object{"target": home + "/Actions/CertificateService.ReplaceCertificate"},
		},
	}))
}

func getCertificateLocations(c *call) (reply, error) {
	list := make([]object, 0, len(c.s.order))
	for _, id := range c.s.order {
		list = append(list, object{"@odata.id": httpsCertificates(c.s.systems[id]) + "/" + certificateID})
	}
	return ok(resource("CertificateLocations.v1_0_3.CertificateLocations", "CertificateLocations", "Certificate Locations",
		path("CertificateService", "CertificateLocations"), object{"Links": object{"Certificates": list, "Certificates@odata.count": len(list)}}))
}

func listCertificates(c *call) (reply, error) {
	home := httpsCertificates(c.sys)
	return ok(collection("Certificate", "HTTPS Certificates", home, []object{{"@odata.id": home + "/" + certificateID}}))
}

func getCertificate(c *call) (reply, error) {
	keys, err := c.s.served()
	if err != nil {
		return reply{}, err
	}
	if c.r.PathValue("certificate") != certificateID {
		return reply{}, notFound(c.r.URL.Path)
	}
	leaf, err := keys.Leaf()
	if err != nil {
		return reply{}, err
	}
	return ok(resource("Certificate.v1_8_2.Certificate", certificateID, "HTTPS Certificate", httpsCertificates(c.sys)+"/"+certificateID, object{
		"CertificateString": keys.PEM(), "CertificateType": "PEMchain", "SerialNumber": leaf.SerialNumber.Text(16),
		"ValidNotBefore": leaf.NotBefore.UTC().Format(time.RFC3339), "ValidNotAfter": leaf.NotAfter.UTC().Format(time.RFC3339),
		"Subject": object{"CommonName": leaf.Subject.CommonName}, "Issuer": object{"CommonName": leaf.Issuer.CommonName}, "KeyUsage": []string{"ServerAuthentication"},
	}))
}

func generateCSR(c *call) (reply, error) {
	given := func(name string) []string {
		text, _ := c.body[name].(string)
		if text == "" {
			return nil
		}
		return []string{text}
	}
	home, _ := c.body["CertificateCollection"].(object)
	subject := pkix.Name{
		Organization: given("Organization"), OrganizationalUnit: given("OrganizationalUnit"), Locality: given("City"), Province: given("State"), Country: given("Country"),
	}
	subject.CommonName, _ = c.body["CommonName"].(string)
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	switch {
	case home["@odata.id"] == nil:
		return reply{}, faultAt("CertificateCollection", missingParameter, "The action GenerateCSR requires the parameter CertificateCollection.")
	case subject.CommonName == "":
		return reply{}, faultAt("CommonName", missingParameter, "The action GenerateCSR requires the parameter CommonName.")
	}
	names := []string{subject.CommonName}
	more, _ := c.body["AlternativeNames"].([]any)
	for _, entry := range more {
		if name, ok := entry.(string); ok {
			names = append(names, name)
		}
	}
	keys, err := c.s.served()
	if err != nil {
		return reply{}, err
	}
	text, err := keys.Request(subject, names)
	if err != nil {
		return reply{}, err
	}
	return ok(object{"@odata.type": "#CertificateService.v1_0_5.GenerateCSRResponse", "CSRString": text, "CertificateCollection": home})
}

func replaceCertificate(c *call) (reply, error) {
	text, _ := c.body["CertificateString"].(string)
	place, _ := c.body["CertificateUri"].(object)
	address, _ := place["@odata.id"].(string)
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	there := false
	for _, sys := range c.s.systems {
		there = there || address == httpsCertificates(sys)+"/"+certificateID
	}
	if !there {
		return reply{}, faultAt("CertificateUri", wrongParameter, "There is no certificate '%s' to be replaced.", address)
	}
	keys, err := c.s.served()
	if err != nil {
		return reply{}, err
	}
	next := *keys
	if err := next.Replace([]byte(text)); err != nil {
		return reply{}, faultAt("CertificateString", wrongFormat, "The certificate is refused: %s.", err)
	}
	if c.of.has(CertificateAfterReset) {
		c.s.nextKeys = &next
	} else {
		c.s.keys = &next
	}
	if c.of.strikes(CertificateCut) {
		return reply{}, errCut
	}
	return reply{status: http.StatusOK, location: address, body: success()}, nil
}
