package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/topics"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/controllers/migrate"
	"github.com/ironflow/ironflow/controllers/parts"
	"github.com/ironflow/ironflow/controllers/parts/hosts"
	"github.com/ironflow/ironflow/imagecustomization/cli"
	"github.com/ironflow/ironflow/imagecustomization/configured"
	ironicconfigured "github.com/ironflow/ironflow/ironic/configured"
)

// forMigrate reports whether the check needs a row of the tables: where the cluster
// is, the Ironic that baremetal-operator uses, and what nodes shall look like.
func forMigrate(row settings.Row) bool {
	return slices.Contains([]string{"namespace", "kubeconfig", "direct-deploy-boot-device", "live-iso-boot-device", "provisioning-network-disabled"}, row.Flag) ||
		strings.HasPrefix(row.Flag, "ironic-") || strings.HasPrefix(row.Flag, "deploy-")
}

// perHost is the flag that says whether there is a live image per host.
const perHost = "build-preprov-image"

// environment is the environment of this process.
func environment() map[string]string {
	set := map[string]string{}
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		set[name] = value
	}
	return set
}

// migrateOptions are what the check can be told besides.
type migrateOptions struct {
	output  string
	images  bool
	base    string
	timeout time.Duration
}

// verdictError is a report that is not "ready", as an error with an exit code.
type verdictError struct{ code int }

// Error implements error. The report has said everything.
func (verdictError) Error() string { return "" }

// ExitCode is what the program ends with.
func (v verdictError) ExitCode() int { return v.code }

// newMigrateCommand looks at a fleet before it is handed over.
func newMigrateCommand() *cobra.Command {
	var p parts.Program
	fleet := &hosts.Part{Program: &p, Alone: true}
	var o migrateOptions
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Check whether the hosts of baremetal-operator can be taken over, and what that would do; changes nothing",
		Long: `Reads the hosts of baremetal-operator (BMO), their Secrets and their nodes in Ironic, and says what
Ironflow would do with them. Nothing is written, neither to Kubernetes nor to Ironic.

Exit codes: 0 ready to be taken over; 1 the check itself failed; 2 warnings; 3 something has to be fixed first.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(fleet.Check(), configured.CheckNmstatectl(p.Settings.LiveSystem.Nmstatectl)); err != nil {
				return err
			}
			p.Settings.DeployImages.BuildPreprovisioningImages = o.images && (cmd.Flags().Changed(perHost) || !fleet.LiveImagesForAll())
			return runMigrate(cmd.Context(), fleet, o, cmd.OutOrStdout())
		},
	}
	live := settings.Only(topics.OfImages(&p.Settings), "live-nmstatectl")
	addSettings(cmd, &p.Settings, append(settings.Where(processOf("controllers").Flags(&p), forMigrate), live...))
	cmd.Flags().StringVarP(&o.output, "output", "o", "text", "text or json")
	cmd.Flags().BoolVar(&o.images, perHost, true, "check as \"ironflow run\" works, with a live image (PreprovisioningImage) per host; false by default when a --deploy-... flag names the live images of all hosts")
	cmd.Flags().StringVar(&o.base, "base", "", "live ISO that live images will be made from, or a folder of them: whether that of a host has nmstatectl decides about networks that Ironflow cannot translate; empty: assume that it has")
	cmd.Flags().DurationVar(&o.timeout, "timeout", 10*time.Minute, "time limit of the whole check")
	return cmd
}

// runMigrate makes the check and prints it.
func runMigrate(ctx context.Context, fleet *hosts.Part, o migrateOptions, out io.Writer) error {
	s := fleet.Settings
	if o.output != "text" && o.output != "json" {
		return fmt.Errorf("--output %q is neither text nor json", o.output)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, fmt.Errorf("the check took longer than %s: raise --timeout", o.timeout))
	defer cancel()
	ctrl.SetLogger(parts.NewLogger("error"))
	reader, err := migrateClient(s)
	if err != nil {
		return err
	}
	options := migrate.Options{Client: reader, Settings: fleet.Decisions(), Environment: environment()}
	if options.Ironic, err = ironicconfigured.Operators(s.Ironic); err != nil {
		return err
	}
	if options.Live, err = cli.LiveSystems(ctx, o.base, s.LiveSystem.Nmstatectl); err != nil {
		return err
	}
	options.Namespaces = s.Kubernetes.Namespaces
	report, err := migrate.Check(ctx, options)
	if err != nil {
		return parts.WithNext(err)
	}
	write := report.Text
	if o.output == "json" {
		write = report.JSON
	}
	if err := write(out); err != nil {
		return err
	}
	if code := report.ExitCode(); code != migrate.ExitReady {
		return verdictError{code}
	}
	return nil
}

// migrateClient reads what the check looks at.
func migrateClient(s v1alpha1.IronflowConfiguration) (client.WithWatch, error) {
	access, err := parts.ClusterConfig(s.Kubernetes.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("no cluster to talk to: %w; set --kubeconfig or KUBECONFIG", err)
	}
	access.QPS = -1
	return parts.ClientFor(access)
}

// newCRDsCommand compares the cluster's definitions with ours, and applies ours where nothing
// is lost by that.
func newCRDsCommand() *cobra.Command {
	var s v1alpha1.IronflowConfiguration
	var apply bool
	cmd := &cobra.Command{
		Use:   "crds",
		Short: "Compare the cluster's CustomResourceDefinitions with Ironflow's, and update them with --apply, unless newer ones are there",
		Long: `Compares the CustomResourceDefinitions of the cluster with those that Ironflow comes with. With --apply, those that are
missing are made, and those that lack something are updated, unless they have something that Ironflow's lacks: objects may use it.
If that is so for one of metal3.io or ironflow.io, nothing is written. One that Hive or assisted-service may have made is left as
it is then, the others are written, and the command fails if that one lacks something.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cluster, err := migrateClient(s)
			if err != nil {
				return err
			}
			list, err := migrate.CompareCRDs(cmd.Context(), cluster)
			if err != nil {
				return parts.WithNext(err)
			}
			for _, d := range list {
				fmt.Fprintln(cmd.OutOrStdout(), d)
			}
			if !apply {
				return nil
			}
			return migrate.ApplyCRDs(cmd.Context(), cluster, list)
		},
	}
	cmd.Flags().StringVar(&s.Kubernetes.Kubeconfig, "kubeconfig", environment()["KUBECONFIG"], "kubeconfig file; empty for the cluster that this runs in")
	cmd.Flags().BoolVar(&apply, "apply", false, "create definitions that are missing, and update those that are older")
	return cmd
}
