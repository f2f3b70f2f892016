package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/topics"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/controllers/parts"
	"github.com/ironflow/ironflow/controllers/parts/images"
	"github.com/ironflow/ironflow/controllers/selfcheck"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/ironic/configured"
	"github.com/ironflow/ironflow/ironic/urlcheck"
)

const checkLong = `Looks at what Ironflow needs around it, and says what is wrong and what to do: the Kubernetes API with its rights and
definitions, whether baremetal-operator still runs, Ironic, base images, the image of ironic-python-agent, published
addresses, certificates, the data folder and the clock. Nothing is changed. Whether Ironic reaches the published addresses,
it is asked by a node, ironflow_check, that has no machine and is deleted again within seconds (the check "outside").

It takes the flags and environment variables of "ironflow run", or with --controllers those of "ironflow controllers". In
a pod of Ironflow it therefore needs no flags: kubectl -n ironflow-system exec deployment/ironflow -- /ironflow check

Exit codes: 0 all in order; 1 a flag or setting was wrong; 2 warnings; 3 errors, which have to be fixed.`

// checkOptions are what the command can be told besides the settings.
type checkOptions struct {
	output      string
	skip        string
	controllers bool
	timeout     time.Duration
}

// newCheckCommand looks at what is around Ironflow.
func newCheckCommand() *cobra.Command {
	var s v1alpha1.IronflowConfiguration
	var o checkOptions
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check what Ironflow needs (rights, Ironic, images, addresses, ...) and say what is wrong and what to do",
		Long:  checkLong,
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return runCheck(cmd.Context(), &s, o, cmd.OutOrStdout()) },
	}
	addSettings(cmd, &s, topics.All(&s))
	cmd.Flags().StringVarP(&o.output, "output", "o", "text", "text or json")
	cmd.Flags().StringVar(&o.skip, "skip", "", "comma-separated names of checks to leave out, such as reachable")
	cmd.Flags().BoolVar(&o.controllers, "controllers", false, "check what \"ironflow controllers\" needs, which has no hub and no image server")
	cmd.Flags().DurationVar(&o.timeout, "timeout", time.Minute, "time limit of the whole check")
	return cmd
}

// runCheck asks all checks and prints what they found.
func runCheck(ctx context.Context, s *v1alpha1.IronflowConfiguration, o checkOptions, out io.Writer) error {
	if o.output != "text" && o.output != "json" {
		return fmt.Errorf("--output %q is neither text nor json", o.output)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, fmt.Errorf("the check took longer than %s: raise --timeout", o.timeout))
	defer cancel()
	ctrl.SetLogger(logr.Discard())
	checks := allChecks(ctx, s, !o.controllers)
	skipped := settings.Split(o.skip)
	for _, name := range skipped {
		if !slices.ContainsFunc(checks, func(c selfcheck.Check) bool { return c.Name == name }) {
			return fmt.Errorf("--skip: there is no check %q", name)
		}
	}
	checks = slices.DeleteFunc(checks, func(c selfcheck.Check) bool { return slices.Contains(skipped, c.Name) })
	report := selfcheck.Run(ctx, checks)
	write := report.Text
	if o.output == "json" {
		write = report.JSON
	}
	if err := write(out); err != nil {
		return err
	}
	if code := report.ExitCode(); code != selfcheck.ExitOK {
		return verdictError{code}
	}
	return nil
}

// allChecks are all that can be asked from outside of the running program.
func allChecks(ctx context.Context, s *v1alpha1.IronflowConfiguration, hub bool) []selfcheck.Check {
	use := "run"
	if !hub {
		use = "controllers"
	}
	var checks []selfcheck.Check
	if err := processOf(use).Check(s); err != nil {
		checks = append(checks, selfcheck.Say("settings", selfcheck.Error, strings.ReplaceAll(err.Error(), "\n", "; "), "docs/configuration.md"))
	} else {
		checks = append(checks, selfcheck.Say("settings", selfcheck.OK, "no setting contradicts another one", ""))
	}
	checks = append(checks, clusterChecks(s, hub)...)
	gateways, err := gateways(ctx, s)
	switch {
	case err != nil:
		checks = append(checks, selfcheck.Say("ironic", selfcheck.Error, err.Error(), "docs/ironic.md"))
	case len(gateways) > 0:
		checks = append(checks, ironicCheck(gateways))
	}
	checks = append(checks, parts.CertificateCheck(s))
	if !hub {
		return checks
	}
	published := parts.Published(s)
	return append(checks,
		selfcheck.DataFolder(s.Store.DataDir),
		selfcheck.Media(func(ctx context.Context) (selfcheck.BaseImages, error) { return images.LookAtMedia(ctx, s) }),
		selfcheck.AgentImage(images.AgentImages(s), func(ctx context.Context, image string) (bool, error) { return images.Pullable(ctx, s, image) }),
		selfcheck.Loopback(published),
		selfcheck.Answers(published),
		outsideCheck(gateways, published),
	)
}

// clusterChecks ask the API server.
func clusterChecks(s *v1alpha1.IronflowConfiguration, hub bool) []selfcheck.Check {
	config, err := parts.ClusterConfig(s.Kubernetes.Kubeconfig)
	if err != nil {
		return []selfcheck.Check{selfcheck.Say("kubernetes", selfcheck.Error, "no cluster to talk to: "+err.Error(), "set --kubeconfig or KUBECONFIG")}
	}
	config.QPS = -1
	asked, err := parts.AskCluster(s, config, hub)
	if err != nil {
		asked = []selfcheck.Check{selfcheck.Say("definitions", selfcheck.Error, err.Error(), "see the check kubernetes")}
	}
	return append(selfcheck.Kubernetes(config, time.Now), asked...)
}

// gateways are those to each Ironic that is set, for the check alone.
func gateways(ctx context.Context, s *v1alpha1.IronflowConfiguration) (list []*ironic.Gateway, err error) {
	if s.Ironic.Endpoint == "" && s.Ironic.EndpointsFile == "" {
		return nil, nil
	}
	configs, err := configured.All(s.Ironic)
	for _, c := range configs {
		gateway, problem := ironic.New(ctx, c)
		if err = errors.Join(err, problem); problem == nil {
			list = append(list, gateway)
		}
	}
	return list, err
}

// ironicCheck asks each Ironic whether it can be used.
func ironicCheck(gateways []*ironic.Gateway) selfcheck.Check {
	list := make([]selfcheck.Ironic, len(gateways))
	for i, g := range gateways {
		list[i] = g
	}
	return selfcheck.Ironics(list)
}

// outsideCheck asks each Ironic whether it reaches us.
func outsideCheck(gateways []*ironic.Gateway, published []selfcheck.Published) selfcheck.Check {
	list := make([]selfcheck.AskedIronic, len(gateways))
	for i, g := range gateways {
		list[i] = selfcheck.AskedIronic{Who: selfcheck.Who(g), Ask: func(ctx context.Context, urls []string) ([]urlcheck.Answer, error) {
			return urlcheck.Ask(ctx, g, time.Now(), urls)
		}}
	}
	return selfcheck.Outside(list, published)
}
