package coreos

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/ironflow/ironflow/api/hostfile"
)

// relay hands the image from its server to coreos-installer over loopback, so
// that TLS is checked with our CA and the digest on the way: coreos-installer
// can do neither. The last bytes are held back until the digest is right; with
// a wrong one the connection breaks, and no complete image is ever written.
type relay struct {
	url  string
	plan Plan

	client   *http.Client
	server   *http.Server
	listener net.Listener

	mu  sync.Mutex
	err error
}

// imagePath is where the image is. There is nothing else: coreos-installer asks
// for a signature beside it, which it can do without.
const imagePath = "/image"

// holdBack is how much is kept until the digest is known.
const holdBack = 64 << 10

// newRelay listens on loopback and serves the plan's image.
func newRelay(plan Plan, host hostfile.Dir) (*relay, error) {
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if pem, err := os.ReadFile(host.Path(hostfile.IronicCA)); err == nil {
		pool.AppendCertsFromPEM(pem)
	}
	r := &relay{plan: plan, client: &http.Client{Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		TLSClientConfig:       &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:   30 * time.Second,
		ResponseHeaderTimeout: time.Minute,
		DisableCompression:    true,
	}}}
	if r.listener, err = new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	r.url = "http://" + r.listener.Addr().String() + imagePath
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: time.Minute}
	go func() { _ = r.server.Serve(r.listener) }()
	return r, nil
}

func (r *relay) close() { _ = r.server.Close() }

// failure is what went wrong on the image's side, if anything did.
func (r *relay) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

func (r *relay) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.URL.Path != imagePath {
		http.NotFound(w, req)
		return
	}
	err := r.copy(req.Context(), w)
	r.mu.Lock()
	r.err = err
	r.mu.Unlock()
	if err != nil {
		panic(http.ErrAbortHandler) //nolint:forbidigo // the documented way to break the connection: the reader must not take this for an end
	}
}

// open asks the server for the image. Errors name the server and the path only:
// the rest of the URL may be secret, and errors end up in Ironic.
func (r *relay) open(ctx context.Context) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.plan.ImageURL, nil)
	if err != nil {
		return nil, errors.New("fetch the image: the URL cannot be used")
	}
	resp, err := r.client.Do(req)
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	if err != nil {
		return nil, fmt.Errorf("fetch the image from %s: %w", public(req.URL), err)
	}
	if resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("fetch the image: %s answers %s", public(req.URL), resp.Status)
	}
	return resp, nil
}

// probe tells whether the server has the image, without reading it.
func (r *relay) probe(ctx context.Context) error {
	resp, err := r.open(ctx)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

func (r *relay) copy(ctx context.Context, w http.ResponseWriter) error {
	resp, err := r.open(ctx)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.ContentLength >= 0 {
		w.Header().Set("Content-Length", fmt.Sprint(resp.ContentLength))
	}
	sum := r.plan.hash()
	held := make([]byte, 0, 2*holdBack)
	buf := make([]byte, holdBack)
	for {
		n, err := resp.Body.Read(buf)
		sum.Write(buf[:n])
		held = append(held, buf[:n]...)
		if extra := len(held) - holdBack; extra > 0 {
			if _, err := w.Write(held[:extra]); err != nil {
				return fmt.Errorf("coreos-installer stopped reading: %w", err)
			}
			held = append(held[:0], held[extra:]...)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("fetch the image from %s: %w", public(resp.Request.URL), err)
		}
	}
	if got := hex.EncodeToString(sum.Sum(nil)); r.plan.HashValue != "" && got != r.plan.HashValue {
		return fmt.Errorf("the image's %s is %s, not %s as asked for", r.plan.HashAlgo, got, r.plan.HashValue)
	}
	_, err = w.Write(held)
	return err
}

func (p Plan) hash() hash.Hash {
	if p.HashAlgo == "sha512" {
		return sha512.New()
	}
	return sha256.New()
}
