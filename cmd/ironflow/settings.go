package main

import (
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/topics"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/hub/configured"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
)

// configuration is everything that the operator can set.
type configuration struct {
	v1alpha1.IronflowConfiguration

	nodeZero nodeZero
}

// addSettings gives a command settings, and a file with them.
func (s *configuration) addSettings(cmd *cobra.Command, groups []settings.Group) {
	settings.Add(cmd, topics.Schema(&s.IronflowConfiguration), groups)
}

// checkAddresses refuses addresses that cannot work.
func (s *configuration) checkAddresses() error {
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
	if err := configured.Files(s.Files).Check(); err != nil {
		return err
	}
	if err := configured.CheckAuth(s.Hub); err != nil {
		return err
	}
	return configured.Validations(s.HubValidations).Apply(&service.Options{})
}

// work is what the hub installs with.
func (s *configuration) work() configured.Work {
	return configured.Work{HubInstallation: s.HubInstallation, HubLimits: s.HubLimits, Invoker: s.nodeZero.invoker, Certificates: s.nodeZero.authorities}
}
