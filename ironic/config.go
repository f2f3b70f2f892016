package ironic

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// defaultName is the name of an endpoint that has none.
const defaultName = "default"

// DefaultTimeout bounds one request when Config.Timeout is zero.
const DefaultTimeout = 30 * time.Second

// Config tells how to reach one Ironic.
type Config struct {
	// Name is the endpoint's name as hosts refer to it (annotation
	// ironflow.io/ironic); "default" when empty.
	Name string
	// URL is https://host:port; "/v1" is added if missing. With Keystone it may be
	// empty: the service catalog knows it then.
	URL string
	// Auth is how the gateway proves who it is; the zero value sends nothing.
	Auth Auth
	// CAFile is a PEM bundle that replaces the system's roots. The three files
	// are read again whenever they change on disk.
	CAFile string
	// CertFile and KeyFile are the client certificate for mutual TLS, PEM.
	CertFile, KeyFile string
	// Insecure accepts any server certificate. For laboratories only.
	Insecure bool
	// SkipServerName checks the chain of the server's certificate, but not the
	// names in it (IRONIC_SKIP_CLIENT_SAN_VERIFY of baremetal-operator).
	SkipServerName bool
	// Timeout bounds one request; DefaultTimeout when zero.
	Timeout time.Duration
	// Registerer receives the metrics of Metrics(); nil keeps them private.
	Registerer prometheus.Registerer
	// Transport replaces the network, for tests; TLS files are not used then.
	Transport http.RoundTripper
	// Wrap, if set, is put around the transport, credentials included: to observe
	// or disturb requests.
	Wrap func(http.RoundTripper) http.RoundTripper
}

// Auth selects at most one way of authentication. Client certificates (mutual
// TLS) are part of Config, because they can be combined with each of these.
type Auth struct {
	Basic    *Basic
	Keystone *Keystone
}

// Basic is HTTP basic authentication. Files win over literals and are read
// again when they change, so a rotated Secret needs no restart.
type Basic struct {
	Username, UsernameFile string
	Password               Secret
	PasswordFile           string
}

// Keystone is authentication by the OpenStack identity service, version 3.
type Keystone struct {
	URL                string // https://host:port/v3
	Username           string
	Password           Secret
	PasswordFile       string // wins over Password; read at each authentication
	UserDomain         string // "Default" when empty
	Project            string // scope; empty together with System: unscoped
	ProjectDomain      string // UserDomain when empty
	System             bool   // system scope instead of a project
	Region             string
	ApplicationID      string // application credential instead of user and password
	ApplicationSecret  Secret
	IdentityCAFile     string // unused when empty: Config.CAFile holds for both
	EndpointVisibility string // "public" (default), "internal" or "admin"
}

// Secret is a text that never prints itself.
type Secret string

const redacted = "[redacted]"

// String returns a fixed text in place of the secret.
func (Secret) String() string { return redacted }

// GoString returns a fixed text in place of the secret.
func (Secret) GoString() string { return redacted }

// LogValue returns a fixed text in place of the secret.
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText returns a fixed text in place of the secret.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// complete checks the configuration and fills in the defaults.
func (c *Config) complete() error {
	if c.Name == "" {
		c.Name = defaultName
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if c.URL == "" && c.Auth.Keystone == nil {
		return fmt.Errorf("ironic %q: no URL: set it to https://host:6385", c.Name)
	}
	if c.URL != "" {
		u, err := endpointURL(c.URL)
		if err != nil {
			return fmt.Errorf("ironic %q: %w", c.Name, err)
		}
		c.URL = u
	}
	if c.Auth.Basic != nil && c.Auth.Keystone != nil {
		return fmt.Errorf("ironic %q: both basic and Keystone authentication are set: choose one", c.Name)
	}
	if k := c.Auth.Keystone; k != nil && k.URL == "" {
		return fmt.Errorf("ironic %q: Keystone authentication needs the identity service's URL", c.Name)
	}
	if (c.CertFile == "") != (c.KeyFile == "") {
		return fmt.Errorf("ironic %q: a client certificate needs both CertFile and KeyFile", c.Name)
	}
	return nil
}

// endpointURL checks an endpoint's address and returns it with exactly one
// "/v1/" at its end.
func endpointURL(raw string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return "", fmt.Errorf("URL cannot be read: %w", withoutURL(err))
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", fmt.Errorf("URL %q must look like https://host:6385", u.Redacted())
	}
	if u.User != nil {
		return "", fmt.Errorf("URL of host %q must not carry a user and password: use basic authentication", u.Host)
	}
	u.RawQuery, u.Fragment = "", ""
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/v1") + "/v1/"
	return u.String(), nil
}
