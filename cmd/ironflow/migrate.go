package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/host"
	"github.com/ironflow/ironflow/controllers/migrate"
)

// forMigrate reports whether the check needs a row of the common table: where the
// cluster is, and the one Ironic that the existing operator uses.
func forMigrate(row setting) bool {
	return row.flag == "namespace" || row.flag == "kubeconfig" || strings.HasPrefix(row.flag, "ironic-") && row.flag != "ironic-endpoints"
}

// migrateOptions are what the check can be told besides.
type migrateOptions struct {
	output  string
	images  bool
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
	var s settings
	var o migrateOptions
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Look at a fleet of the existing operator and tell what taking it over would do; writes nothing",
		Long: `Looks at the hosts of the existing BareMetalHost operator, their Secrets and their nodes in Ironic, and tells what
Ironflow would do with them. Nothing is written, neither to Kubernetes nor to Ironic.

Exit codes: 0 ready; 1 the question could not be answered; 2 warnings; 3 something has to be mended first.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.completeIronic(); err != nil {
				return err
			}
			return runMigrate(cmd.Context(), s, o, cmd.OutOrStdout())
		},
	}
	bind(cmd.Flags(), slices.DeleteFunc(s.common(), func(row setting) bool { return !forMigrate(row) }))
	cmd.Flags().StringVarP(&o.output, "output", "o", "text", "text or json")
	cmd.Flags().BoolVar(&o.images, "build-preprov-image", true, "rehearse with a PreprovisioningImage per host, as `ironflow run` works")
	cmd.Flags().DurationVar(&o.timeout, "timeout", 10*time.Minute, "limit of the whole check")
	return cmd
}

// runMigrate makes the check and prints it.
func runMigrate(ctx context.Context, s settings, o migrateOptions, out io.Writer) error {
	if o.output != "text" && o.output != "json" {
		return fmt.Errorf("--output %q is neither text nor json", o.output)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, fmt.Errorf("the check took longer than %s: raise --timeout", o.timeout))
	defer cancel()
	ctrl.SetLogger(newLogger("error"))
	reader, err := migrateClient(s)
	if err != nil {
		return err
	}
	options := migrate.Options{
		Client: reader, Ironic: ironicConfig(s.ironic), Settings: host.Settings{BuildImages: o.images},
	}
	for namespace := range strings.SplitSeq(s.namespace, ",") {
		if namespace = strings.TrimSpace(namespace); namespace != "" {
			options.Namespaces = append(options.Namespaces, namespace)
		}
	}
	report, err := migrate.Check(ctx, options)
	if err != nil {
		return err
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
func migrateClient(s settings) (client.WithWatch, error) {
	access, err := clusterConfig(s.kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("no cluster to talk to: %w; set --kubeconfig or KUBECONFIG", err)
	}
	access.QPS = -1
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	c, err := client.NewWithWatch(access, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster: %w", err)
	}
	return c, nil
}
