package selfcheck

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/ironflow/ironflow/ironic"
)

// Ironic is what is asked of an Ironic.
type Ironic interface {
	Name() string
	URL() string
	Ready(ctx context.Context) error
	APIVersion() string
	// Drivers are those of the last answer to Ready.
	Drivers() []ironic.Driver
}

// deployInterfaces are what Ironflow deploys by, and what does not work without each.
var deployInterfaces = []struct {
	name, without string
	level         Level
}{
	{"custom-agent", "no host is installed by a deploy step, such as those of InfraEnvs and clusters", Error},
	{"direct", "no host gets an image by spec.image", Warning},
	{"ramdisk", "no host gets a live ISO", Warning},
}

// noMachines are hardware types without a BMC, whose interfaces do not matter.
var noMachines = []string{"fake-hardware", "manual-management"}

// Ironics asks each Ironic whether it answers in a version that is known, and whether a
// conductor of it offers a driver with the deploy interfaces that Ironflow uses.
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

// Who is an Ironic by its name and URL.
func Who(i Ironic) string {
	url := cmp.Or(i.URL(), "Ironic")
	if i.Name() == "" {
		return url
	}
	return i.Name() + " (" + url + ")"
}

func askIronic(ctx context.Context, i Ironic) []Finding {
	who := Who(i)
	if err := i.Ready(ctx); err != nil {
		return wrong(fmt.Sprintf("%s: %v", who, err), toReach(err)+"; hosts wait meanwhile")
	}
	drivers := i.Drivers()
	names := make([]string, 0, len(drivers))
	for _, d := range drivers {
		names = append(names, d.Name)
	}
	answers := good(fmt.Sprintf("%s answers, API %s, with %s", who, i.APIVersion(), strings.Join(names, ", ")))
	if lacks := lacking(who, drivers); len(lacks) > 0 {
		return lacks
	}
	return answers
}

// toReach says what to do about an Ironic that does not answer, by the cause.
func toReach(err error) string {
	status := 0
	if e, is := errors.AsType[*ironic.Error](err); is {
		status = e.Status
	}
	_, authority := errors.AsType[x509.UnknownAuthorityError](err)
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	_, name := errors.AsType[*net.DNSError](err)
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return "correct the user and the password: the files below --ironic-auth-root, in the chart the Secret ironic.authSecret"
	case authority:
		return "give the CA of Ironic's certificate: the file --ironic-ca, in the chart the Secret ironic.caSecret"
	case certificate:
		return "call Ironic by a name of its certificate (--ironic-endpoint), or renew that certificate"
	case name:
		return "correct the name in --ironic-endpoint, or the name server"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "correct address and port in --ironic-endpoint, or start Ironic: nobody listens there"
	}
	return "look at the URL, the credentials and the CA (--ironic-endpoint, --ironic-auth-root, --ironic-ca), and at Ironic's own log"
}

// lacking names the deploy interfaces that hardware types lack. One that does not tell its
// interfaces is not blamed.
func lacking(who string, drivers []ironic.Driver) (findings []Finding) {
	for _, wanted := range deployInterfaces {
		var types []string
		for _, d := range drivers {
			if len(d.Deploy) > 0 && !slices.Contains(noMachines, d.Name) && !slices.Contains(d.Deploy, wanted.name) {
				types = append(types, d.Name)
			}
		}
		if len(types) > 0 {
			findings = append(findings, Finding{
				Level: wanted.level,
				Text:  fmt.Sprintf("%s: the deploy interface %s is not enabled for %s: %s", who, wanted.name, strings.Join(types, ", "), wanted.without),
				Next:  "add it to enabled_deploy_interfaces in the configuration of Ironic's conductors, and restart them",
			})
		}
	}
	return findings
}
