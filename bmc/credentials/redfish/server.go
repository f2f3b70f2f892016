package redfish

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/credentials"
	"github.com/ironflow/ironflow/bmc/credentials/certificate"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
	"github.com/ironflow/ironflow/bmc/lenient"
)

// Subject is what a request says of its owner besides the names. Redfish demands all
// parts; issuers mostly leave them out. Empty ones get a filling.
type Subject struct {
	Organization, Unit, City, State string
	// Country has two letters.
	Country string
}

// Server is the web server of a host's BMC.
type Server struct {
	Host *Host
	// Login is the one of the host's Secret.
	Login rotation.Login
	// Manager is the manager's path of the BMC's report; empty: the first one.
	Manager string
	Subject Subject
	// Ours is the digest of the certificate that we have installed last; empty for none.
	Ours string
	// Now is the time.
	Now func() time.Time
	// Dial opens connections for handshakes; nil is a plain dialer.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

var _ credentials.Server = (*Server)(nil)

// handshakeTime bounds a handshake; BMCs need seconds for one.
const handshakeTime = 15 * time.Second

// places are where a BMC keeps what concerns its certificate.
type places struct{ generate, replace, collection string }

// errNoService is for a BMC that cannot do it.
var errNoService = fmt.Errorf("%w: it has no CertificateService that makes requests and replaces certificates: replace the certificate by hand", credentials.ErrUnsupported)

// client logs in. A certificate of ours that has ended, while nobody was there to renew
// it, is trusted by its digest, for nothing else than to replace it: whoever serves it has
// the key that the BMC made for us.
func (s *Server) client(ctx context.Context) (*client.Client, error) {
	host := *s.Host
	if s.ended(ctx) {
		host.Target.TLS = client.Trust{Pin: s.Ours}
	}
	return host.as(s.Login)
}

// ended reports that the BMC serves our certificate beyond its end.
func (s *Server) ended(ctx context.Context) bool {
	if s.Ours == "" || s.Host.Target.TLS.Insecure {
		return false
	}
	served, err := s.Served(ctx)
	return err == nil && certificate.Digest(served.Raw) == s.Ours && s.Now().After(served.NotAfter)
}

// find looks the places up.
func (s *Server) find(ctx context.Context, c *client.Client) (places, error) {
	var p places
	var service struct{ CertificateService, Managers lenient.Link }
	if err := c.Get(ctx, root, &service); err != nil {
		return p, err
	}
	if service.CertificateService.Path == "" {
		return p, errNoService
	}
	type action struct {
		Target lenient.String `json:"target"`
	}
	var actions struct {
		Actions struct {
			Generate action `json:"#CertificateService.GenerateCSR"`
			Replace  action `json:"#CertificateService.ReplaceCertificate"`
		}
	}
	if err := c.Get(ctx, service.CertificateService.Path, &actions); err != nil {
		return p, err
	}
	p.generate, p.replace = string(actions.Actions.Generate.Target), string(actions.Actions.Replace.Target)
	if p.generate == "" || p.replace == "" {
		return p, errNoService
	}
	manager := s.Manager
	if manager == "" {
		members, _, err := c.Members(ctx, service.Managers.Path, 1)
		if err != nil || len(members) == 0 {
			return p, fmt.Errorf("list the managers: %w", errors.Join(err, errNone(members)))
		}
		manager = members[0]
	}
	var err error
	p.collection, err = certificates(ctx, c, manager)
	return p, err
}

func errNone(members []string) error {
	if len(members) == 0 {
		return errors.New("there is none")
	}
	return nil
}

// certificates is the collection of a manager's web server.
func certificates(ctx context.Context, c *client.Client, manager string) (string, error) {
	var m struct{ NetworkProtocol lenient.Link }
	if err := c.Get(ctx, manager, &m); err != nil {
		return "", err
	}
	protocol := m.NetworkProtocol.Path
	if protocol == "" {
		protocol = manager + "/NetworkProtocol"
	}
	var p struct {
		HTTPS struct{ Certificates lenient.Link }
	}
	if err := c.Get(ctx, protocol, &p); err != nil && client.KindOf(err) != client.NotSupported {
		return "", err
	}
	if p.HTTPS.Certificates.Path != "" {
		return p.HTTPS.Certificates.Path, nil
	}
	return protocol + "/HTTPS/Certificates", nil
}

// Generate implements [credentials.Server].
func (s *Server) Generate(ctx context.Context, names []string) ([]byte, error) {
	if len(names) == 0 {
		return nil, errors.New("make a request: there is no name to make it for")
	}
	c, err := s.client(ctx)
	if err != nil {
		return nil, err
	}
	at, err := s.find(ctx, c)
	if err != nil {
		return nil, err
	}
	or := func(text, filling string) string {
		if text == "" {
			return filling
		}
		return text
	}
	answer, err := c.Post(ctx, at.generate, map[string]any{
		"CertificateCollection": map[string]string{"@odata.id": at.collection},
		"CommonName":            names[0], "AlternativeNames": names,
		"Organization": or(s.Subject.Organization, "Ironflow"), "OrganizationalUnit": or(s.Subject.Unit, "BMC"),
		"City": or(s.Subject.City, "none"), "State": or(s.Subject.State, "none"), "Country": or(s.Subject.Country, "XX"),
	})
	if err != nil {
		return nil, err
	}
	var made struct{ CSRString lenient.String }
	if err := json.Unmarshal(answer.Body, &made); err != nil && !lenient.OnlyTypes(err) || made.CSRString == "" {
		return nil, errors.New("the answer of the BMC has no CSRString")
	}
	return []byte(made.CSRString), nil
}

// Install implements [credentials.Server]. A BMC that takes no chain is given the leaf.
func (s *Server) Install(ctx context.Context, chain []byte) (rotation.Answer, error) {
	c, err := s.client(ctx)
	if err != nil {
		return rotation.NotSent, err
	}
	at, err := s.find(ctx, c)
	if err != nil {
		return rotation.NotSent, err
	}
	members, _, err := c.Members(ctx, at.collection, 1)
	if err != nil && client.KindOf(err) != client.NotSupported {
		return rotation.NotSent, err
	}
	answer := rotation.Refused
	for _, form := range formsOf(chain) {
		body, target := map[string]any{"CertificateString": form.text, "CertificateType": form.kind}, at.collection
		if len(members) > 0 {
			target, body["CertificateUri"] = at.replace, map[string]string{"@odata.id": members[0]}
		}
		_, err = c.Post(ctx, target, body)
		if answer = becameOf(err); answer != rotation.Refused {
			break
		}
	}
	return answer, err
}

// form is a way in which a BMC may take a chain.
type form struct{ kind, text string }

func formsOf(chain []byte) []form {
	block, rest := pem.Decode(chain)
	if block == nil {
		return nil
	}
	leaf := form{"PEM", string(pem.EncodeToMemory(block))}
	if next, _ := pem.Decode(rest); next == nil {
		return []form{leaf}
	}
	return []form{{"PEMchain", string(chain)}, leaf}
}

// Served implements [credentials.Server].
func (s *Server) Served(ctx context.Context) (*x509.Certificate, error) {
	u, err := url.Parse(s.Host.Target.URL)
	if err != nil || u.Scheme != "https" {
		return nil, errors.New("the BMC is not reached by https, so that it has no certificate")
	}
	port := u.Port()
	if port == "" {
		port = "443"
	}
	ctx, done := context.WithTimeout(ctx, handshakeTime)
	defer done()
	dial := s.Dial
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	connection, err := dial(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	handshake := tls.Client(connection, &tls.Config{
		MinVersion: tls.VersionTLS12, ServerName: u.Hostname(),
		InsecureSkipVerify: true, //nolint:gosec // it is looked at, compared by its digest, and nothing is sent
	})
	if err := handshake.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	shown := handshake.ConnectionState().PeerCertificates
	if len(shown) == 0 {
		return nil, errors.New("the BMC shows no certificate")
	}
	return shown[0], nil
}
