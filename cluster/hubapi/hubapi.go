// Package hubapi is the hub's REST API v2 as the program inside a cluster uses it: it
// reads the cluster and its hosts, and reports. Each call has a deadline and bounded
// bodies; nothing is retried here. The main type is [Client].
package hubapi

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ironflow/ironflow/cluster/facts"
	"github.com/ironflow/ironflow/cluster/jsonstream"
	"github.com/ironflow/ironflow/hub/wire"
)

const (
	prefix          = "/api/assisted-install/v2"
	exchangeTimeout = 2 * time.Minute
	uploadTimeout   = 10 * time.Minute
	// maxBody is that of an answer, maxHost that of one of many hosts in it, whose inventory may have some MiB.
	maxBody   = 4 << 20
	maxHost   = 32 << 20
	maxReason = 512
	// maxRetryAfter bounds how long a hub may ask to be left alone.
	maxRetryAfter = 5 * time.Minute
)

// Options say how to reach the hub.
type Options struct {
	URL, ClusterID string
	// Token is the agents' secret, TokenFile a file with it, which is read again when
	// the hub refuses the one that was read. Both may be empty.
	Token, TokenFile string
	// CAFile is a PEM bundle to trust besides the system's; it may be empty or missing.
	CAFile   string
	Insecure bool
	// Version is sent with each call.
	Version string
}

// Client calls one hub about one cluster. It is safe for concurrent use.
type Client struct {
	base, cluster string
	options       Options
	token         atomic.Pointer[string]
	http          *http.Client
	// Requests counts requests by status code, 0 for none; nil counts nothing.
	Requests func(code int)
}

// StatusError is an answer that is not the expected one.
type StatusError struct {
	Method, Path string
	Code         int
	Reason       string
	// RetryAfter is how long the hub asks to be left alone.
	RetryAfter time.Duration
}

// Error implements error.
func (e *StatusError) Error() string {
	return strings.TrimSuffix(fmt.Sprintf("the hub answered %d %s to %s %s: %s", e.Code, http.StatusText(e.Code), e.Method, e.Path, e.Reason), ": ")
}

// Code is the status of the answer that err wraps; 0 when there was none.
func Code(err error) int {
	if status, ok := errors.AsType[*StatusError](err); ok {
		return status.Code
	}
	return 0
}

// New checks the options and opens no connection.
func New(o Options) (*Client, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return nil, fmt.Errorf("the hub's URL %q: want http(s)://HOST[:PORT][/PREFIX]", o.URL)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: o.Insecure} //nolint:gosec // who asks for it is told in the documentation
	if config.RootCAs, err = roots(o.CAFile); err != nil {
		return nil, err
	}
	c := &Client{base: strings.TrimSuffix(u.String(), "/") + prefix, cluster: url.PathEscape(o.ClusterID), options: o}
	c.http = &http.Client{
		Transport: &http.Transport{
			Proxy:           http.ProxyFromEnvironment,
			DialContext:     (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			TLSClientConfig: config, TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: time.Minute,
			ForceAttemptHTTP2: true, MaxIdleConns: 2, IdleConnTimeout: time.Minute,
		},
		// The token would follow a redirect to any host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, c.ReloadToken()
}

func roots(file string) (*x509.CertPool, error) {
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // an image without certificates
	}
	if file == "" {
		return pool, nil
	}
	raw, err := os.ReadFile(file)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return pool, nil
	case err != nil:
		return nil, fmt.Errorf("the hub's CA: %w", err)
	case len(bytes.TrimSpace(raw)) > 0 && !pool.AppendCertsFromPEM(raw):
		return nil, fmt.Errorf("the hub's CA: %s has no certificate in PEM", file)
	}
	return pool, nil
}

// ReloadToken reads the file with the token again.
func (c *Client) ReloadToken() error {
	token := c.options.Token
	if c.options.TokenFile != "" {
		raw, err := os.ReadFile(c.options.TokenFile)
		if err != nil {
			return fmt.Errorf("the hub's token: %w", err)
		}
		token = strings.TrimSpace(string(raw))
	}
	c.token.Store(&token)
	return nil
}

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Cluster reads the cluster without its hosts.
func (c *Client) Cluster(ctx context.Context) (facts.Cluster, error) {
	var w wire.Cluster
	err := c.json(ctx, http.MethodGet, "/clusters/"+c.cluster+"?exclude-hosts=true", nil, http.StatusOK, &w)
	return clusterOf(w), err
}

// Hosts reads the cluster's hosts, one after the other: a cluster of hundreds with
// their inventories is larger than what this program may hold. A list without its end is none:
// the hub breaks it off when it ends, or cannot read on, while it sends it.
func (c *Client) Hosts(ctx context.Context) ([]facts.Host, error) {
	ctx, cancel := context.WithTimeout(ctx, exchangeTimeout)
	defer cancel()
	path := "/clusters/" + c.cluster + "/hosts?with-inventory=true"
	answer, err := c.send(ctx, http.MethodGet, path, nil, "", http.StatusOK)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	out, err := readHosts(answer.Body)
	if err != nil {
		return nil, fmt.Errorf("the hub's answer to GET %s cannot be read: %w", path, err)
	}
	return out, nil
}

// readHosts decodes a list as it comes.
func readHosts(body io.Reader) ([]facts.Host, error) {
	in := jsonstream.New(body, maxHost)
	if err := in.Expect(json.Delim('[')); err != nil {
		return nil, err
	}
	out := []facts.Host{}
	err := in.Items(func() error {
		var h host
		err := in.Decode(&h)
		out = append(out, h.facts())
		return err
	})
	return out, err
}

// Progress reports a host's stage.
func (c *Client) Progress(ctx context.Context, h facts.Host, stage wire.HostStage) error {
	path := "/infra-envs/" + url.PathEscape(h.InfraEnvID) + "/hosts/" + url.PathEscape(h.ID) + "/progress"
	return c.json(ctx, http.MethodPut, path, wire.HostProgress{CurrentStage: stage}, http.StatusOK, nil)
}

// Signing tells of a signing request of the host's kubelet: that it was approved or, with an error, that it
// could not be. Hubs that do not know what this is take it for an event like any, or refuse it.
func (c *Client) Signing(ctx context.Context, h facts.Host, p wire.SigningProps) error {
	props, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("encode the event of signing request %s: %w", p.Request, err)
	}
	e := wire.Event{
		Name: wire.EventSigningApproved, Severity: wire.EventSeverityInfo, Message: "signing request " + p.Request + " approved", EventTime: p.At,
		ClusterID: &c.options.ClusterID, InfraEnvID: &h.InfraEnvID, HostID: &h.ID, Props: string(props),
	}
	if p.Error != "" {
		e.Name, e.Severity, e.Message = wire.EventSigningFailed, wire.EventSeverityWarning, "signing request "+p.Request+" not approved: "+p.Error
	}
	return c.json(ctx, http.MethodPost, "/events", e, http.StatusCreated, nil)
}

// Stage reports the finalizing stage.
func (c *Client) Stage(ctx context.Context, stage wire.FinalizingStage) error {
	return c.json(ctx, http.MethodPut, "/clusters/"+c.cluster+"/progress", wire.ClusterFinalizingProgress{FinalizingStage: stage}, http.StatusOK, nil)
}

// Operator reports an operator.
func (c *Client) Operator(ctx context.Context, r wire.OperatorMonitorReport) error {
	return c.json(ctx, http.MethodPut, "/clusters/"+c.cluster+"/monitored-operators", r, http.StatusOK, nil)
}

// IngressCA uploads the authority of the cluster's routes.
func (c *Client) IngressCA(ctx context.Context, pem string) error {
	return c.json(ctx, http.MethodPost, "/clusters/"+c.cluster+"/uploads/ingress-cert", pem, http.StatusCreated, nil)
}

// Complete says that the installation is at its end.
func (c *Client) Complete(ctx context.Context, p wire.CompletionParams) error {
	return c.json(ctx, http.MethodPost, "/clusters/"+c.cluster+"/actions/complete-installation", p, http.StatusAccepted, nil)
}

// LogsProgress reports how far the collection of logs is.
func (c *Client) LogsProgress(ctx context.Context, state wire.LogsState) error {
	return c.json(ctx, http.MethodPut, "/clusters/"+c.cluster+"/logs-progress", wire.LogsProgressParams{LogsState: state}, http.StatusNoContent, nil)
}

// UploadLogs streams an archive that write makes.
func (c *Client) UploadLogs(ctx context.Context, name string, write func(io.Writer) error) error {
	ctx, cancel := context.WithTimeout(ctx, uploadTimeout)
	defer cancel()
	reader, writer := io.Pipe()
	form := multipart.NewWriter(writer)
	done := make(chan struct{})
	go func() {
		defer close(done)
		part, err := form.CreateFormFile("upfile", name)
		if err == nil {
			err = write(part)
		}
		if err == nil {
			err = form.Close()
		}
		_ = writer.CloseWithError(err) // never fails
	}()
	answer, err := c.send(ctx, http.MethodPost, "/clusters/"+c.cluster+"/logs?logs_type=controller", reader, form.FormDataContentType(), http.StatusNoContent)
	_ = reader.CloseWithError(io.ErrClosedPipe) // frees the writer when the hub hung up early
	<-done
	if err == nil {
		_ = answer.Body.Close()
	}
	return err
}

func (c *Client) json(ctx context.Context, method, path string, in any, want int, out any) error {
	ctx, cancel := context.WithTimeout(ctx, exchangeTimeout)
	defer cancel()
	var body io.Reader
	contentType := ""
	if in != nil {
		raw, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("encode the request %s %s: %w", method, path, err)
		}
		body, contentType = bytes.NewReader(raw), "application/json"
	}
	answer, err := c.send(ctx, method, path, body, contentType, want)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(answer.Body, maxBody+1))
	switch {
	case err != nil:
		return fmt.Errorf("the hub did not finish its answer to %s %s: %w", method, path, err)
	case out == nil:
		return nil
	case len(raw) > maxBody:
		return fmt.Errorf("the hub's answer to %s %s is larger than %d MiB", method, path, maxBody>>20)
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("the hub's answer to %s %s cannot be read: %w", method, path, err)
	}
	return nil
}

// send makes one request; any other status than want is a [StatusError].
func (c *Client) send(ctx context.Context, method, path string, body io.Reader, contentType string, want int) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	r.Header.Set("Accept", "application/json")
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	if c.options.Version != "" {
		r.Header.Set(wire.HeaderAgentVersion, c.options.Version)
	}
	if token := *c.token.Load(); token != "" {
		r.Header.Set(wire.HeaderAgentToken, token)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		c.count(0)
		if inner, ok := errors.AsType[*url.Error](err); ok {
			err = inner.Err
		}
		return nil, fmt.Errorf("the hub does not answer (%s %s): %w", method, path, err)
	}
	c.count(answer.StatusCode)
	if answer.StatusCode == want {
		return answer, nil
	}
	defer answer.Body.Close()
	raw, _ := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	status := &StatusError{Method: method, Path: path, Code: answer.StatusCode, Reason: reasonOf(raw)}
	if s, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil && s > 0 {
		status.RetryAfter = min(time.Duration(s)*time.Second, maxRetryAfter)
	}
	return nil, status
}

func (c *Client) count(code int) {
	if c.Requests != nil {
		c.Requests(code)
	}
}

// reasonOf finds the text for people in an error's body, in one bounded line.
func reasonOf(raw []byte) string {
	var told struct{ Reason, Message string }
	text := string(raw)
	if json.Unmarshal(raw, &told) == nil && told.Reason+told.Message != "" {
		text = told.Reason + told.Message
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason], "") + " …"
	}
	return text
}
