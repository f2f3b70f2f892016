package main

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/topics"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
)

// configuration is everything that the operator can set.
type configuration struct {
	v1alpha1.IronflowConfiguration

	nodeZero nodeZero
	// byArch are the live images of single architectures, which completeLiveImages reads.
	byArch map[string]nodespec.LiveImageURLs
	// oneOfMany is for tests that start the program several times in one process.
	oneOfMany bool
}

// table lists every setting of `ironflow run`.
func (s *configuration) table() []settings.Group {
	return settings.Where(topics.All(&s.IronflowConfiguration), func(r settings.Row) bool {
		return len(settings.Only([]settings.Group{topics.DeployImages(&s.DeployImages)}, r.Flag)) == 0
	})
}

// controllersTable lists the settings of `ironflow controllers`.
func (s *configuration) controllersTable() []settings.Group {
	return append(topics.Process(&s.IronflowConfiguration), topics.Hosts(&s.Hosts), topics.Ironic(&s.Ironic),
		topics.BMC(&s.BMC), topics.BMCEvents(&s.BMCEvents), topics.BMCCredentials(&s.BMCCredentials), topics.DeployImages(&s.DeployImages))
}

// addSettings gives a command settings, and a file with them.
func (s *configuration) addSettings(cmd *cobra.Command, groups []settings.Group) {
	settings.Add(cmd, topics.Schema(&s.IronflowConfiguration), groups)
}

// complete fills in what follows from other settings, and refuses what cannot work.
func (s *configuration) complete() error {
	if err := errors.Join(s.completeIronic(), s.completeHosts(), checkEvents(s.BMC, s.BMCEvents, true), s.work().check()); err != nil {
		return err
	}
	if len(s.LiveSystem.IronicBaseURLs) == 0 {
		s.LiveSystem.IronicBaseURLs = settings.Split(s.Ironic.Endpoint)
	}
	if s.LiveSystem.IronicCAFile == "" {
		s.LiveSystem.IronicCAFile = s.Ironic.CAFile
	}
	return s.completeImages()
}

// completeAddresses refuses addresses that cannot work.
func (s *configuration) completeAddresses() error {
	for _, u := range []struct{ flag, value string }{
		{"ironic-endpoint", s.Ironic.Endpoint}, {"hub-publish-url", s.Hub.PublishURL}, {"images-publish-url", s.Images.PublishURL},
	} {
		if u.value == "" {
			continue
		}
		if parsed, err := url.Parse(u.value); err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
			return fmt.Errorf("--%s %q is not a URL such as https://host:port", u.flag, u.value)
		}
	}
	if err := s.checkPublished(); err != nil {
		return err
	}
	if s.Store.Database != "" {
		if err := store.CheckPostgresURL(s.Store.Database); err != nil {
			return fmt.Errorf("--database: %w", err)
		}
	}
	if err := fileSettings(s.Files).check(); err != nil {
		return err
	}
	if s.Hub.Auth != "token" && s.Hub.Auth != "none" {
		return fmt.Errorf("--hub-auth %q is neither token nor none", s.Hub.Auth)
	}
	return hubChecks(s.HubValidations).apply(&service.Options{})
}

// completeIronic checks what every command needs.
func (s *configuration) completeIronic() error {
	if s.Ironic.Endpoint == "" && s.Ironic.EndpointsFile == "" {
		return fmt.Errorf("no Ironic: set --ironic-endpoint or IRONIC_ENDPOINT to its URL, such as https://ironic.example:6385")
	}
	return nil
}

// completeControllers refuses what cannot work without an image server.
func (s *configuration) completeControllers() error {
	return errors.Join(s.completeLiveImages(), s.completeHosts(), checkEvents(s.BMC, s.BMCEvents, false), s.completeIronic(), s.checkPublished())
}
