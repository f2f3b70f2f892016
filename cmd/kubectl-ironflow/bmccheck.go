package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ironflowv1 "github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/bios"
	"github.com/ironflow/ironflow/bmc/images"
	"github.com/ironflow/ironflow/bmc/preflight"
	"github.com/ironflow/ironflow/bmc/wishes"
)

const checkLong = `Compares what the BareMetalHosts of a file ask for, with their HostFirmwareSettings and HostFirmwareComponents, with what the
BMCs of the same names in the cluster have reported. Says what cannot work on that hardware, and what to write instead.
Changes nothing. With --report, one report of "ironflow bmc probe --output json" is used, and no cluster is needed.

Exit codes: 0 no problem was found; 1 something cannot work or could not be checked; 2 the command line was wrong.`

// newBMCCheck holds wishes against reports before they are applied.
func newBMCCheck(c *connection) *cobra.Command {
	var file, report string
	var askSizes bool
	cmd := &cobra.Command{
		Use: "check -f FILE", Short: "Check whether what the hosts in a file ask for can work on their hardware", Long: checkLong, Args: cobra.NoArgs,
		Example: `  kubectl ironflow bmc check -f hosts.yaml
  ironflow bmc probe --username root 192.0.2.10 --output json >report.json && kubectl ironflow bmc check -f hosts.yaml --report report.json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file == "" {
				return usage("say with --filename which file is to be checked")
			}
			hosts, problems, err := readHostsFile(file, cmd.InOrStdin(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			look, err := c.known(report)
			if err != nil {
				return err
			}
			if askSizes {
				withSizes(cmd.Context(), hosts)
			}
			return printChecks(cmd.OutOrStdout(), checkHosts(cmd.Context(), hosts, look), problems)
		},
	}
	cmd.Flags().StringVarP(&file, "filename", "f", "", "file with BareMetalHosts and the resources that belong to them (required); - is the standard input")
	cmd.Flags().StringVar(&report, "report", "", "file with the output of ironflow bmc probe --output json, which is used instead of the reports in the cluster")
	cmd.Flags().BoolVar(&askSizes, "ask-sizes", false, "ask the web servers of live ISOs and firmware images how large these are, and check that the BMCs accept that size")
	return cmd
}

// withSizes asks for the sizes of the images that hosts name.
func withSizes(ctx context.Context, hosts []wishes.Objects) {
	var addresses []string
	for _, o := range hosts {
		for _, address := range wishes.Images(o) {
			if !slices.Contains(addresses, address) {
				addresses = append(addresses, address)
			}
		}
	}
	sizes := images.Sizes(ctx, &http.Client{}, addresses)
	for i := range hosts {
		hosts[i].Sizes = sizes
	}
}

// knowledge is what is known of a host's hardware; nil parts are not known.
type knowledge struct {
	report   *ironflowv1.BMCReport
	registry *bios.Registry
	settings *bios.Settings
}

// knowing finds what is known of a host, which may name its namespace.
type knowing func(ctx context.Context, host types.NamespacedName) (knowledge, error)

// known reads from a file, or else from the cluster.
func (c *connection) known(file string) (knowing, error) {
	if file != "" {
		report, err := readReport(file)
		return func(context.Context, types.NamespacedName) (knowledge, error) { return knowledge{report: report}, nil }, err
	}
	cl, namespace, err := c.open()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, host types.NamespacedName) (knowledge, error) {
		host.Namespace = cmp.Or(host.Namespace, namespace)
		return fromCluster(ctx, cl, host)
	}, nil
}

// checked is the verdict on a host.
type checked struct {
	host       string
	mismatches []ironflowv1.Mismatch
	// reported says that there was a report to hold the wishes against.
	reported bool
	// problem is why the wishes could not be checked.
	problem error
}

// checkHosts checks all hosts, whatever is wrong with one of them.
func checkHosts(ctx context.Context, hosts []wishes.Objects, look knowing) []checked {
	var results []checked
	for _, o := range hosts {
		results = append(results, checkHost(ctx, o, look))
	}
	return results
}

func checkHost(ctx context.Context, o wishes.Objects, look knowing) checked {
	w, err := wishes.Of(o)
	if err != nil {
		return checked{host: o.Host.Name, problem: err}
	}
	k, err := look(ctx, client.ObjectKeyFromObject(o.Host))
	if err != nil {
		return checked{host: o.Host.Name, problem: err}
	}
	return checked{host: o.Host.Name, mismatches: preflight.Check(w, k.report, k.registry, k.settings), reported: k.report != nil}
}

// printChecks shows the verdicts. An error says that there are mismatches, or problems with
// objects of the file, which are none of a host that was checked.
func printChecks(out io.Writer, results []checked, problems []error) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	mismatches, bad := 0, 0
	for _, r := range results {
		for i, m := range r.mismatches {
			if mismatches == 0 && i == 0 {
				fmt.Fprintln(t, "HOST\tKIND\tFIELD\tREASON\tMESSAGE")
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", r.host, m.Kind, m.Field, m.Reason, m.Message)
			mismatches++
		}
		if len(r.mismatches) > 0 {
			bad++
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, r := range results {
		if err := r.printRest(out); err != nil {
			return err
		}
		if r.problem != nil {
			problems = append(problems, r.problem)
		}
	}
	var found []error
	switch mismatches {
	case 0:
	case 1:
		found = append(found, fmt.Errorf("1 mismatch, on 1 of %d hosts", len(results)))
	default:
		found = append(found, fmt.Errorf("%d mismatches, on %d of %d hosts", mismatches, bad, len(results)))
	}
	for _, problem := range problems {
		found = append(found, fmt.Errorf("not checked: %w", problem))
	}
	return errors.Join(found...)
}

// printRest says what the table does not: that all is well, and how much that is worth.
func (r checked) printRest(out io.Writer) error {
	var err error
	switch {
	case r.problem != nil: // which is told at the end
	case !r.reported:
		_, err = fmt.Fprintf(out, "%s: there is no report of its BMC, so only what needs none was checked\n", r.host)
	case len(r.mismatches) == 0:
		_, err = fmt.Fprintf(out, "%s: nothing that is known speaks against its wishes\n", r.host)
	}
	return err
}

var errNoHost = errors.New("there is no BareMetalHost in it")
