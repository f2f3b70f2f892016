// Package console is the dialogue on a host's first terminal: can this host reach the
// registry of the release that it will install? Where it can, the dialogue ends by itself;
// where it cannot, it says how far it came, and lets a person give an interface another
// address. It needs no more than a terminal of 80x24 that knows ANSI. The main type is
// [Program].
package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// Result is how far a check came.
type Result struct {
	// Release is the image, Sources where it may come from.
	Release string
	Sources []Source
	// Steps are what was tried, in order; the last one may have failed.
	Steps []Step
}

// Step is one part of a check.
type Step struct {
	What string
	// Err is why it failed; nil for success.
	Err error
}

// OK tells whether one of the sources answers.
func (r Result) OK() bool {
	return len(r.Steps) > 0 && r.Steps[len(r.Steps)-1].Err == nil
}

// checkTime bounds a step of a check.
const checkTime = 10 * time.Second

// Registry checks the way to a registry: its name, its port, its answer. A registry that
// wants a password has answered.
type Registry struct {
	// HTTP is the client, Insecure that for registries without a valid certificate; their
	// transports know the host's proxies.
	HTTP, Insecure *http.Client
	// Resolve and Dial are the net package's, unless a test has its own.
	Resolve func(ctx context.Context, host string) ([]string, error)
	Dial    func(ctx context.Context, network, address string) (net.Conn, error)
}

// Check tries one source after the other, until one answers.
func (r Registry) Check(ctx context.Context, image string, sources []Source) Result {
	result := Result{Release: image, Sources: sources}
	for _, s := range sources {
		result.Steps = append(result.Steps, r.source(ctx, s)...)
		if result.OK() {
			break
		}
	}
	return result
}

// source tries step by step and stops at the first that fails. With a proxy in between, the
// proxy does the first two.
func (r Registry) source(ctx context.Context, s Source) (steps []Step) {
	step := func(what string, try func(ctx context.Context) error) bool {
		ctx, cancel := context.WithTimeoutCause(ctx, checkTime, errors.New("no answer in 10 s"))
		defer cancel()
		err := try(ctx)
		if cause := context.Cause(ctx); err != nil && cause != nil {
			err = cause
		}
		steps = append(steps, Step{what, err})
		return err == nil
	}
	client := r.HTTP
	if s.Insecure {
		client = r.Insecure
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+s.Registry+"/v2/", http.NoBody)
	if err != nil {
		return []Step{{"read the name of the registry " + s.Registry, err}}
	}
	if !proxied(client, request) {
		host, port := request.URL.Hostname(), request.URL.Port()
		if port == "" {
			port = "443"
		}
		if net.ParseIP(host) == nil && !step("look up "+host, func(ctx context.Context) error {
			_, err := r.Resolve(ctx, host)
			return err
		}) {
			return steps
		}
		if !step("connect to "+net.JoinHostPort(host, port), func(ctx context.Context) error {
			connection, err := r.Dial(ctx, "tcp", net.JoinHostPort(host, port))
			if err == nil {
				err = connection.Close()
			}
			return err
		}) {
			return steps
		}
	}
	step("ask "+request.URL.String(), func(ctx context.Context) error { return ask(client, request.WithContext(ctx)) })
	if s.Insecure && steps[len(steps)-1].Err != nil { // such a registry may speak without TLS
		request.URL.Scheme = "http"
		step("ask "+request.URL.String(), func(ctx context.Context) error { return ask(client, request.WithContext(ctx)) })
	}
	return steps
}

func proxied(client *http.Client, request *http.Request) bool {
	transport, ok := client.Transport.(*http.Transport)
	if !ok || transport.Proxy == nil {
		return false
	}
	proxy, err := transport.Proxy(request)
	return err == nil && proxy != nil
}

func ask(client *http.Client, request *http.Request) error {
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusUnauthorized {
		return fmt.Errorf("it answers %s: this is no registry of images", answer.Status)
	}
	return nil
}
