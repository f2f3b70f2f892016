// Package s3server starts a real server that speaks S3 for tests: versitygw, over
// TLS, in a folder of its own. Between it and the test is a wire that the test
// can break: the server is then away, hangs, or breaks off in the middle of a
// transfer. The main type is [Server].
package s3server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ironflow/ironflow/hub/pki"
	"github.com/ironflow/ironflow/test/needs"
)

// The server's only account. It is no secret: the server ends with its test.
const (
	AccessKey = "tester"
	SecretKey = "only-for-tests"
)

// Bucket exists in every server.
const Bucket = "ironflow"

// startTime bounds the start of the server.
const startTime = 2 * time.Minute

// Server is a running server with one empty bucket.
type Server struct {
	// URL is its endpoint, behind the wire.
	URL string
	// CAFile holds the certificate that it is trusted for.
	CAFile string
	// CredentialsFile holds its account in the format of AWS's shared credentials file.
	CredentialsFile string
	// Objects is the folder of the bucket: each object is a file in it.
	Objects string
	*wire
}

// New starts a server, which ends with the test. Without the program the test is
// skipped; in CI it fails.
func New(t testing.TB) *Server {
	t.Helper()
	program := needs.S3Server(t)
	dir, err := os.MkdirTemp("", "ironflow-s3-") //nolint:usetesting // short: the path of a socket is bounded
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &Server{Objects: filepath.Join(dir, "data", Bucket), CredentialsFile: filepath.Join(dir, "credentials")}
	for _, folder := range []string{s.Objects, filepath.Join(dir, "metadata")} {
		must(t, os.MkdirAll(folder, 0o700))
	}
	must(t, os.WriteFile(s.CredentialsFile, Credentials(AccessKey, SecretKey), 0o600))
	certificate, err := pki.Ensure(filepath.Join(dir, "tls"), []string{"127.0.0.1"}, time.Now())
	must(t, err)
	s.CAFile = certificate.CA

	socket := filepath.Join(dir, "s3")
	log, err := os.Create(filepath.Join(dir, "log"))
	must(t, err)
	defer log.Close()
	process := exec.CommandContext(context.Background(), program, "--port", socket, "--cert", certificate.Cert, "--key", certificate.Key, "--quiet",
		"posix", "--sidecar", filepath.Join(dir, "metadata"), filepath.Join(dir, "data"))
	process.Env = []string{"ROOT_ACCESS_KEY=" + AccessKey, "ROOT_SECRET_KEY=" + SecretKey, "HOME=" + dir}
	process.Dir, process.Stdout, process.Stderr = dir, log, log
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	exited := start(t, process)

	s.wire = newWire(t, socket)
	s.URL = "https://" + s.address()
	t.Cleanup(func() {
		s.close()
		_ = process.Process.Kill()
		<-exited
	})
	s.wait(t, exited, log.Name())
	return s
}

// Credentials is a shared credentials file with the account.
func Credentials(access, secret string) []byte {
	return []byte("[default]\naws_access_key_id = " + access + "\naws_secret_access_key = " + secret + "\n")
}

// Client trusts the server, for requests that no library makes.
func (s *Server) Client(t testing.TB) *http.Client {
	t.Helper()
	raw, err := os.ReadFile(s.CAFile)
	must(t, err)
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(raw)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// start starts the process, and keeps the thread that did: the signal at its
// parent's death comes when that thread ends.
func start(t testing.TB, process *exec.Cmd) <-chan struct{} {
	t.Helper()
	started, exited := make(chan error), make(chan struct{})
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(exited)
		err := process.Start()
		started <- err
		if err == nil {
			_ = process.Wait()
		}
	}()
	must(t, <-started)
	return exited
}

// wait returns when the server answers.
func (s *Server) wait(t testing.TB, exited <-chan struct{}, log string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTime)
	defer cancel()
	client := s.Client(t)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, http.NoBody)
		must(t, err)
		answer, err := client.Do(r)
		if err == nil {
			_ = answer.Body.Close()
			return
		}
		select {
		case <-tick.C:
			continue
		case <-exited:
		case <-ctx.Done():
		}
		said, _ := os.ReadFile(log)
		t.Fatalf("the S3 server does not answer: %v; it said: %s", err, strings.TrimSpace(string(said)))
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// dial reaches the server itself.
func dial(socket string) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(context.Background(), "unix", socket)
}
