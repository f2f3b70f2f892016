package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// errSilent ends a request that took too long.
var errSilent = errors.New("the BMC did not answer in time")

// exchange makes one request, unless the BMC shall be left alone.
func (c *channel) exchange(ctx context.Context, k call, as credential) (*Answer, error) {
	switch admission, wait := c.shared.breaker.admit(c.options.Now()); admission {
	case keepAway:
		return nil, c.silent(k, wait)
	case tryRoot:
		if err := c.tryRoot(ctx); err != nil {
			e, is := errors.AsType[*Error](err)
			if !is {
				return nil, err
			}
			if e.Kind == Unreachable {
				e.Message = "the BMC is silent: " + e.Error()
			}
			return nil, c.about(k, e)
		}
	case goOn:
	}
	done, err := c.enter(ctx, k)
	if err != nil {
		return nil, err
	}
	defer done()
	if wait, silent := c.shared.breaker.silent(c.options.Now()); silent { // while it stood in line
		return nil, c.silent(k, wait)
	}
	return c.send(ctx, k, as)
}

// enter waits until a request may be made: for its turn, and for room at the BMC. The returned
// function is called after it.
func (c *channel) enter(ctx context.Context, k call) (done func(), err error) {
	turns := k.turns
	if turns == nil {
		turns = c.turns
	}
	end, err := turns.take(ctx)
	if err != nil {
		return nil, c.ended(k, err, waitingForTurn)
	}
	out, err := acquire(ctx, c.shared.room)
	if err != nil {
		end()
		return nil, c.ended(k, err, waitingForTurn)
	}
	return func() { out(); end() }, nil
}

const waitingForTurn = "waiting for other requests to the BMC"

func (c *channel) silent(k call, wait time.Duration) error {
	return &Error{
		Kind: Unreachable, Method: k.method, Path: c.secrets.clean(k.path), RetryAfter: max(wait, 0),
		Message: fmt.Sprintf("the BMC at %s has not answered %d times: it is asked again in %s", c.at.address(), breakerMisses, max(wait, 0).Round(time.Second)),
	}
}

// tryRoot asks for the service root alone.
func (c *channel) tryRoot(ctx context.Context) error {
	defer c.shared.breaker.gaveUp() // nothing, when send came to a result
	k := call{method: http.MethodGet, path: rootPath}
	done, err := c.enter(ctx, k)
	if err != nil {
		return err
	}
	defer done()
	_, err = c.send(ctx, k, credential{})
	if e, is := errors.AsType[*Error](err); is && e.Status != 0 {
		return nil // any answer will do
	}
	return err
}

// send makes one request now.
func (c *channel) send(ctx context.Context, k call, as credential) (*Answer, error) {
	answer, err := c.try(ctx, k, as)
	c.options.Asked(KindOf(err))
	return answer, err
}

func (c *channel) try(ctx context.Context, k call, as credential) (*Answer, error) {
	limited, cancel := context.WithTimeoutCause(ctx, c.options.Timeout, errSilent)
	defer cancel()
	start := c.options.Now()
	request, err := c.request(limited, k, as)
	if err != nil {
		return nil, c.lost(ctx, k, err, start)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, c.lost(ctx, k, cause(limited, err), start)
	}
	defer response.Body.Close()
	c.seenDate(response.Header)
	body, err := c.readBody(response)
	if err != nil && (response.StatusCode < http.StatusBadRequest || !isReset(err)) {
		return nil, c.lost(ctx, k, cause(limited, err), start)
	}
	// Of an error the status says enough: an iDRAC 8 cuts the page that says that a session has ended.
	if c.shared.breaker.answered() {
		c.options.Log.Info("BMC answers again", "bmc", c.at.address())
	}
	return c.answer(k, as, response, body)
}

func (c *channel) request(ctx context.Context, k call, as credential) (*http.Request, error) {
	var body io.Reader = http.NoBody
	if k.body != nil {
		body = bytes.NewReader(k.body)
	}
	request, err := http.NewRequestWithContext(ctx, k.method, c.at.base()+k.path, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Accept-Encoding", "identity")
	request.Header.Set("OData-Version", "4.0") // without it an iLO 4 answers in a form of before Redfish
	request.Header.Set("User-Agent", "ironflow")
	if k.body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	maps.Copy(request.Header, k.header)
	as.apply(request.Header)
	return request, nil
}

// answer makes of a response a success or an error.
func (c *channel) answer(k call, as credential, response *http.Response, body []byte) (*Answer, error) {
	if response.StatusCode == http.StatusNotModified {
		return &Answer{Status: response.StatusCode, Header: response.Header}, nil
	}
	if response.StatusCode < http.StatusMultipleChoices {
		if looksLikeHTML(body) && !strings.Contains(response.Header.Get("Content-Type"), "xml") {
			return nil, c.failure(k, NotRedfish, response.StatusCode, "a web page came instead of a Redfish resource: is this the address of a BMC?")
		}
		answer := &Answer{Status: response.StatusCode, Header: response.Header, Body: body}
		answer.tidyLocation(c.at, k.login)
		return answer, nil
	}
	return nil, c.refused(k, k.login || as.basic, response.StatusCode, response.Header, body)
}

// refused makes an error of an answer that holds one.
func (c *channel) refused(k call, login bool, status int, header http.Header, body []byte) *Error {
	messages := messagesOf(body)
	kind, message := classify(status, login, messages)
	e := &Error{
		Kind: kind, Method: k.method, Path: k.path, Status: status, MessageID: message.ID, Message: message.Text, Args: message.Args,
		Resolution: message.Resolution, Messages: messages, RetryAfter: retryAfter(header, c.options.Now()),
	}
	if kind == PasswordChange && len(e.Args) > 0 {
		if path, err := c.at.path(e.Args[0]); err == nil {
			e.Args[0] = path
		}
	}
	if e.Message == "" {
		e.Message = strings.ToLower(http.StatusText(status))
	}
	c.redact(e, k.secrets)
	return e
}

func (c *channel) failure(k call, kind Kind, status int, text string) *Error {
	e := &Error{Kind: kind, Method: k.method, Path: k.path, Status: status, Message: text}
	c.redact(e, k.secrets)
	return e
}

// redact takes the secrets out of all texts of an error.
func (c *channel) redact(e *Error, more []string) {
	cleaned := c.secrets.cleaner(more...)
	clean := func(text *string) { *text = cleaned(*text) }
	cleanAll := func(texts []string) {
		for i := range texts {
			clean(&texts[i])
		}
	}
	for _, text := range []*string{&e.Path, &e.MessageID, &e.Message, &e.Resolution} {
		clean(text)
	}
	cleanAll(e.Args)
	for i := range e.Messages {
		m := &e.Messages[i]
		for _, text := range []*string{&m.ID, &m.Text, &m.Resolution, &m.Severity} {
			clean(text)
		}
		cleanAll(m.Args)
		cleanAll(m.Properties)
	}
	if e.cause != nil {
		if text := e.cause.Error(); cleaned(text) != text {
			e.cause = errors.New(cleaned(text)) // a BMC may send back what it got
		}
	}
}

// cause names why a context ended a request.
func cause(ctx context.Context, err error) error {
	if outer, is := errors.AsType[*url.Error](err); is {
		err = outer.Err // the URL is said already
	}
	if ctx.Err() != nil && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)) {
		return context.Cause(ctx)
	}
	return err
}

// patience is how long a BMC may be silent before its caller's leaving is held
// against it.
const patience = 10 * time.Second

// lost makes an error of a request that brought no answer, and tells the breaker.
func (c *channel) lost(ctx context.Context, k call, err error, start time.Time) error {
	e := &Error{Kind: Unreachable, Method: k.method, Path: k.path, cause: err}
	switch {
	case ctx.Err() != nil:
		if c.options.Now().Sub(start) >= patience {
			c.missed()
		}
	case errors.Is(err, errRedirect), errors.Is(err, errRedirectVerb), errors.Is(err, errRedirects),
		errors.Is(err, errTooLarge), errors.Is(err, errTooDeep), errors.Is(err, errBadGzip):
		e.Kind = Broken
		c.shared.breaker.answered()
	case isTLS(err):
		e.Kind = TLS
		e.Message = explainTLS(err)
		c.shared.breaker.answered()
	case isReset(err):
		e.reset = true
		e.Message = "the BMC broke the connection"
	case !isNetwork(err):
		e.Kind = Broken // an answer, but not of HTTP
		c.shared.breaker.answered()
	default:
		c.missed()
	}
	if inner, is := errors.AsType[interface {
		error
		Timeout() bool
	}](err); is && inner.Timeout() && e.Message == "" {
		e.Message = fmt.Sprintf("no answer from %s", c.at.address())
	}
	c.redact(e, k.secrets)
	return e
}

func (c *channel) missed() {
	if c.shared.breaker.missed(c.options.Now()) {
		c.options.Log.Warn("BMC is silent; only its service root is asked for now", "bmc", c.at.address())
	}
}

func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || strings.Contains(err.Error(), "server closed idle connection")
}

func isNetwork(err error) bool {
	_, network := errors.AsType[net.Error](err)
	return network || errors.Is(err, errSilent)
}

func isTLS(err error) bool {
	_, verification := errors.AsType[*tls.CertificateVerificationError](err)
	_, record := errors.AsType[tls.RecordHeaderError](err)
	_, alert := errors.AsType[tls.AlertError](err)
	text := err.Error()
	return verification || record || alert || errors.Is(err, errPin) || errors.Is(err, http.ErrSchemeMismatch) ||
		strings.Contains(text, "remote error: tls:") || strings.Contains(text, "tls: ")
}

// explainTLS says what to do about a certificate.
func explainTLS(err error) string {
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, name := errors.AsType[x509.HostnameError](err)
	invalid, is := errors.AsType[x509.CertificateInvalidError](err)
	switch {
	case unknown:
		return "the BMC's certificate is of an authority that is not trusted: give its CA or its pin, or do not verify it"
	case name:
		return "the BMC's certificate is not for this address: " + line(err.Error())
	case is && invalid.Reason == x509.Expired:
		return "the BMC's certificate is not valid now: renew it, or set the clock right: " + line(invalid.Error())
	}
	return ""
}

// longestWish bounds what a BMC may ask for.
const longestWish = time.Hour

// retryAfter reads the header of that name: seconds, or a date.
func retryAfter(header http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(header.Get("Retry-After"))
	var wait time.Duration
	if seconds, err := strconv.ParseInt(value, 10, 32); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(value); err == nil {
		wait = at.Sub(now)
	}
	return min(max(wait, 0), longestWish)
}

func bodyTag(body []byte) string {
	var t tagged
	if json.Unmarshal(body, &t) != nil {
		return ""
	}
	return string(t.Tag)
}
