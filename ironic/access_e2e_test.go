//go:build e2e

package ironic_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/crypto/bcrypt"

	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
	"github.com/ironflow/ironflow/test/lab/pki"
	"github.com/ironflow/ironflow/test/needs"
)

// nginxConf is a proxy that lets clients with a certificate through to Ironic.
// Words in capitals are filled in.
const nginxConf = `
daemon off; worker_processes 1; pid DIR/nginx.pid; error_log DIR/error.log;
events {}
http {
  access_log off;
  client_body_temp_path DIR/body; proxy_temp_path DIR/proxy;
  fastcgi_temp_path DIR/fastcgi; uwsgi_temp_path DIR/uwsgi; scgi_temp_path DIR/scgi;
  server {
    listen LISTEN ssl;
    ssl_certificate DIR/server.crt; ssl_certificate_key DIR/server.key;
    ssl_client_certificate DIR/clients.crt; ssl_verify_client on;
    location / {
      proxy_pass IRONIC; proxy_ssl_verify on; proxy_ssl_trusted_certificate TRUSTED; proxy_ssl_name localhost; proxy_ssl_protocols TLSv1.3; proxy_http_version 1.1;
    }
  }
}
`

// nginxProxy is nginx in front of the real Ironic.
type nginxProxy struct {
	url string
	dir string
	cmd *exec.Cmd
}

func newNginxProxy(t *testing.T, behind *lab.Ironic, trusted string) *nginxProxy {
	t.Helper()
	e := NewWithT(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	e.Expect(err).NotTo(HaveOccurred())
	address := listener.Addr().String()
	e.Expect(listener.Close()).To(Succeed())
	d := &nginxProxy{url: "https://" + address, dir: t.TempDir()}
	conf := strings.NewReplacer("DIR", d.dir, "LISTEN", address, "IRONIC", behind.URL, "TRUSTED", trusted).Replace(nginxConf)
	path := filepath.Join(d.dir, "nginx.conf")
	e.Expect(os.WriteFile(path, []byte(conf), 0o600)).To(Succeed())
	d.cmd = exec.CommandContext(t.Context(), needs.Program(t, "nginx", "nginx-light"), "-p", d.dir, "-e", filepath.Join(d.dir, "error.log"), "-c", path)
	d.cmd.Cancel = func() error { return d.cmd.Process.Signal(syscall.SIGTERM) }
	return d
}

// serve writes nginx's own certificate and the authority of its clients.
func (d *nginxProxy) serve(t *testing.T, server, clients *pki.Authority) {
	t.Helper()
	e := NewWithT(t)
	pair, err := server.Server()
	e.Expect(err).NotTo(HaveOccurred())
	for name, content := range map[string][]byte{"server.crt": pair.Cert, "server.key": pair.Key, "clients.crt": clients.PEM} {
		e.Expect(os.WriteFile(filepath.Join(d.dir, name), content, 0o600)).To(Succeed())
	}
}

// start runs nginx until the test ends.
func (d *nginxProxy) start(t *testing.T) {
	t.Helper()
	e := NewWithT(t)
	e.Expect(d.cmd.Start()).To(Succeed())
	t.Cleanup(func() { _ = d.cmd.Wait() }) // its end was asked for
	e.Eventually(func() error {
		c, err := net.Dial("tcp", strings.TrimPrefix(d.url, "https://"))
		if err != nil {
			text, _ := os.ReadFile(filepath.Join(d.dir, "error.log"))
			return fmt.Errorf("%w: %s", err, text)
		}
		return c.Close()
	}, 20*time.Second, 50*time.Millisecond).Should(Succeed())
}

// rotate has nginx use new certificates from now on.
func (d *nginxProxy) rotate(t *testing.T, server, clients *pki.Authority) {
	t.Helper()
	d.serve(t, server, clients)
	NewWithT(t).Expect(d.cmd.Process.Signal(syscall.SIGHUP)).To(Succeed())
}

// TestAccessToTheRealIronic goes through nginx, which demands client
// certificates, to an Ironic that asks for a password; certificates, authorities
// and the password change while the gateway goes on.
func TestAccessToTheRealIronic(t *testing.T) {
	e := NewWithT(t)
	l := labtest.New(t)
	server, err := l.StartIronic(t.Context(), lab.IronicOptions{})
	e.Expect(err).NotTo(HaveOccurred())
	proxy := newNginxProxy(t, server, l.CAFile)
	doors, clients := authority(t, "doors"), authority(t, "clients")
	proxy.serve(t, doors, clients)
	proxy.start(t)
	dir := t.TempDir()
	files := credentials{filepath.Join(dir, "ca.crt"), filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")}
	files.write(t, doors, clients, 1)
	password := filepath.Join(dir, "password")
	e.Expect(os.WriteFile(password, []byte(server.Password), 0o600)).To(Succeed())
	config := ironic.Config{
		URL: proxy.url, CAFile: files.ca, CertFile: files.cert, KeyFile: files.key,
		Auth: ironic.Auth{Basic: &ironic.Basic{Username: server.User, PasswordFile: password}},
	}
	g, err := ironic.New(t.Context(), config)
	e.Expect(err).NotTo(HaveOccurred())
	n, err := g.Enrol(t.Context(), ironic.Enrolment{Name: "access~host", Driver: "redfish"})
	e.Expect(err).NotTo(HaveOccurred())

	for name, c := range map[string]struct {
		change func(*ironic.Config)
		want   string
	}{
		"without a client certificate":    {func(c *ironic.Config) { c.CertFile, c.KeyFile = "", "" }, "certificate"},
		"with the authority of another":   {func(c *ironic.Config) { c.CAFile = l.CAFile }, "unknown authority"},
		"without a password":              {func(c *ironic.Config) { c.Auth = ironic.Auth{} }, "refused our credentials"},
		"with a wrong password":           {func(c *ironic.Config) { c.Auth.Basic = &ironic.Basic{Username: server.User, Password: "guessed"} }, "refused our credentials"},
		"past the proxy, without a proxy": {func(c *ironic.Config) { c.URL = server.URL }, "unknown authority"},
	} {
		t.Run(name, func(t *testing.T) {
			e := NewWithT(t)
			changed := config
			c.change(&changed)
			other, err := ironic.New(t.Context(), changed)
			e.Expect(err).NotTo(HaveOccurred())
			_, err = other.Get(t.Context(), n.UUID)
			e.Expect(ironic.KindOf(err)).To(Equal(ironic.Unavailable))
			e.Expect(err).To(MatchError(MatchRegexp("(?i)"+regexp.QuoteMeta(c.want))), "%v", err)
		})
	}

	works := func() error { _, err := g.Get(t.Context(), n.UUID); return err }
	newDoors, newClients := authority(t, "new doors"), authority(t, "new clients")
	proxy.rotate(t, newDoors, newClients)
	e.Eventually(works, 20*time.Second, 100*time.Millisecond).ShouldNot(Succeed(), "the old certificates are refused")
	files.write(t, newDoors, newClients, 2)
	e.Eventually(works, 20*time.Second, 100*time.Millisecond).Should(Succeed(), "the new ones are read without a restart")

	hash, err := bcrypt.GenerateFromPassword([]byte("another password"), bcrypt.MinCost)
	e.Expect(err).NotTo(HaveOccurred())
	e.Expect(os.WriteFile(filepath.Join(server.Dir, "htpasswd"), fmt.Appendf(nil, "%s:%s\n", server.User, hash), 0o600)).To(Succeed())
	e.Eventually(works, 20*time.Second, 100*time.Millisecond).ShouldNot(Succeed(), "the old password is refused")
	e.Expect(os.WriteFile(password, []byte("another password"), 0o600)).To(Succeed())
	e.Eventually(works, 20*time.Second, 100*time.Millisecond).Should(Succeed(), "the new one is read without a restart")
}

// TestNoAuthentication reaches an Ironic that asks for nothing.
func TestNoAuthentication(t *testing.T) {
	e := NewWithT(t)
	l := labtest.New(t)
	server, err := l.StartIronic(t.Context(), lab.IronicOptions{Overrides: map[string]map[string]string{"DEFAULT": {"auth_strategy": "noauth"}}})
	e.Expect(err).NotTo(HaveOccurred())
	g, err := ironic.New(t.Context(), ironic.Config{URL: server.URL, CAFile: l.CAFile})
	e.Expect(err).NotTo(HaveOccurred())
	e.Expect(g.Ready(t.Context())).To(Succeed())
	n, err := g.Enrol(t.Context(), ironic.Enrolment{Name: "open~host", Driver: "redfish"})
	e.Expect(err).NotTo(HaveOccurred())
	e.Expect(g.Delete(t.Context(), n.UUID)).To(Succeed())
}
