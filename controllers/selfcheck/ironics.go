package selfcheck

import (
	"cmp"
	"context"
	"fmt"
	"sync"
)

// Ironic is what is asked of an Ironic.
type Ironic interface {
	Name() string
	URL() string
	Ready(ctx context.Context) error
	APIVersion() string
}

// Ironics asks each Ironic whether it answers in a version that is known, and whether a
// conductor of it offers a driver.
func Ironics(list []Ironic) Check {
	return Check{"ironic", func(ctx context.Context) []Finding {
		answers := make([][]Finding, len(list))
		var all sync.WaitGroup
		for i, one := range list {
			all.Go(func() { answers[i] = askIronic(ctx, one) })
		}
		all.Wait()
		var findings []Finding
		for _, a := range answers {
			findings = append(findings, a...)
		}
		return findings
	}}
}

func askIronic(ctx context.Context, i Ironic) []Finding {
	who := cmp.Or(i.URL(), "Ironic")
	if i.Name() != "" {
		who = i.Name() + " (" + who + ")"
	}
	if err := i.Ready(ctx); err != nil {
		return wrong(fmt.Sprintf("%s: %v", who, err), "look at the URL, the credentials and the CA (--ironic-endpoint, --ironic-auth-root, --ironic-ca), and at Ironic's own log; hosts wait meanwhile")
	}
	return good(fmt.Sprintf("%s answers, API %s, with a driver", who, i.APIVersion()))
}
