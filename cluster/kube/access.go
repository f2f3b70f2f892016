package kube

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// ServiceAccountDir is where a pod finds its token and the cluster's authority.
const ServiceAccountDir = "/var/run/secrets/kubernetes.io/serviceaccount"

// Access says where the API is and who we are.
type Access struct {
	// URL is the server's base URL.
	URL string
	// CA is the authority of the server's certificate, PEM; empty for the system's.
	CA []byte
	// TokenFile has the token; it is read for each request, as it is changed by the
	// kubelet each hour. Token is one that does not change.
	TokenFile, Token string
	// Certificate is a client's; nil for none.
	Certificate *tls.Certificate
	// UserAgent is what the server's log calls us; empty for ironflow-cluster.
	UserAgent string
}

// InCluster is the access of a pod. url replaces the service's address, where it is
// not reachable from the host's network.
func InCluster(dir, url string) (Access, error) {
	ca, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
	if err != nil {
		return Access{}, fmt.Errorf("no access to the Kubernetes API: %w; name a kubeconfig, or run as a pod with a service account", err)
	}
	if url == "" {
		host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
		if host == "" || port == "" {
			return Access{}, errors.New("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set; name a kubeconfig or the API's address")
		}
		url = "https://" + net.JoinHostPort(host, port)
	}
	return Access{URL: url, CA: ca, TokenFile: filepath.Join(dir, "token")}, nil
}

// kubeconfig is the part of such a file that is understood.
type kubeconfig struct {
	CurrentContext string `json:"current-context"`
	Clusters       []struct {
		Name    string `json:"name"`
		Cluster struct {
			Server string `json:"server"`
			CAData string `json:"certificate-authority-data"`
			CAFile string `json:"certificate-authority"`
		} `json:"cluster"`
	} `json:"clusters"`
	Users []struct {
		Name string `json:"name"`
		User struct {
			Token     string `json:"token"`
			TokenFile string `json:"tokenFile"`
			CertData  string `json:"client-certificate-data"`
			KeyData   string `json:"client-key-data"`
			CertFile  string `json:"client-certificate"`
			KeyFile   string `json:"client-key"`
		} `json:"user"`
	} `json:"users"`
	Contexts []struct {
		Name    string `json:"name"`
		Context struct {
			Cluster string `json:"cluster"`
			User    string `json:"user"`
		} `json:"context"`
	} `json:"contexts"`
}

// Kubeconfig is the access of a file's current context.
func Kubeconfig(file string) (Access, error) {
	fail := func(err error) (Access, error) { return Access{}, fmt.Errorf("kubeconfig %s: %w", file, err) }
	raw, err := os.ReadFile(file)
	if err != nil {
		return fail(err)
	}
	var k kubeconfig
	if err := yaml.Unmarshal(raw, &k); err != nil {
		return fail(err)
	}
	dir := filepath.Dir(file)
	var a Access
	for _, context := range k.Contexts {
		if context.Name != k.CurrentContext {
			continue
		}
		for _, c := range k.Clusters {
			if c.Name != context.Context.Cluster {
				continue
			}
			a.URL = strings.TrimSuffix(c.Cluster.Server, "/")
			if a.CA, err = content(dir, c.Cluster.CAData, c.Cluster.CAFile); err != nil {
				return fail(err)
			}
		}
		for _, u := range k.Users {
			if u.Name != context.Context.User {
				continue
			}
			cert, err1 := content(dir, u.User.CertData, u.User.CertFile)
			key, err2 := content(dir, u.User.KeyData, u.User.KeyFile)
			if err := errors.Join(err1, err2); err != nil {
				return fail(err)
			}
			a.Token, a.TokenFile = u.User.Token, below(dir, u.User.TokenFile)
			if len(cert) > 0 {
				pair, err := tls.X509KeyPair(cert, key)
				if err != nil {
					return fail(err)
				}
				a.Certificate = &pair
			}
		}
	}
	if a.URL == "" {
		return fail(errors.New("its current context names no cluster"))
	}
	return a, nil
}

func below(dir, file string) string {
	if file == "" || filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(dir, file)
}

func content(dir, data, file string) ([]byte, error) {
	switch {
	case data != "":
		return base64.StdEncoding.DecodeString(data)
	case file != "":
		return os.ReadFile(below(dir, file))
	default:
		return nil, nil
	}
}

// authorize says who asks.
func (a Access) authorize(r *http.Request) error {
	token := a.Token
	if a.TokenFile != "" {
		raw, err := os.ReadFile(a.TokenFile)
		if err != nil {
			return fmt.Errorf("token of the service account: %w", err)
		}
		token = strings.TrimSpace(string(raw))
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return nil
}

// TLS is how to talk to the API servers of this cluster.
func (a Access) TLS() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if len(a.CA) > 0 {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(a.CA) {
			return nil, errors.New("the authority of the Kubernetes API is no certificate in PEM")
		}
	}
	if a.Certificate != nil {
		config.Certificates = []tls.Certificate{*a.Certificate}
	}
	return config, nil
}

// New returns a client. It opens no connection.
func New(a Access) (*Client, error) {
	config, err := a.TLS()
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		Proxy:           http.ProxyFromEnvironment,
		DialContext:     (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig: config, TLSHandshakeTimeout: 10 * time.Second,
		ForceAttemptHTTP2: true, MaxIdleConns: 4, IdleConnTimeout: 2 * time.Minute,
		// A watch is silent for minutes; pings tell that the server is still there.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client := &http.Client{Transport: transport, CheckRedirect: stay}
	return &Client{base: strings.TrimSuffix(a.URL, "/"), access: a, http: client, watch: client}, nil
}

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }
