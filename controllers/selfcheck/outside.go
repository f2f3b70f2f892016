package selfcheck

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ironflow/ironflow/ironic/urlcheck"
)

// AskedIronic is an Ironic that looks at published addresses from where it runs, outside of Ironflow.
type AskedIronic struct {
	// Who it is, for people.
	Who string
	// Ask returns an answer for each URL; see [urlcheck.Ask].
	Ask func(ctx context.Context, urls []string) ([]urlcheck.Answer, error)
}

// Outside asks each Ironic whether it reaches the published addresses. It is the only check that writes something: a node
// of Ironic's, for as long as it is asked. An Ironic that does not say, such as one that is away, is no fault here.
func Outside(list []AskedIronic, published []Published) Check {
	return Check{"outside", func(ctx context.Context) (findings []Finding) {
		all := make([][]Finding, len(list))
		var asking sync.WaitGroup
		for i, one := range list {
			asking.Go(func() { all[i] = one.look(ctx, published) })
		}
		asking.Wait()
		for _, some := range all {
			findings = append(findings, some...)
		}
		return findings
	}}
}

// look asks for what Ironic itself fetches from first: an Ironic that waits long for one address may not come to the next.
func (i AskedIronic) look(ctx context.Context, published []Published) (findings []Finding) {
	published = slices.SortedStableFunc(slices.Values(published), func(a, b Published) int { return before(a.ByIronic, b.ByIronic) })
	urls := make([]string, len(published))
	for n, p := range published {
		urls[n] = p.URL
	}
	answers, err := i.Ask(ctx, urls)
	for n, a := range answers {
		findings = append(findings, i.found(published[n], a)...)
	}
	if err == nil {
		return findings
	}
	why := strings.ReplaceAll(err.Error(), "\n", "; ")
	switch rest := published[len(answers):]; {
	case errors.Is(err, urlcheck.ErrLeft):
		findings = append(findings, doubtful(i.Who+": "+why, "or delete it yourself: baremetal node delete "+urlcheck.NodeName)...)
	case len(rest) == 0:
		findings = append(findings, doubtful(i.Who+": "+why, "look at Ironic's log")...)
	default:
		findings = append(findings, good(fmt.Sprintf("%s was not asked whether it reaches %s: %s", i.Who, flags(rest, len(answers) == 0), why))...)
	}
	return findings
}

// before puts what is true first.
func before(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	default:
		return 1
	}
}

// flags names what sets the addresses that were not asked about.
func flags(published []Published, all bool) string {
	if all {
		return "us"
	}
	var list []string
	for _, p := range published {
		list = append(list, "--"+p.Flag)
	}
	return strings.Join(list, " and ")
}

// found puts an answer in words. What Ironic does not fetch itself, it need not reach.
func (i AskedIronic) found(p Published, a urlcheck.Answer) []Finding {
	address := p.shown()
	say := func(text, next string) []Finding {
		if p.ByIronic {
			return wrong(text, next)
		}
		return doubtful(text, next)
	}
	switch a.Verdict {
	case urlcheck.Reached:
		return good(fmt.Sprintf("%s reaches %s", i.Who, address))
	case urlcheck.Unreached:
		return say(fmt.Sprintf("%s does not reach %s: %s", i.Who, address, a.Text),
			"look at the Service, load balancer or ingress, and at routes and firewalls between Ironic and it; if only machines reach this address, leave the check out by --skip outside")
	case urlcheck.Other:
		return say(fmt.Sprintf("for %s, another server than Ironflow answers at %s: %s", i.Who, address, a.Text), "set it to a URL by which "+p.Whom+", or mend the load balancer or ingress")
	case urlcheck.Untrusted:
		if !p.ByIronic {
			return good(fmt.Sprintf("%s reaches %s, and does not know the CA of its certificate, which only machines need", i.Who, address))
		}
		return wrong(fmt.Sprintf("%s reaches %s, but not by TLS: %s", i.Who, address, a.Text), "give Ironic's conductors the CA (webserver_verify_ca in their configuration), or publish images by http")
	default:
		return good(fmt.Sprintf("%s did not say whether it reaches %s: %s", i.Who, address, a.Text))
	}
}
