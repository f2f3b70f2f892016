package main

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/ironflow/ironflow/api/version"
	"github.com/ironflow/ironflow/config"
	"github.com/ironflow/ironflow/controllers/selfcheck"
	"github.com/ironflow/ironflow/imagecustomization/media"
)

// lookAgain is how often the running program looks at its surroundings.
const lookAgain = 5 * time.Minute

// askCluster are the checks of what the API server serves and allows. Definitions are read whole for a comparison,
// which takes memory that a program that runs for long does not need.
func (s *configuration) askCluster(access *rest.Config, hub, compare bool) ([]selfcheck.Check, error) {
	rules, err := config.Rules()
	if err != nil {
		return nil, err
	}
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	reader, err := clientFor(access)
	if err != nil {
		return nil, err
	}
	features := s.features(hub)
	kinds := selfcheck.Kinds(access, nil, selfcheck.Wanted(scheme), features)
	if compare {
		kinds = selfcheck.Kinds(access, reader, selfcheck.Wanted(scheme), features)
	}
	return []selfcheck.Check{
		selfcheck.Rights(access, features.Needed(rules), s.Kubernetes.Namespaces),
		kinds,
		selfcheck.OtherOperator(reader, time.Now),
	}, nil
}

// published are the addresses that machines and BMCs are told.
func (s *configuration) published() []selfcheck.Published {
	return []selfcheck.Published{
		{Flag: "hub-publish-url", Whom: "machines reach the hub", URL: cmp.Or(s.Hub.PublishURL, "https://"+loopback(s.Hub.Address))},
		{Flag: "images-publish-url", Whom: "BMCs reach live images", URL: cmp.Or(s.Images.PublishURL, "http://"+loopback(s.Images.Address))},
	}
}

// certificateCheck reads the certificates that settings name, and our own.
func (s *configuration) certificateCheck() selfcheck.Check {
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

// lookAtMedia opens the base images for a moment, as the image server does.
func (s *configuration) lookAtMedia(ctx context.Context) (selfcheck.BaseImages, error) {
	place := s.mediaPlace()
	if place == "" {
		return selfcheck.BaseImages{}, errors.New("none is set: neither --base-image nor --base-image-list")
	}
	registry, err := media.Open(ctx, place, media.Options{})
	if err != nil {
		return selfcheck.BaseImages{}, err
	}
	return baseImages(registry, place, s.Images.BaseImageList), nil
}

// mediaPlace is the file or folder of base images; empty if none is set.
func (s *configuration) mediaPlace() string {
	if s.Images.BaseImage == "" && s.Images.BaseImageList != "" {
		return filepath.Join(s.Store.DataDir, "base")
	}
	return s.Images.BaseImage
}

// baseImages are those of a registry in the terms of the check.
func baseImages(registry *media.Registry, place, list string) selfcheck.BaseImages {
	b := selfcheck.BaseImages{Place: place, List: list, Broken: registry.Problems()}
	for _, m := range registry.List() {
		b.Usable = append(b.Usable, strings.TrimSpace(m.Arch+" "+m.Version))
	}
	return b
}

// lookAtMedia are the base images as the image server has them.
func (p *program) lookAtMedia(context.Context) (selfcheck.BaseImages, error) {
	return baseImages(p.images.Media, p.settings.mediaPlace(), p.settings.Images.BaseImageList), nil
}

// tellSurroundings has the manager look at what is around the parts that run: all of it at the
// start, and every few minutes what may change without a word. What is found is logged once.
func (p *program) tellSurroundings(parts string, hub bool) error {
	access, err := p.access()
	if err != nil {
		return err
	}
	atStart, err := p.settings.askCluster(access, hub, false)
	if err != nil {
		return err
	}
	atStart = append(selfcheck.Kubernetes(access, time.Now), atStart...)
	return p.manager.Add(everywhere(func(ctx context.Context) error {
		p.log.Info("started", "version", version.Release(), "parts", parts)
		told := p.tell(selfcheck.Run(ctx, append(atStart, p.later(hub)...)), nil)
		ticker := time.NewTicker(lookAgain)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-ticker.C:
				told = p.tell(selfcheck.Run(ctx, p.later(hub)), told)
			}
		}
	}))
}

// later are the checks that are asked again and again.
func (p *program) later(hub bool) []selfcheck.Check {
	checks := []selfcheck.Check{p.settings.certificateCheck()}
	if p.ironics != nil {
		var ironics []selfcheck.Ironic
		for _, e := range p.ironics.All() {
			ironics = append(ironics, e.Gateway)
		}
		checks = append(checks, selfcheck.Ironics(ironics))
	}
	if p.images != nil {
		checks = append(checks, selfcheck.Media(p.lookAtMedia), selfcheck.AgentImage(p.settings.LiveSystem.IronicAgentImage))
	}
	if hub {
		checks = append(checks, selfcheck.DataFolder(p.settings.Store.DataDir), selfcheck.Loopback(p.settings.published()))
	}
	return checks
}

// tell logs the findings that are new, and returns all.
func (p *program) tell(found, before selfcheck.Report) selfcheck.Report {
	for _, f := range found.New(before) {
		log := p.log.WithName("check").WithValues("check", f.Check)
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
