package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/cli"
	"github.com/ironflow/ironflow/test/bmc/simulator/certificate"
	"github.com/ironflow/ironflow/test/liveimage"
)

// serving is a running "images serve".
type serving struct {
	t     *testing.T
	lines chan string
	hosts string
	http  *http.Client
}

// serve starts the command over a folder with these files.
func serve(t *testing.T, hosts map[string]string, args ...string) *serving {
	t.Helper()
	dir, medium, _ := bench(t, "2023-07.x86_64")
	s := &serving{t: t, lines: make(chan string, 64), hosts: filepath.Join(dir, "hosts"), http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	if err := os.Mkdir(s.hosts, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range hosts {
		s.write(name, text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	c := cli.NewCommand()
	reader, writer := io.Pipe()
	c.SetOut(writer)
	c.SetArgs(append([]string{"serve", "--base", medium, "--hosts", s.hosts, "--listen", "127.0.0.1:0"}, args...))
	done := make(chan error, 1)
	go func() {
		done <- c.ExecuteContext(ctx)
		_ = writer.Close()
	}()
	go func() {
		for lines := bufio.NewScanner(reader); lines.Scan(); {
			s.lines <- lines.Text()
		}
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("images serve: %v", err)
		}
	})
	return s
}

// write writes a file at once, as an editor does.
func (s *serving) write(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.hosts, name)
	if err := os.WriteFile(path+".tmp", []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		s.t.Fatal(err)
	}
}

// next is what is printed next; for an address, what it belongs to and the address.
func (s *serving) next() (name, rest string) {
	s.t.Helper()
	name, rest, _ = strings.Cut(<-s.lines, " ")
	return name, rest
}

// get asks for an address.
func (s *serving) get(url string) (status int, body []byte) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	resp, err := s.http.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, body
}

const (
	smallConfig = `{"ignition":{"version":"3.2.0"}}`
	otherConfig = `{"ignition":{"version":"3.3.0"}}`
	dhcp        = "interfaces: [{name: eth1, type: ethernet, ipv4: {enabled: true, dhcp: true}}]"
)

func TestServeFollowsItsFolder(t *testing.T) {
	g, s := NewWithT(t), serve(t, map[string]string{"a.ign": smallConfig})
	name, first := s.next()
	g.Expect(name).To(Equal("a"))

	s.write("b.yaml", dhcp)
	name, b := s.next()
	g.Expect(name).To(Equal("b"), "network settings alone make a host")
	_, image := s.get(b)
	content, err := liveimage.Content(bytes.NewReader(image), int64(len(image)))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(content.Keyfiles).To(HaveKey("eth1.nmconnection"))

	s.write("a.ign", otherConfig)
	name, second := s.next()
	g.Expect(name).To(Equal("a"))
	g.Expect(second).NotTo(Equal(first))
	_, image = s.get(second)
	g.Expect(liveimage.Ignition(bytes.NewReader(image), int64(len(image)))).To(BeEquivalentTo(otherConfig))
	status, _ := s.get(first)
	g.Expect(status).To(Equal(http.StatusOK), "somebody may be reading it")

	s.write("b.yaml", "interfaces: 7")
	name, why := s.next()
	g.Expect(name).To(Equal("b:"))
	g.Expect(why).To(ContainSubstring("interfaces"))
	status, _ = s.get(b)
	g.Expect(status).To(Equal(http.StatusOK), "a mistake takes no image away")

	g.Expect(os.Remove(filepath.Join(s.hosts, "b.yaml"))).To(Succeed())
	name, rest := s.next()
	g.Expect(name + " " + rest).To(Equal("b removed"))
	status, _ = s.get(b)
	g.Expect(status).To(Equal(http.StatusNotFound))

	// The folder itself is away for a while, as one of another machine may be.
	g.Expect(os.Rename(s.hosts, s.hosts+".away")).To(Succeed())
	_, why = s.next()
	g.Expect(why).To(ContainSubstring("no such file"))
	status, _ = s.get(second)
	g.Expect(status).To(Equal(http.StatusOK))
}

func TestServeOverTLS(t *testing.T) {
	g, dir := NewWithT(t), t.TempDir()
	keys, err := certificate.SelfSigned([]string{"127.0.0.1"}, time.Now())
	g.Expect(err).NotTo(HaveOccurred())
	cert, key := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	certPEM := []byte(keys.PEM())
	der, err := x509.MarshalPKCS8PrivateKey(keys.Current().PrivateKey)
	g.Expect(err).NotTo(HaveOccurred())
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	g.Expect(os.WriteFile(cert, certPEM, 0o600)).To(Succeed())
	g.Expect(os.WriteFile(key, keyPEM, 0o600)).To(Succeed())
	s := serve(t, map[string]string{"a.ign": smallConfig}, "--tls-cert", cert, "--tls-key", key)
	_, url := s.next()
	g.Expect(url).To(HavePrefix("https://127.0.0.1:"))
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certPEM)
	s.http.Transport = &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: pool}}
	status, image := s.get(url)
	g.Expect(status).To(Equal(http.StatusOK))
	g.Expect(liveimage.Ignition(bytes.NewReader(image), int64(len(image)))).To(BeEquivalentTo(smallConfig))
}

// An address that is over is followed by the next one.
func TestServeGivesAddressesThatEnd(t *testing.T) {
	g, s := NewWithT(t), serve(t, map[string]string{"a.ign": smallConfig}, "--valid-for", "1s")
	_, first := s.next()
	_, second := s.next()
	g.Expect(second).NotTo(Equal(first))
	status, _ := s.get(first)
	g.Expect(status).To(Equal(http.StatusNotFound))
}

func TestServeRefusesWhatCannotBe(t *testing.T) {
	dir, medium, config := bench(t, "2023-07.x86_64")
	empty := t.TempDir()
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"a key without certificate": {[]string{"--hosts", dir, "--tls-key", config}, "tls-cert"},
		"no certificate":            {[]string{"--hosts", dir, "--tls-key", config, "--tls-cert", config}, "TLS of the image server"},
		"a format":                  {[]string{"--hosts", dir, "--format", "qcow2"}, `--format "qcow2" is not known`},
		"a time that is over":       {[]string{"--hosts", dir, "--valid-for", "-1h"}, "--valid-for"},
		"no hosts":                  {[]string{"--hosts", empty}, "no image to serve"},
		"no folder":                 {[]string{"--hosts", filepath.Join(empty, "none")}, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := run(t.Context(), append([]string{"serve", "--base", medium, "--listen", "127.0.0.1:0"}, tc.args...)...)
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}
