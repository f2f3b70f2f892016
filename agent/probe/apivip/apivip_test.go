package apivip_test

import (
	"compress/gzip"
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/probe/apivip"
	"github.com/ironflow/ironflow/agent/steps"
)

// rendered is what a cluster gives a worker, shortened.
const rendered = `{"ignition":{"version":"3.2.0","config":{"replace":{"verification":{}}}},
 "passwd":{"users":[{"name":"core","sshAuthorizedKeys":["ssh-ed25519 AAAA"]}]},
 "storage":{
  "luks":[{"name":"root","device":"/dev/disk/by-partlabel/root","clevis":{"tang":[{"url":"http://tang.example","thumbprint":"T"}]},"wipeVolume":true}],
  "files":[
   {"path":"/etc/kubernetes/kubeconfig","mode":420,"contents":{"source":"data:,kubeconfig"}},
   {"path":"/etc/secret","mode":384,"contents":{"source":"data:,secret"}},
   {"path":"/etc/kubernetes/manifests/coredns.yaml","mode":420,"contents":{"source":"data:,coredns"}},
   {"path":"/etc/kubernetes/manifests/keepalived.yaml","mode":420,"contents":{"source":"data:,keepalived"}}]},
 "systemd":{"units":[{"name":"kubelet.service","enabled":true,"contents":"[Unit]"}]}}`

const reduced = `{"ignition":{"version":"3.2.0","config":{"replace":{"verification":{}}}},
 "passwd":{"users":[{"name":"core","sshAuthorizedKeys":["ssh-ed25519 AAAA"]}]},
 "storage":{
  "luks":[{"name":"root","device":"/dev/disk/by-partlabel/root","clevis":{"tang":[{"url":"http://tang.example","thumbprint":"T"}]},"wipeVolume":true}],
  "files":[
   {"path":"/etc/kubernetes/kubeconfig","mode":420,"contents":{"source":"data:,kubeconfig"}},
   {"path":"/etc/kubernetes/manifests/coredns.yaml","mode":420,"contents":{"source":"data:,coredns"}},
   {"path":"/etc/kubernetes/manifests/keepalived.yaml","mode":420,"contents":{"source":"data:,keepalived"}}]}}`

func run(t *testing.T, client *http.Client, request string) steps.Result {
	t.Helper()
	return apivip.Check.Runner(probe.Env{HTTP: client}).Run(t.Context(), []string{request})
}

// output decodes the reply's output; its keys are the protocol's.
func output(t *testing.T, result steps.Result) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal([]byte(result.Output), &out); err != nil {
		t.Fatalf("output %q: %v", result.Output, err)
	}
	return out
}

func TestTheClustersIgnition(t *testing.T) {
	var seen http.Header
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprint(w, rendered)
	}))
	defer server.Close()
	ca := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	url := server.URL + "/config/worker"

	t.Run("reduced to what hubs need", func(t *testing.T) {
		g := NewWithT(t)
		result := run(t, http.DefaultClient, `{"url":"`+url+`","ca_certificate":"`+ca+`"}`)
		g.Expect(result.Exit).To(BeZero())
		g.Expect(result.Error).To(BeEmpty())
		out := output(t, result)
		g.Expect(out).To(HaveLen(3))
		g.Expect(out).To(And(HaveKeyWithValue("is_success", true), HaveKeyWithValue("url", url)))
		g.Expect(out["ignition"]).To(MatchJSON(reduced))
		g.Expect(seen.Get("Accept")).To(Equal("application/vnd.coreos.ignition+json; version=3.2.0"))
		g.Expect(seen).NotTo(HaveKey("Authorization"))
	})
	t.Run("deprecated token", func(t *testing.T) {
		g := NewWithT(t)
		run(t, http.DefaultClient, `{"url":"`+url+`","ca_certificate":"`+ca+`","ignition_endpoint_token":"T1"}`)
		g.Expect(seen.Get("Authorization")).To(Equal("Bearer T1"))
	})
	t.Run("headers of the hub override", func(t *testing.T) {
		g := NewWithT(t)
		run(t, http.DefaultClient, `{"url":"`+url+`","ca_certificate":"`+ca+`","ignition_endpoint_token":"T1",
			"request_headers":[{"key":"Authorization","value":"Bearer T2"},{"key":"accept","value":"application/json"},{"key":"X-Own","value":"1"}]}`)
		g.Expect(seen.Values("Authorization")).To(Equal([]string{"Bearer T2"}))
		g.Expect(seen.Values("Accept")).To(Equal([]string{"application/json"}))
		g.Expect(seen.Get("X-Own")).To(Equal("1"))
	})
	t.Run("unknown CA", func(t *testing.T) {
		g := NewWithT(t)
		result := run(t, http.DefaultClient, `{"url":"`+url+`"}`)
		g.Expect(result.Exit).To(BeZero(), "a failed check is no failed step")
		g.Expect(result.Error).To(Equal("ignition download error"))
		out := output(t, result)
		g.Expect(out).To(HaveLen(2))
		g.Expect(out).To(HaveKeyWithValue("url", url))
		g.Expect(out["download_error"]).To(ContainSubstring("certificate"))
	})
	t.Run("what the host trusts stays trusted", func(t *testing.T) {
		g := NewWithT(t)
		ca, err := generateCA()
		g.Expect(err).NotTo(HaveOccurred())
		result := run(t, server.Client(), `{"url":"`+url+`","ca_certificate":"`+base64.StdEncoding.EncodeToString(ca)+`"}`)
		g.Expect(output(t, result)).To(HaveKeyWithValue("is_success", true))
	})
	t.Run("a CA that is no certificate", func(t *testing.T) {
		g := NewWithT(t)
		result := run(t, http.DefaultClient, `{"url":"`+url+`","ca_certificate":"AAAA"}`)
		g.Expect(result.Exit).To(BeZero())
		g.Expect(output(t, result)["download_error"]).To(ContainSubstring("no certificate in PEM form"))
	})
}

func TestAnswersThatAreNoIgnition(t *testing.T) {
	for name, tc := range map[string]struct {
		status int
		body   string
		want   string
	}{
		"error page":      {503, strings.Repeat("<html>out of order</html>", 1000), "answered 503 Service Unavailable: <html>out of order</html>"},
		"redirect page":   {200, "<html>log in</html>", "not Ignition"},
		"empty":           {200, "", "not Ignition"},
		"other JSON":      {200, `{"kind":"Status"}`, "not Ignition"},
		"version 2":       {200, `{"ignition":{"version":"2.2.0"}}`, "not Ignition"},
		"invalid":         {200, `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"relative"}]}}`, "not valid Ignition"},
		"too large":       {200, `{"ignition":{"version":"3.2.0"},"x":"` + strings.Repeat("x", 17<<20) + `"}`, "larger than"},
		"odd new version": {200, `{"ignition":{"version":"3.99.0\n"}}`, "not Ignition"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tc.status)
				fmt.Fprint(w, tc.body)
			}))
			defer server.Close()
			result := run(t, server.Client(), `{"url":"`+server.URL+`"}`)
			g.Expect(result.Exit).To(BeZero())
			g.Expect(result.Error).To(Equal("ignition download error"))
			out := output(t, result)
			g.Expect(out).To(HaveLen(2))
			g.Expect(out["download_error"]).To(ContainSubstring(tc.want))
			g.Expect(len(out["download_error"].(string))).To(BeNumerically("<", 700))
		})
	}
}

func TestNewerVersionsAreGivenOnUnchanged(t *testing.T) {
	for _, version := range []string{"3.0.0", "3.6.0", "3.99.0", "3.7.0-experimental"} {
		g := NewWithT(t)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"ignition":{"version":"`+version+`"},"systemd":{"units":[]}}`)
		}))
		result := run(t, server.Client(), `{"url":"`+server.URL+`"}`)
		server.Close()
		g.Expect(output(t, result)["ignition"]).To(MatchJSON(`{"ignition":{"version":"` + version + `"}}`))
	}
}

// A hostile API costs neither memory nor secrets.
func TestHostileAnswers(t *testing.T) {
	var elsewhere http.Header
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		elsewhere = r.Header
		fmt.Fprint(w, rendered)
	}))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			zip := gzip.NewWriter(w)
			for range 20 << 10 { // 1.25 GiB
				if _, err := zip.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
			_ = zip.Close()
		case "/short":
			w.Header().Set("Content-Length", "100000")
			fmt.Fprint(w, rendered)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		case "/elsewhere":
			http.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "localhost", 1)+"/", http.StatusTemporaryRedirect)
		}
	}))
	defer server.Close()
	for path, want := range map[string]string{
		"/bomb": "larger than", "/short": "broke off", "/loop": "stopped after 10 redirects", "/file": "unsupported protocol scheme",
	} {
		t.Run(path, func(t *testing.T) {
			g := NewWithT(t)
			result := run(t, http.DefaultClient, `{"url":"`+server.URL+path+`","ignition_endpoint_token":"T1"}`)
			g.Expect(result.Exit).To(BeZero())
			g.Expect(output(t, result)["download_error"]).To(ContainSubstring(want))
		})
	}
	t.Run("/elsewhere", func(t *testing.T) {
		g := NewWithT(t)
		result := run(t, http.DefaultClient, `{"url":"`+server.URL+`/elsewhere","ignition_endpoint_token":"T1","request_headers":[{"key":"X-Own","value":"S3"}]}`)
		g.Expect(output(t, result)).To(HaveKeyWithValue("is_success", true))
		g.Expect(elsewhere).NotTo(BeEmpty())
		g.Expect(elsewhere).NotTo(HaveKey("Authorization"), "another host does not get the token")
		g.Expect(elsewhere).NotTo(HaveKey("X-Own"), "nor the hub's own headers")
		g.Expect(elsewhere.Get("Accept")).To(HavePrefix("application/vnd.coreos.ignition+json"))
	})
}

func TestASilentAPI(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		silent := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, context.Cause(r.Context())
		})}
		result := run(t, silent, `{"url":"http://api.example"}`)
		g.Expect(result.Exit).To(BeZero())
		g.Expect(result.Output).To(MatchJSON(`{"url":"http://api.example","download_error":"no answer in time: context deadline exceeded"}`))
	})
}

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

func TestRefused(t *testing.T) {
	for name, tc := range map[string]struct{ request, want string }{
		"no URL":           {`{}`, "not an http(s) URL"},
		"file":             {`{"url":"file:///etc/shadow"}`, "not an http(s) URL"},
		"CA, not base64":   {`{"url":"http://a","ca_certificate":"-----BEGIN"}`, "not base64"},
		"header with line": {`{"url":"http://a","request_headers":[{"key":"A","value":"secret\r\nHost: b"}]}`, "control characters"},
		"header name":      {`{"url":"http://a","request_headers":[{"key":"A b","value":"c"}]}`, "not the name of a header"},
		"token with line":  {`{"url":"http://a","ignition_endpoint_token":"secret\n"}`, "control characters"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			result := run(t, nil, tc.request)
			g.Expect(result.Exit).To(BeEquivalentTo(-1))
			g.Expect(result.Error).To(ContainSubstring(tc.want))
			g.Expect(result.Error).NotTo(ContainSubstring("secret"))
			g.Expect(result.Output).To(BeEmpty())
		})
	}
}

// generateCA makes a certificate that has signed nothing here.
func generateCA() ([]byte, error) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	raw, err := x509.CreateCertificate(nil, template, template, public, private)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), err
}
