package selfcheck

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ironflow/ironflow/ironic"
)

// Published is an address that is published to machines or BMCs.
type Published struct {
	// Flag sets it, Whom says who reaches what by it.
	Flag, Whom string
	URL        string
	// ByIronic: Ironic itself fetches from there, too.
	ByIronic bool
}

// shown is how it is set, without credentials, which a proxy for BMCs may ask for.
func (p Published) shown() string { return "--" + p.Flag + " " + ironic.Redact(p.URL) }

// answerWithin is how long a published address may take.
const answerWithin = 5 * time.Second

// Loopback names the published addresses that only this machine reaches: fine in a laboratory,
// wrong elsewhere.
func Loopback(published []Published) Check {
	return Check{"addresses", func(context.Context) (findings []Finding) {
		var list []string
		for _, p := range published {
			if u, err := url.Parse(p.URL); err == nil && isLoopback(u.Hostname()) {
				findings = append(findings, doubtful(fmt.Sprintf("--%s is %s, which only this machine reaches", p.Flag, ironic.Redact(p.URL)), "set it to a URL by which "+p.Whom+" (docs/install.md)")...)
				continue
			}
			list = append(list, ironic.Redact(p.URL))
		}
		if len(findings) == 0 {
			return good("published: " + strings.Join(list, ", "))
		}
		return findings
	}}
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Answers asks each address from here, which is worth most on a machine in the network of the
// BMCs. Certificates are not verified: machines have the CA with their live image.
func Answers(published []Published) Check {
	client := &http.Client{
		Timeout: answerWithin,
		Transport: &http.Transport{
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // whether somebody answers is asked, nothing is believed
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return Check{"reachable", func(ctx context.Context) (findings []Finding) {
		defer client.CloseIdleConnections()
		for _, p := range published {
			if err := answers(ctx, client, p.URL); err != nil {
				findings = append(findings, wrong(fmt.Sprintf("%s: from here, Ironflow does not answer: %s", p.shown(), ironic.Redact(err.Error())),
					"look at the Service, load balancer or ingress and at firewalls; where only this machine cannot reach it, run `ironflow check` in the network of the BMCs, or leave it out by --skip reachable")...)
			}
		}
		if len(findings) == 0 {
			return good(fmt.Sprintf("all %d published addresses answer from here", len(published)))
		}
		return findings
	}}
}

// answers asks for /health, which hub and image server have.
func answers(ctx context.Context, client *http.Client, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(address, "/")+"/health", nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			return u.Err
		}
		return err
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<16))
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET /health: %s", response.Status)
	}
	return nil
}
