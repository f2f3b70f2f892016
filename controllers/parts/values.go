package parts

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"slices"

	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/topics"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/hub/configured"
	"github.com/ironflow/ironflow/hub/releases/lookup"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
)

// checkValues refuses values that nothing can work with, all of them at once. It is asked before anything is
// connected to, so that a typing error is told at once, and by `ironflow check` too.
func checkValues(s *v1alpha1.IronflowConfiguration) error {
	problems := []error{settings.CheckSigns(topics.All(s))}
	if level := s.Monitoring.LogLevel; level != "" && new(slog.Level).UnmarshalText([]byte(level)) != nil {
		problems = append(problems, fmt.Errorf("--log-level %q is none of debug, info, warn and error", level))
	}
	if _, err := configured.TLS(s.TLS); err != nil {
		problems = append(problems, err)
	}
	if _, _, _, err := electionSettings(s.LeaderElection).times(); err != nil {
		problems = append(problems, err)
	}
	for _, l := range []struct{ flag, address string }{
		{"metrics-addr", s.Monitoring.MetricsAddress},
		{"health-addr", s.Monitoring.HealthAddress},
		{"pprof-addr", s.Monitoring.ProfilerAddress},
		{"hub-addr", s.Hub.Address},
		{"hub-plain-addr", s.Hub.PlainAddress},
		{"images-addr", s.Images.Address},
		{"images-tls-addr", s.Images.TLSAddress},
		{"bmc-events-addr", s.BMCEvents.Address},
	} {
		if _, _, err := net.SplitHostPort(l.address); err != nil && l.address != "" && l.address != "0" {
			problems = append(problems, fmt.Errorf("--%s %q is no address to listen on: write HOST:PORT, or :PORT for all addresses of this machine", l.flag, l.address))
		}
	}
	if mode := s.HubReleases.Lookup; mode != "" && !slices.Contains(lookup.Modes, lookup.Mode(mode)) {
		problems = append(problems, fmt.Errorf("--hub-release-lookup %q is none of %q", mode, lookup.Modes))
	}
	problems = append(problems, configured.CheckSource(s.HubInstallation))
	return errors.Join(problems...)
}

// CheckAddresses refuses addresses that cannot work.
func CheckAddresses(s *v1alpha1.IronflowConfiguration) error {
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
	if err := CheckPublished(s); err != nil {
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
