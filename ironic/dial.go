package ironic

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/noauth"
)

// dialing is one attempt to authenticate and negotiate, shared by all callers
// that wait for it.
type dialing struct {
	done   chan struct{}
	client *gophercloud.ServiceClient
	err    error
}

// service returns the client with its negotiated microversion, negotiating
// first when that has not succeeded yet.
func (g *Gateway) service(ctx context.Context) (*gophercloud.ServiceClient, error) {
	g.mu.Lock()
	if g.client != nil {
		defer g.mu.Unlock()
		return g.client, nil
	}
	d := g.dial
	if d == nil {
		d = &dialing{done: make(chan struct{})}
		g.dial = d
		// Detached from the first caller's context: others wait for it as well.
		go g.negotiate(context.WithoutCancel(ctx), d)
	}
	g.mu.Unlock()
	select {
	case <-d.done:
		return d.client, d.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// forget drops the negotiated client, so that the next call authenticates and
// negotiates again: after refused credentials, or when the server was replaced
// by one that speaks another version.
func (g *Gateway) forget(c *gophercloud.ServiceClient) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.client == c {
		g.client = nil
	}
}

func (g *Gateway) negotiate(ctx context.Context, d *dialing) {
	ctx, cancel := context.WithTimeoutCause(ctx, g.config.Timeout, g.timeoutCause())
	defer cancel()
	client, minor, err := g.dialNow(ctx)
	g.mu.Lock()
	defer g.mu.Unlock()
	d.client, d.err = client, err
	if err == nil {
		g.client, g.minor = client, minor
		g.metrics.version.WithLabelValues(g.config.Name).Set(float64(minor))
	}
	g.dial = nil
	close(d.done)
}

func (g *Gateway) timeoutCause() error {
	return fmt.Errorf("no answer within %s", g.config.Timeout)
}

// dialNow authenticates where needed and reads the API root once.
func (g *Gateway) dialNow(ctx context.Context) (*gophercloud.ServiceClient, int, error) {
	client, err := g.newClient(ctx)
	if err != nil {
		return nil, 0, err
	}
	var root struct {
		Version struct {
			Min string `json:"min_version"`
			Max string `json:"version"`
		} `json:"version"`
		Default struct {
			Min string `json:"min_version"`
			Max string `json:"version"`
		} `json:"default_version"`
	}
	if _, err := client.Get(ctx, client.Endpoint, &root, nil); err != nil { //nolint:bodyclose // closed by the client, which decodes it
		return nil, 0, err
	}
	if root.Version.Max == "" {
		root.Version = root.Default
	}
	minor, err := chooseMinor(root.Version.Min, root.Version.Max)
	if err != nil {
		return nil, 0, err
	}
	client.Microversion = fmt.Sprintf("1.%d", minor)
	return client, minor, nil
}

// newClient builds a client for the configured authentication. Basic
// authentication is added by the transport, so that it can be reloaded.
func (g *Gateway) newClient(ctx context.Context) (*gophercloud.ServiceClient, error) {
	if g.config.Auth.Keystone != nil {
		return g.keystoneClient(ctx)
	}
	client, err := noauth.NewBareMetalNoAuth(noauth.EndpointOpts{IronicEndpoint: g.config.URL})
	if err != nil {
		return nil, err
	}
	client.HTTPClient = *g.http
	client.UserAgent.Prepend(userAgent)
	return client, nil
}

const userAgent = "ironflow"

// keystoneClient authenticates and finds the endpoint in the catalog, unless
// the configuration names it.
func (g *Gateway) keystoneClient(ctx context.Context) (*gophercloud.ServiceClient, error) {
	k := g.config.Auth.Keystone
	password, err := g.redactor.file(k.PasswordFile, k.Password)
	if err != nil {
		return nil, err
	}
	provider, err := openstack.NewClient(k.URL)
	if err != nil {
		return nil, err
	}
	provider.HTTPClient = http.Client{Transport: g.http.Transport, CheckRedirect: sameHostRedirect}
	provider.UserAgent.Prepend(userAgent)
	if err := openstack.Authenticate(ctx, provider, k.options(password)); err != nil {
		return nil, fmt.Errorf("authenticate at Keystone: %w", err)
	}
	availability := gophercloud.AvailabilityPublic
	if k.EndpointVisibility != "" {
		availability = gophercloud.Availability(k.EndpointVisibility)
	}
	if g.config.URL != "" {
		return &gophercloud.ServiceClient{ProviderClient: provider, Endpoint: g.config.URL, Type: "baremetal"}, nil
	}
	client, err := openstack.NewBareMetalV1(provider, gophercloud.EndpointOpts{Region: k.Region, Availability: availability})
	if err != nil {
		return nil, fmt.Errorf("find the bare metal service in Keystone's catalog: %w", err)
	}
	endpoint, err := endpointURL(client.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("bare metal service in Keystone's catalog: %w", err)
	}
	client.Endpoint, client.ResourceBase = endpoint, ""
	return client, nil
}

// options translates the configuration for the identity client.
func (k *Keystone) options(password Secret) gophercloud.AuthOptions {
	domain := k.UserDomain
	if domain == "" {
		domain = "Default"
	}
	o := gophercloud.AuthOptions{IdentityEndpoint: strings.TrimRight(k.URL, "/") + "/", AllowReauth: true}
	if k.ApplicationID != "" {
		o.ApplicationCredentialID = k.ApplicationID
		o.ApplicationCredentialSecret = string(k.ApplicationSecret)
		return o
	}
	o.Username, o.Password, o.DomainName = k.Username, string(password), domain
	switch {
	case k.System:
		o.Scope = &gophercloud.AuthScope{System: true}
	case k.Project != "":
		scopeDomain := k.ProjectDomain
		if scopeDomain == "" {
			scopeDomain = domain
		}
		o.Scope = &gophercloud.AuthScope{ProjectName: k.Project, DomainName: scopeDomain}
	}
	return o
}
