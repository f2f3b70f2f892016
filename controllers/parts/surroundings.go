package parts

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/rest"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/api/version"
	"github.com/ironflow/ironflow/config"
	"github.com/ironflow/ironflow/controllers/selfcheck"
)

// lookAgain is how often the running program looks at its surroundings.
const lookAgain = 5 * time.Minute

// AskCluster are the checks of what the API server serves and allows.
func AskCluster(s *v1alpha1.IronflowConfiguration, access *rest.Config, hub bool) ([]selfcheck.Check, error) {
	rules, err := neededRights(s, hub)
	if err != nil {
		return nil, err
	}
	served, err := askWhatIsServed(s, access, hub)
	return append([]selfcheck.Check{selfcheck.Rights(access, rules, s.Kubernetes.Namespaces)}, served...), err
}

// neededRights are those of what runs here.
func neededRights(s *v1alpha1.IronflowConfiguration, hub bool) ([]rbacv1.PolicyRule, error) {
	rules, err := config.Rules()
	return features(s, hub).Needed(rules), err
}

// askWhatIsServed are the checks of kinds, and of who else works on them.
func askWhatIsServed(s *v1alpha1.IronflowConfiguration, access *rest.Config, hub bool) ([]selfcheck.Check, error) {
	scheme, err := NewScheme()
	if err != nil {
		return nil, err
	}
	reader, err := ClientFor(access)
	if err != nil {
		return nil, err
	}
	return []selfcheck.Check{
		selfcheck.Kinds(access, reader, selfcheck.Wanted(scheme), features(s, hub)),
		selfcheck.OtherOperator(reader, time.Now),
	}, nil
}

// Published are the addresses that machines and BMCs are told.
func Published(s *v1alpha1.IronflowConfiguration) []selfcheck.Published {
	return []selfcheck.Published{
		{Flag: "hub-publish-url", Whom: "machines reach the hub", URL: cmp.Or(s.Hub.PublishURL, "https://"+loopback(s.Hub.Address))},
		{Flag: "images-publish-url", Whom: "BMCs reach live images", URL: cmp.Or(s.Images.PublishURL, "http://"+loopback(s.Images.Address)), ByIronic: true},
	}
}

// CertificateCheck reads the certificates that settings name, and our own.
func CertificateCheck(s *v1alpha1.IronflowConfiguration) selfcheck.Check {
	files := []selfcheck.CertificateFile{
		{What: "Ironic's CA (--ironic-ca)", Cert: s.Ironic.CAFile, Optional: true},
		{What: "our certificate at Ironic (--ironic-client-cert)", Cert: s.Ironic.ClientCertFile, Key: s.Ironic.ClientKeyFile, Optional: true},
		{What: "the hub's certificate (--data-dir)", Cert: filepath.Join(s.Store.DataDir, "tls", "tls.crt"), Key: filepath.Join(s.Store.DataDir, "tls", "tls.key"), Optional: true},
		{What: "the CA of BMCs (--bmc-ca)", Cert: s.BMC.CAFile},
		{What: "the CA bundle of live systems (--ca-bundle)", Cert: s.LiveSystem.CABundleFile},
		{What: "the CA of the file store (--files-ca)", Cert: s.Files.CAFile},
	}
	if dir := s.Monitoring.MetricsCertDir; dir != "" {
		files = append(files, selfcheck.CertificateFile{What: "the certificate of metrics (--metrics-cert-dir)", Cert: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key")})
	}
	named := files[:0]
	for _, f := range files {
		if f.Cert != "" {
			named = append(named, f)
		}
	}
	return selfcheck.Certificates(named, time.Now)
}

// tellSurroundings has the manager look at what is around the parts that run: all of it at the
// start, and every few minutes what may change without a word. What is found is logged once.
//
// Rights are for /readyz, too, which is served before caches are there: without the right to list, none ever are.
func (p *Program) tellSurroundings(parts []Part, needs Needs) error {
	hub := needs.Addresses
	var running []string
	for _, part := range parts {
		running = append(running, part.Name())
	}
	access, err := p.access()
	if err != nil {
		return err
	}
	atStart, err := askWhatIsServed(&p.Settings, access, hub)
	if err != nil {
		return err
	}
	allowed, err := p.allowed(access, hub)
	if err != nil {
		return err
	}
	if needs.Handover { // the whole role is for the controllers of hosts; other parts alone need less
		if err := p.Manager.AddReadyzCheck("rights", func(r *http.Request) error { return allowed.Ready(r.Context()) }); err != nil {
			return err
		}
	}
	atStart = append(selfcheck.Kubernetes(access, time.Now), atStart...)
	return p.Manager.Add(Everywhere(func(ctx context.Context) error {
		p.Log.Info("started", "version", version.Release(), "parts", strings.Join(running, ", "))
		allowed.Begin(ctx)
		told := p.tell(selfcheck.Run(ctx, append(atStart, p.later(parts, hub)...)), nil)
		ticker := time.NewTicker(lookAgain)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-ticker.C:
				told = p.tell(selfcheck.Run(ctx, p.later(parts, hub)), told)
			}
		}
	}))
}

// allowed is the readiness check of rights, which logs what is new in its answers.
func (p *Program) allowed(access *rest.Config, hub bool) (*selfcheck.Allowed, error) {
	rules, err := neededRights(&p.Settings, hub)
	var told selfcheck.Report
	return &selfcheck.Allowed{
		Access: access, Rules: rules, Namespaces: p.Settings.Kubernetes.Namespaces, Now: time.Now,
		Tell: func(found selfcheck.Report) { told = p.tell(found, told) }, // it is asked by one at a time
	}, err
}

// later are the checks that are asked again and again.
func (p *Program) later(parts []Part, hub bool) []selfcheck.Check {
	checks := []selfcheck.Check{CertificateCheck(&p.Settings)}
	for _, part := range slices.Backward(parts) {
		if w, is := part.(Watchful); is {
			checks = append(checks, w.Checks()...)
		}
	}
	if hub {
		checks = append(checks, selfcheck.DataFolder(p.Settings.Store.DataDir), selfcheck.Loopback(Published(&p.Settings)))
	}
	return checks
}

// tell logs the findings that are new, and returns all.
func (p *Program) tell(found, before selfcheck.Report) selfcheck.Report {
	for _, f := range found.New(before) {
		log := p.Log.WithName("check").WithValues("check", f.Check)
		switch f.Level {
		case selfcheck.OK:
			log.Info("in order", "found", f.Text)
		case selfcheck.Warning:
			log.Info("warning", "found", f.Text, "next", f.Next)
		default:
			log.Error(errors.New(f.Text), "something has to be fixed", "next", f.Next)
		}
	}
	return found
}

// features are what runs here.
func features(s *v1alpha1.IronflowConfiguration, hub bool) selfcheck.Features {
	return selfcheck.Features{Hub: hub, BMCs: s.BMC.Enabled, Claims: s.Hosts.HostClaims}
}
