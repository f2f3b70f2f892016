package migrate

import (
	"context"
	"fmt"
	"net/http"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/imagecustomization/network"
	"github.com/ironflow/ironflow/ironic"
)

// Options tell what to look at. Client and Ironic are required.
type Options struct {
	// Client reads the fleet. Its scheme must know metal3.io/v1alpha1, apps/v1,
	// coordination.k8s.io/v1, apiextensions.k8s.io/v1 and agent-install.openshift.io/v1beta1.
	Client client.WithWatch
	// Ironic is how to reach the Ironic that baremetal-operator uses.
	Ironic ironic.Config
	// Namespaces limits the look at hosts; empty for all.
	Namespaces []string
	// Settings are those that Ironflow will run with.
	Settings policy.Settings
	// Live returns what is known of the live system that hosts of an architecture and version
	// of the base image ("" for the newest) will boot; nil for nothing.
	Live func(ctx context.Context, arch, version string) network.Live
	// Environment are the variables that Ironflow would run with, as far as they are known.
	Environment map[string]string
}

// checkOfSettings is the name of the check of the settings.
const checkOfSettings = "settings"

// checks are made in this order. Each is a row in docs/migrate.md.
var checks = []struct {
	name string
	run  func(context.Context, *state) error
}{
	{"operator", checkOperator},
	{checkOfSettings, checkSettings},
	{"crds", checkCRDs},
	{"ironic", checkIronic},
	{"hosts", checkHosts},
	{"duplicates", checkDuplicates},
	{"secrets", checkSecrets},
	{"networks", checkNetworks},
	{"kernel arguments", checkArguments},
	{"fields", checkFields},
	{"features", checkFeatures},
	{"rehearsal", checkRehearsal},
}

// state is what the checks share.
type state struct {
	options Options
	held    *heldBack // what the connection to Ironic did not let through
	gateway *ironic.Gateway
	report  *Report
	hosts   []metal3.BareMetalHost
	// operators are the Deployments of baremetal-operator, running or not.
	operators []appsv1.Deployment
	nodes     map[string]*ironic.Node // by host key
	down      bool                    // Ironic does not answer
	check     string                  // that runs
	// envs are the InfraEnvs, once envsRead says so.
	envs     []agentv1.InfraEnv
	envsRead bool
}

// Check looks at the fleet and writes nothing. An error means that the question
// could not be answered; what was found wrong is in the report.
func Check(ctx context.Context, o Options) (*Report, error) {
	s := &state{options: o, report: &Report{At: time.Now().UTC(), States: map[string]int{}, Hosts: []Host{}, Findings: []Finding{}}, nodes: map[string]*ironic.Node{}}
	s.held = &heldBack{writes: map[string][]string{}}
	config := o.Ironic
	config.Wrap = func(next http.RoundTripper) http.RoundTripper {
		if o.Ironic.Wrap != nil {
			next = o.Ironic.Wrap(next)
		}
		return s.held.readOnly(next)
	}
	var err error
	if s.gateway, err = ironic.New(ctx, config); err != nil {
		return nil, err
	}
	for _, c := range checks {
		s.check = c.name
		if err := c.run(ctx, s); err != nil {
			return nil, fmt.Errorf("check %q: %w", c.name, err)
		}
	}
	s.report.complete()
	return s.report, nil
}

// found notes a finding of the check that runs.
func (s *state) found(severity Severity, object, format string, args ...any) {
	s.report.add(s.check, severity, object, fmt.Sprintf(format, args...))
}

// list reads the hosts. Where the kind is not there, there are none.
func (s *state) list(ctx context.Context) error {
	namespaces := s.options.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{""}
	}
	for _, namespace := range namespaces {
		var hosts metal3.BareMetalHostList
		err := s.options.Client.List(ctx, &hosts, client.InNamespace(namespace))
		if apimeta.IsNoMatchError(err) {
			return nil // said by the check of the schemas
		}
		if err != nil {
			return fmt.Errorf("list BareMetalHosts: %w", err)
		}
		s.hosts = append(s.hosts, hosts.Items...)
	}
	return nil
}

// checkIronic asks Ironic for its version.
func checkIronic(ctx context.Context, s *state) error {
	if err := s.gateway.Ready(ctx); err != nil {
		s.down = true
		s.found(Blocker, s.gateway.URL(), "Ironic does not answer: %v; nodes were not looked at", err)
		return nil
	}
	s.report.IronicVersion = s.gateway.APIVersion()
	return nil
}
