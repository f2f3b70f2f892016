// Package tokens stands in for the API of a cluster that runs, as far as hosts need it that
// join: it keeps the Secrets of kube-system for administrators, who have a certificate of the
// cluster's authority, and knows who brings a bootstrap token. The cases of
// test/cluster/tokens/contract hold it to a real kube-apiserver.
package tokens

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ironflow/ironflow/hub/pki"
)

const (
	collection = "/api/v1/namespaces/kube-system/secrets"
	reviews    = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
	// administrators is the group that kubeadm gives all rights.
	administrators = "kubeadm:cluster-admins"
)

// API is a running stand-in.
type API struct {
	// Endpoint is where it listens, HOST:PORT.
	Endpoint string

	mu      sync.Mutex
	secrets map[string]secret
}

type secret struct {
	Type       string            `json:"type,omitempty"`
	Metadata   metadata          `json:"metadata"`
	Data       map[string]string `json:"data,omitempty"`
	StringData map[string]string `json:"stringData,omitempty"`
}

type metadata struct {
	Name      string            `json:"name"`
	Namespace string            `json:"namespace"`
	Labels    map[string]string `json:"labels,omitempty"`
}

// Start starts one at the address, with the authority of the cluster, until the test ends.
// Around may stand before it; nil for nothing.
func Start(t testing.TB, authority pki.Pair, address string, around func(http.Handler) http.Handler) *API {
	t.Helper()
	a := &API{secrets: map[string]secret{}}
	config, err := serving(authority)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	var handler http.Handler = a
	if around != nil {
		handler = around(a)
	}
	server := httptest.NewUnstartedServer(handler)
	if err := server.Listener.Close(); err != nil {
		t.Fatal(err)
	}
	server.Listener, server.TLS = listener, config
	server.StartTLS()
	t.Cleanup(server.Close)
	a.Endpoint = listener.Addr().String()
	return a
}

// serving is a certificate of the authority for loopback, and trust in those of its clients.
func serving(authority pki.Pair) (*tls.Config, error) {
	signer, err := pki.ParseAuthority(authority)
	if err != nil {
		return nil, fmt.Errorf("authority of the stand-in: %w", err)
	}
	own, err := signer.Issue(pki.Request{
		Subject: pkix.Name{CommonName: "kube-apiserver"}, Usage: x509.ExtKeyUsageServerAuth,
		Hosts: []string{"127.0.0.1", "localhost"}, Now: time.Now(), Life: time.Hour,
	})
	if err != nil {
		return nil, fmt.Errorf("certificate of the stand-in: %w", err)
	}
	pair, err := tls.X509KeyPair(own.Cert, own.Key)
	if err != nil {
		return nil, fmt.Errorf("certificate of the stand-in: %w", err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(authority.Cert)
	return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, ClientCAs: trusted, ClientAuth: tls.VerifyClientCertIfGiven}, nil
}

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	user, known := a.user(r)
	name, one := strings.CutPrefix(r.URL.Path, collection+"/")
	admin := len(r.TLS.PeerCertificates) > 0 && slices.Contains(r.TLS.PeerCertificates[0].Subject.Organization, administrators)
	switch {
	case !known:
		refuse(w, http.StatusUnauthorized, "Unauthorized")
	case r.URL.Path == reviews && r.Method == http.MethodPost:
		answer(w, http.StatusCreated, map[string]any{"status": map[string]any{"userInfo": map[string]string{"username": user}}})
	case !admin:
		refuse(w, http.StatusForbidden, "user "+user+" cannot do that")
	case r.URL.Path == collection && r.Method == http.MethodPost:
		a.put(w, r, "")
	case r.URL.Path == collection && r.Method == http.MethodGet:
		a.list(w, r.URL.Query().Get("labelSelector"))
	case one && a.secrets[name].Metadata.Name == "":
		refuse(w, http.StatusNotFound, "secrets "+name+" not found")
	case one && r.Method == http.MethodPut:
		a.put(w, r, name)
	case one && r.Method == http.MethodDelete:
		delete(a.secrets, name)
		answer(w, http.StatusOK, map[string]string{"status": "Success"})
	case one && r.Method == http.MethodGet:
		answer(w, http.StatusOK, a.secrets[name])
	default:
		refuse(w, http.StatusNotFound, "the stand-in has no "+r.Method+" "+r.URL.Path)
	}
}

// user is who asks: by a certificate, or by a bootstrap token that has not ended.
func (a *API) user(r *http.Request) (string, bool) {
	if len(r.TLS.PeerCertificates) > 0 {
		return r.TLS.PeerCertificates[0].Subject.CommonName, true
	}
	id, given, _ := strings.Cut(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), ".")
	s, ok := a.secrets["bootstrap-token-"+id]
	value := func(name string) string {
		raw, err := base64.StdEncoding.DecodeString(s.Data[name])
		if err != nil {
			return ""
		}
		return string(raw)
	}
	end, err := time.Parse(time.RFC3339, value("expiration"))
	good := ok && s.Type == "bootstrap.kubernetes.io/token" && value("token-secret") == given &&
		value("usage-bootstrap-authentication") == "true" && err == nil && end.After(time.Now())
	return "system:bootstrap:" + id, good
}

// put stores a new Secret, or another content of one.
func (a *API) put(w http.ResponseWriter, r *http.Request, name string) {
	var s secret
	if err := json.NewDecoder(r.Body).Decode(&s); err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	if _, taken := a.secrets[s.Metadata.Name]; taken && name == "" {
		refuse(w, http.StatusConflict, "secrets "+s.Metadata.Name+" already exists")
		return
	}
	if s.Data == nil {
		s.Data = map[string]string{}
	}
	for key, value := range s.StringData {
		s.Data[key] = base64.StdEncoding.EncodeToString([]byte(value))
	}
	s.StringData = nil
	a.secrets[s.Metadata.Name] = s
	code := http.StatusOK
	if name == "" {
		code = http.StatusCreated
	}
	answer(w, code, s)
}

// list answers with the Secrets that have a label, KEY=VALUE; empty for all.
func (a *API) list(w http.ResponseWriter, selector string) {
	key, value, selects := strings.Cut(selector, "=")
	items := []secret{}
	for _, s := range a.secrets {
		if !selects || s.Metadata.Labels[key] == value {
			items = append(items, s)
		}
	}
	answer(w, http.StatusOK, map[string]any{"items": items})
}

func refuse(w http.ResponseWriter, code int, message string) {
	answer(w, code, map[string]any{"kind": "Status", "code": code, "message": message})
}

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // who hangs up needs no answer
}
